"""A real Airflow with a home of its own: its commands, its scheduler, and its tasks' logs."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

LONGEST = 3600
# Each look is a process of some seconds, on the machine that the tasks run on.
BETWEEN_LOOKS = 15


class AirflowHome:
    """An Airflow, 2 or 3, that knows the DAGs of one folder.

    Args:
        environment: The virtual environment that it is installed in.
        home: Its files; made.
        dags: The folder of DAG files.
        variables: Environment variables that it and its tasks get.
    """

    def __init__(self, environment: Path, home: Path, dags: Path, variables: Mapping[str, str]):
        self.bin = environment / "bin"
        self.home = home
        home.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.environment = {
            **os.environ,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "2",
            "AIRFLOW__SCHEDULER__DAG_DIR_LIST_INTERVAL": "5",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            "AIRFLOW__SCHEDULER__MIN_FILE_PROCESS_INTERVAL": "20",
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "20",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__WORKERS": "1",
            # Five seconds are too few for the first answer on a busy machine, and fail the task.
            "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://localhost:{self.port}/execution/",
            **variables,
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.run("db", "migrate")
        self.version = self.run("version").split()[-1]
        self.major = int(self.version.split(".")[0])

    def run(self, *arguments: str) -> str:
        """Runs an `airflow` command to its end, and gives what it printed."""
        return self._ended(str(self.bin / "airflow"), *arguments)

    def python(self, code: str, *arguments: str) -> str:
        """Runs code in Airflow's Python, and gives what it printed."""
        return self._ended(str(self.bin / "python"), "-c", code, *arguments)

    def _ended(self, *command: str) -> str:
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=LONGEST)
        except BaseException:
            # With the processes that it runs tasks in.
            os.killpg(process.pid, signal.SIGTERM)
            raise
        assert process.returncode == 0, f"{command}: {out[-3000:]}{err[-3000:]}"
        return out

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
            # A task that finds no API server fails.
            services = ["api-server", "dag-processor", "scheduler"]
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
                if name == "api-server":
                    self._wait_for_port()
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

    def _wait_for_port(self) -> None:
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 5),
            ):
                return
            time.sleep(1)
        raise AssertionError(f"no API server on port {self.port}: see {self.home}")

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
            time.sleep(BETWEEN_LOOKS)
        raise AssertionError(f"{dag} after {LONGEST} s: {self.runs(dag)}")

    def logs(self, dag: str, run: str, task: str) -> list[str]:
        """What each try of a task wrote, the first one first."""
        folder = self.home / "logs" / f"dag_id={dag}" / f"run_id={run}" / f"task_id={task}"
        files = sorted(folder.glob("attempt=*.log"), key=lambda file: int(file.stem.split("=")[1]))
        return [file.read_text("utf-8") for file in files]
