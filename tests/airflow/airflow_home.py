"""A real Airflow with a home of its own: its commands, and its scheduler."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

LONGEST = 1200


class AirflowHome:
    """An Airflow, 2 or 3, that knows the DAGs of one folder.

    Args:
        environment: The virtual environment that it is installed in.
        home: Its files; made.
        dags: The folder of DAG files.
    """

    def __init__(self, environment: Path, home: Path, dags: Path):
        self.bin = environment / "bin"
        self.home = home
        home.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.environment = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__SCHEDULER__DAG_DIR_LIST_INTERVAL": "5",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "5",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://localhost:{port}/execution/",
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.run("db", "migrate")
        self.major = int(self.run("version").split()[-1].split(".")[0])

    def run(self, *arguments: str) -> str:
        """Runs an `airflow` command to its end, and gives what it printed."""
        done = subprocess.run(
            [str(self.bin / "airflow"), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def listed(self, *arguments: str) -> list[dict]:
        """What a command lists as JSON, which log lines may stand before."""
        out = self.run(*arguments, "-o", "json")
        for found in re.finditer(r"^\[", out, re.MULTILINE):
            with contextlib.suppress(ValueError):
                return json.loads(out[found.start() :])
        assert "No data found" in out, out
        return []

    @contextlib.contextmanager
    def scheduling(self) -> Iterator[None]:
        """The scheduler, and in Airflow 3 what it cannot do without."""
        services = ["scheduler"]
        if self.major >= 3:
            services += ["dag-processor", "api-server"]
        started = []
        try:
            for name in services:
                with open(self.home / f"{name}.log", "w") as log:
                    started.append(
                        subprocess.Popen(
                            [str(self.bin / "airflow"), name],
                            env=self.environment,
                            stdout=log,
                            stderr=log,
                            start_new_session=True,
                        )
                    )
            yield
        finally:
            for process in started:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            for process in started:
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)

    def runs(self, dag: str) -> dict[str, str]:
        """The states of a DAG's runs by their ids."""
        flag = [] if self.major >= 3 else ["-d"]
        return {run["run_id"]: run["state"] for run in self.listed("dags", "list-runs", *flag, dag)}

    def wait_until_all_ended(self, dag: str, count: int) -> dict[str, str]:
        """Waits for so many runs of a DAG to end, and gives their states."""
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            states = self.runs(dag)
            ended = [state for state in states.values() if state in ("success", "failed")]
            if len(ended) >= count and len(ended) == len(states):
                return states
            time.sleep(5)
        raise AssertionError(f"{dag} after {LONGEST} s: {self.runs(dag)}")
