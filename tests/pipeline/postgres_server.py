"""A real PostgreSQL for tests: started in a folder of its own, on a free port."""

import os
import pwd
import shutil
import socket
import subprocess
from glob import glob
from pathlib import Path

PLACES = (*sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True), None)


def find_program(name: str) -> str | None:
    """A program of PostgreSQL's server; Debian keeps them off the PATH."""
    return next((found for place in PLACES if (found := shutil.which(name, path=place))), None)


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
        self._run("initdb", "--auth=trust", "--username=pairloom", "--no-sync")

    @property
    def url(self) -> str:
        return f"postgresql://pairloom:secret@127.0.0.1:{self.port}/pairs"

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
