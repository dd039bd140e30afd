"""Real Airflows, 2.10 and the newest 3, each on a PostgreSQL, with the DAGs of three recipes."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "pipeline"))
import pairs
import postgres_server
from airflow_home import AirflowHome

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", params=["airflow2", "airflow3"])
def airflow(request, tmp_path_factory):
    """An Airflow; its `folder` holds recipes, DAGs and runs.

    `make test-airflow` installs them, and then none may be missing; else its tests are skipped.
    Airflow 2 runs no tasks side by side on SQLite, and 3 finds it locked on a busy machine. The
    metadata of the pipelines lie in PostgreSQL with Airflow 2, in SQLite with 3.
    """
    environment = ROOT / f".venv-{request.param}"
    if not (environment / "bin" / "airflow").exists():
        pytest.skip(f"{environment.name} is not there: make test-airflow")
    folder = tmp_path_factory.mktemp(request.param)
    if postgres_server.find_program("initdb") is None:
        pytest.skip("there is no PostgreSQL here: Debian's package is postgresql")
    with postgres_server.started() as server:
        variables = {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": server.url_of("postgres")}
        if request.param == "airflow2":
            variables["PAIRLOOM_METADATA"] = server.url
        pairs.compile_dags(folder, variables)
        made = AirflowHome(environment, folder / "home", folder / "dags", variables)
        made.folder, made.variables = folder, variables
        for pool in ("pairs", "training"):
            made.run("pools", "set", pool, "2", "of a recipe")
        # Airflow 3 lists what its processor has read, and here none is at work yet.
        made.run("dags", "reserialize")
        yield made


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """The demo's recipe on a slice, run as `pairloom run` does; what became of it."""
    folder = tmp_path_factory.mktemp("local")
    log = folder / "log"
    with open(log, "w") as out:
        command = [pairs.PAIRLOOM, "run", "cmudict", *pairs.SLICED]
        code = subprocess.run(command, cwd=folder, stdout=out, stderr=out).returncode
    assert code == 0, log.read_text()[-3000:]
    [run] = pairs.told_runs(folder, "cmudict", {})
    return run
