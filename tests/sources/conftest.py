"""Files to open, and a PostgreSQL server of our own to ask."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "pass word/s3cret"
PASSWORD_IN_URL = "pass%20word%2Fs3cret"

COMPONENTS = Path(__file__).resolve().parents[2] / "scripts" / "components"


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    """Write bytes, or text in UTF-8, into a file."""

    def write(content: bytes | str, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Start a private server and give the URL of its database; the user has a password."""
    programs = _programs()
    home = Path(tempfile.mkdtemp(prefix="incrowd-postgresql-"))
    secret = home / "password"
    secret.write_text(PASSWORD)
    as_owner: list[str] = []
    if os.geteuid() == 0:
        import pwd

        # The server refuses to run as root.
        owner = pwd.getpwnam("postgres")
        for path in (home, secret):
            os.chown(path, owner.pw_uid, owner.pw_gid)
        as_owner = ["runuser", "-u", "postgres", "--"]

    def command(program: str, *arguments: str) -> list[str]:
        return [*as_owner, str(programs / program), "-D", str(home / "data"), *arguments]

    def run(program: str, *arguments: str) -> None:
        # Output goes to a file: a server that inherits a pipe would keep it open.
        with (home / "commands.log").open("ab") as log:
            subprocess.run(command(program, *arguments), check=True, cwd=home, stdout=log, stderr=log, timeout=120)

    port = _free_port()
    stop = ("pg_ctl", "-m", "immediate", "stop")
    try:
        run("initdb", "-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -k {home} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-l", str(home / "server.log"), "-o", options, "start")
        try:
            with _watchdog(command(*stop), home):
                yield f"postgresql://tester:{PASSWORD_IN_URL}@127.0.0.1:{port}/postgres"
        finally:
            run(*stop)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _watchdog(stop: list[str], home: Path) -> Iterator[None]:
    """Have the server stopped and its files removed even if the tests are killed and cannot do it themselves."""
    script = 'home=$1; shift; cat; "$@"; rm -rf "$home"'  # the pipe that it reads ends with the tests
    dog = subprocess.Popen(
        ["sh", "-c", script, "watchdog", str(home), *stop],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        dog.kill()
        dog.communicate()


def _programs() -> Path:
    found = _find_programs()
    if found is None and os.environ.get("CI"):
        done = subprocess.run([COMPONENTS, "postgresql"], check=False)
        found = _find_programs()
        if done.returncode != 0 or found is None:
            pytest.fail(f"scripts/components postgresql failed ({done.returncode})")
    if found is None:
        pytest.skip("there is no PostgreSQL server here; scripts/components postgresql installs one")
    return found


def _find_programs() -> Path | None:
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
