"""A real MariaDB or MySQL 8 for tests: started in a folder of its own, on a free port."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

SETTLE = """
CREATE DATABASE IF NOT EXISTS pairs;
CREATE USER IF NOT EXISTS pairloom@'%' IDENTIFIED {how} 'secret';
GRANT ALL ON pairs.* TO pairloom@'%';
"""
LONGEST = 600


def find_program(name: str) -> str | None:
    """A program of the server's; Debian keeps it off some users' PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin")


def is_mysql() -> bool:
    """Whether MySQL itself is here; Debian calls MariaDB by the same name."""
    program = find_program("mysqld")
    if program is None:
        return False
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return "Ver 8" in told and "MariaDB" not in told


class MariaDbServer:
    """Starts, stops and starts again, with the same data.

    Args:
        folder: Made for it.
    """

    needed = ("mariadbd", "mariadb-install-db", "my_print_defaults")
    # With the database "test" comes a nameless user of this machine, who would go before ours.
    install = (
        "mariadb-install-db",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
    )
    server: tuple[str, ...] = ("mariadbd",)
    identified = "BY"

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (folder / "settle.sql").write_text(SETTLE.format(how=self.identified))
        # As root it would otherwise look for a user of its own.
        self._user = ["--user=root"] if os.getuid() == 0 else []
        self._run(*self.install)

    @property
    def url(self) -> str:
        return f"mysql://pairloom:secret@127.0.0.1:{self.port}/pairs"

    def start(self) -> None:
        command = [
            *self._command(*self.server),
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.folder / 'socket'}",
            f"--init-file={self.folder / 'settle.sql'}",
        ]
        with open(self.folder / "log", "a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + LONGEST
        while not self._answers():
            log = (self.folder / "log").read_text()
            assert self._process.poll() is None and time.monotonic() < until, log
            time.sleep(0.2)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        """Whether it greets a caller, which it does once the file of SETTLE was read."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as caller:
                return bool(caller.recv(1))
        except OSError:
            return False

    def _command(self, program: str, *arguments: str) -> list[str]:
        data = f"--datadir={self.folder / 'data'}"
        return [str(find_program(program)), "--no-defaults", *self._user, data, *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        command = self._command(program, *arguments)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class MySqlServer(MariaDbServer):
    """MySQL 8, whose user has the older of its passwords: ML Metadata knows no other."""

    install = ("mysqld", "--initialize-insecure")
    server = ("mysqld", "--mysqlx=OFF", "--secure-file-priv=")
    identified = "WITH mysql_native_password BY"
