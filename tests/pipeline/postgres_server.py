"""A real PostgreSQL for tests: started in a folder of its own, on a free port."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from glob import glob
from pathlib import Path

PASSWORD = "secret"
PLACES = (*sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True), None)


def find_program(name: str) -> str | None:
    """A program of PostgreSQL's server; Debian keeps them off the PATH."""
    return next((found for place in PLACES if (found := shutil.which(name, path=place))), None)


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user may go through: every pytest that begins closes its own.

    It is short, for a socket's path has a hundred letters at most.
    """
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        yield Path(name)


@contextlib.contextmanager
def started() -> "Iterator[PostgresServer]":
    """A server for a while."""
    with open_folder() as folder:
        server = PostgresServer(folder / "server")
        server.start()
        try:
            yield server
        finally:
            server.stop()


def first_settings(folder: Path) -> tuple[str, ...]:
    """What `initdb` is told: one user, whose password is asked for as a server's image does.

    Args:
        folder: The password's file is made in there.
    """
    password = folder / "password"
    password.write_text(PASSWORD)
    password.chmod(0o644)
    asked = ("--auth=scram-sha-256", f"--pwfile={password}")
    return (*asked, "--username=pairloom", "--no-sync")


class PostgresServer:
    """Starts, stops and starts again, with the same data.

    Args:
        folder: Made for it; PostgreSQL refuses to be root, and then gets a user of its own.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        folder.mkdir(parents=True)
        if self.user:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", *first_settings(folder))

    @property
    def url(self) -> str:
        return self.url_of("pairs")

    def url_of(self, database: str) -> str:
        """Of one by name; `postgres` is there from the start."""
        return f"postgresql://pairloom:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [find_program(program), "-D", str(self.folder / "data"), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            user=self.user.pw_uid if self.user else None,
            group=self.user.pw_gid if self.user else None,
        )
