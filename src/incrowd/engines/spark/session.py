"""A Spark session for the command line; Python programs and notebooks bring their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from incrowd.common.extras import require_extra
from incrowd.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTALL_SPARK = "Hint: pip install 'incrowd[spark]'."
_INSTALL_CONNECT = "Hint: pip install 'pyspark[connect]'."
_INSTALL_JAVA = (
    "Hint: install Java 17 or 21, on Debian and Ubuntu with `apt-get install openjdk-17-jre-headless`, "
    "or set JAVA_HOME to where it is."
)


def start(master: str | None = None, options: Mapping[str, str] | None = None) -> SparkSession:
    """Return the session that is there, or a new one; `master` is `local[2]`, `spark://host:7077`, `yarn`, ….

    Without a master, the one that `spark-submit` names is taken, or all cores of this machine. `sc://host:15002` is a
    server of Spark Connect: its settings are its own, and no Java is needed here.
    """
    if master is not None and master.startswith("sc://"):
        return _connect(master)
    require_spark()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("incrowd")
    if master is not None:
        builder = builder.master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        # Else Spark notes for each column which line of Python made it, for messages that are not passed on anyway.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        **(options or {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        raise SourceError(f"Spark does not start: {error}") from None
    except Exception as error:  # what the JVM says comes in a type of Py4J's
        if type(error).__module__.startswith("py4j"):
            said = str(getattr(error, "java_exception", None) or error).strip().splitlines()
            raise SourceError(f"Spark does not start on {master or 'its default master'}: {said[0]}.") from None
        raise
    return session


@contextmanager
def setting(session: SparkSession, name: str, value: str) -> Iterator[None]:
    """Let a session have a setting inside of this."""
    before = str(session.conf.get(name))
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, before)


def _connect(address: str) -> SparkSession:
    """Return a session of a server of Spark Connect."""
    _require_pyspark()
    from pyspark.errors import PySparkException, PySparkImportError
    from pyspark.sql import SparkSession

    from incrowd.engines.spark.counting import arrow_only

    try:
        import_module("grpc")  # PySpark asks for it only where no session of another kind is there
        with arrow_only():
            session: SparkSession = SparkSession.builder.remote(address).getOrCreate()
            session.range(1).count()  # the server is asked when there is work for it, and not before
    except (PySparkImportError, ImportError):
        raise SourceError(f"{address} is Spark Connect, and packages are missing.  {_INSTALL_CONNECT}") from None
    except PySparkException as error:
        name = error.getCondition() or type(error).__name__
        raise SourceError(f"{address} does not answer as a server of Spark Connect ({name}).") from None
    return session


def _require_pyspark() -> None:
    require_extra("spark", "sessions and frames of Spark")
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise SourceError(f"PySpark {pyspark.__version__} is too old: 4 is needed.  {_INSTALL_SPARK}")


def require_spark() -> None:
    """Say what to install where PySpark or Java is missing, before either is needed."""
    _require_pyspark()
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and shutil.which("java", path=f"{home}/bin")):
        raise SourceError(f"Spark needs Java, and there is none here.  {_INSTALL_JAVA}")
