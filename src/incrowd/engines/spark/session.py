"""A Spark session for the command line; Python programs and notebooks bring their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from incrowd.common.extras import require_extra
from incrowd.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INSTALL_SPARK = "Hint: pip install 'incrowd[spark]'."
_INSTALL_JAVA = (
    "Hint: install Java 17 or 21, on Debian and Ubuntu with `apt-get install openjdk-17-jre-headless`, "
    "or set JAVA_HOME to where it is."
)


def start(master: str | None = None, options: Mapping[str, str] | None = None) -> SparkSession:
    """Return the session that is there, or a new one; `master` is `local[2]`, `spark://host:7077`, `yarn`, ….

    Without a master, the one that `spark-submit` names is taken, or all cores of this machine.
    """
    require_spark()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("incrowd")
    if master is not None:
        builder = builder.master(master)
    settings = {"spark.ui.enabled": "false", "spark.log.level": "ERROR", **(options or {})}
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


def require_spark() -> None:
    """Say what to install where PySpark or Java is missing, before either is needed."""
    require_extra("spark", "sessions and frames of Spark")
    import pyspark

    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise SourceError(f"PySpark {pyspark.__version__} is too old: 4 is needed.  {_INSTALL_SPARK}")
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and shutil.which("java", path=f"{home}/bin")):
        raise SourceError(f"Spark needs Java, and there is none here.  {_INSTALL_JAVA}")
