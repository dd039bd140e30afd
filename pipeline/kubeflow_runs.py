"""A compiled pipeline on a Kubeflow: uploaded once, run now or by its schedule, and waited for."""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import kfp
import kfp_server_api
import urllib3

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe.schema import Schedule

__all__ = ["Kubeflow"]

_ENDED = ("SUCCEEDED", "FAILED", "SKIPPED", "CANCELED")
_PATIENCE = 600.0
"""Seconds that Kubeflow, or the way to it, may be away for while a run is waited for."""
_FAULTS = (kfp_server_api.ApiException, urllib3.exceptions.HTTPError, OSError)


class Kubeflow:
    """Kubeflow Pipelines' API server.

    Args:
        host: Its address, `http://host:port`; empty is what Kubeflow's client finds by itself.
        namespace: That of the user.
        experiment: What runs are listed under.
        service_account: Whose name the containers run in; empty is Kubeflow's own.

    Raises:
        UserError: nothing answers there.
    """

    def __init__(
        self, host: str, namespace: str, experiment: str, service_account: str = ""
    ) -> None:
        # What cannot be reached is told once, not at each of its attempts.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        self._service_account = service_account or None
        self._address = host or "where Kubeflow's client looks for it"
        self._client = self._ask(lambda: kfp.Client(host=host or None, namespace=namespace))
        found = self._ask(lambda: self._client.create_experiment(experiment, namespace=namespace))
        self._experiment = found.experiment_id

    def upload(self, file: Path, name: str) -> tuple[str, str]:
        """Uploads a pipeline unless Kubeflow has it, and gives its id and that of its version."""
        version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        pipeline = self._ask(lambda: self._client.get_pipeline_id(name))
        if pipeline is None:
            uploaded = self._ask(lambda: self._client.upload_pipeline(str(file), name))
            pipeline = uploaded.pipeline_id
        for had in self._pages(self._client.list_pipeline_versions, "pipeline_versions", pipeline):
            if had.display_name == version:
                return pipeline, had.pipeline_version_id
        added = self._ask(
            lambda: self._client.upload_pipeline_version(str(file), version, pipeline_id=pipeline)
        )
        return pipeline, added.pipeline_version_id

    def run(self, uploaded: tuple[str, str], name: str, date: str) -> str:
        """Starts a run, and gives its id."""
        pipeline, version = uploaded
        started = self._ask(
            lambda: self._client.run_pipeline(
                self._experiment,
                name,
                params={"date": date},
                pipeline_id=pipeline,
                version_id=version,
                service_account=self._service_account,
            )
        )
        return str(started.run_id)

    def schedule(self, uploaded: tuple[str, str], name: str, schedule: Schedule) -> str:
        """Runs a pipeline by its schedule from now on, in place of an earlier one of that name."""
        pipeline, version = uploaded
        earlier = [
            each.recurring_run_id
            for each in self._pages(self._client.list_recurring_runs, "recurring_runs")
            if each.display_name == name and each.experiment_id == self._experiment
        ]
        made = self._ask(
            lambda: self._client.create_recurring_run(
                self._experiment,
                name,
                cron_expression=f"0 {schedule.cron}",  # its first field are the seconds
                start_time=f"{schedule.start}T00:00:00Z" if schedule.start else None,
                max_concurrency=schedule.runs_at_once,
                no_catchup=not schedule.catch_up,
                params={"date": ""},
                pipeline_id=pipeline,
                version_id=version,
                service_account=self._service_account,
            )
        )
        for each in earlier:
            self._ask(partial(self._client.delete_recurring_run, each))
        return str(made.recurring_run_id)

    def wait(
        self,
        run: str,
        nodes: Sequence[str],
        tell: Callable[[str, str], None],
        note: Callable[[str], None],
        seconds: float = 5,
        patience: float = _PATIENCE,
    ) -> str:
        """Waits for a run's end, which does not depend on whether Kubeflow answers meanwhile.

        Args:
            run: Its id.
            nodes: Those of the pipeline.
            tell: Called with each node that has ended, and how.
            note: Called with a sentence, once each time that Kubeflow stops answering.
            seconds: Between two questions.
            patience: Seconds that it may not answer for.

        Returns:
            How the run ended: SUCCEEDED, FAILED, SKIPPED or CANCELED.

        Raises:
            UserError: it stayed away, or refuses to tell.
        """
        names = {node.lower(): node for node in nodes}  # Kubeflow has no capitals
        while True:
            found = self._patiently(partial(self._client.get_run, run), note, seconds, patience)
            for task in (found.run_details and found.run_details.task_details) or []:
                if task.state in _ENDED and task.display_name in names:
                    tell(names.pop(task.display_name), task.state)
            if found.state in _ENDED:
                return str(found.state)
            time.sleep(seconds)

    def _patiently(
        self,
        question: Callable[[], Any],
        note: Callable[[str], None],
        seconds: float,
        patience: float,
    ) -> Any:
        until, away = time.monotonic() + patience, False
        while True:
            try:
                return question()
            except _FAULTS as error:
                if not _passes(error):
                    raise self._told(error) from None
                if time.monotonic() >= until:
                    raise UserError(
                        f"{str(self._told(error)).rstrip('.')}. So it has been for "
                        f"{patience / 60:g} minutes; the run may go on there."
                    ) from None
                if not away:
                    note(
                        f"Kubeflow at {self._address} does not answer ({_cause(error)}). The run "
                        f"may go on; asking for {patience / 60:g} minutes."
                    )
            away = True
            time.sleep(seconds)

    def _pages(self, listing: Callable[..., Any], what: str, *arguments: str) -> list[Any]:
        """Everything that a listing gives page by page."""
        found: list[Any] = []
        token = ""
        while True:
            page = self._ask(partial(listing, *arguments, page_token=token))
            found.extend(getattr(page, what) or [])
            token = page.next_page_token
            if not token:
                return found

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What Kubeflow answers, or in one sentence why it does not."""
        try:
            return question()
        except _FAULTS as error:
            raise self._told(error) from None

    def _told(self, error: Exception) -> UserError:
        if isinstance(error, kfp_server_api.ApiException):
            return UserError(f"Kubeflow at {self._address} refused it: {_message(error)}")
        return UserError(
            f"Expected Kubeflow Pipelines at {self._address}. Received: {_cause(error)}. "
            "`--host` names its address."
        )


def _passes(error: Exception) -> bool:
    """Whether the same question may be answered later; what it cannot be for is a status of 4xx."""
    status = error.status if isinstance(error, kfp_server_api.ApiException) else None
    return not status or status >= 500 or status in (408, 429)


def _message(error: kfp_server_api.ApiException) -> str:
    """The part of Kubeflow's answer that is for people."""
    try:
        told = json.loads(error.body)
        return str(told.get("message") or told["error"])
    except (TypeError, ValueError, KeyError, AttributeError):
        return f"{error.status} {error.reason} {error.body or ''}".strip()


def _cause(error: Exception) -> str:
    """What went wrong at last, without the attempts around it."""
    if isinstance(error, kfp_server_api.ApiException):
        return f"{error.status} {error.reason}"
    reason = getattr(error, "reason", None)
    return str(reason if reason is not None else error).rpartition(": ")[2]
