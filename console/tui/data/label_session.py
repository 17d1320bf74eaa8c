"""`LabelSession`: labels the failures of a run by a model, in a separate process, with progress.

The process is `eval-console explain`, which outlives the terminal, so every app that opens the run sees its progress.
Its result is in its log, the labels in the run's notes.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any, cast

import msgspec

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.ready_type import ready_type
from console.store.atomic import open_regular
from console.store.lock import RunLock, RunLocked, is_held, read_holder
from console.store.notes import LABEL, UNREADABLE, Note, Notes, retract_labels
from console.store.runs import RunFolder

_FORECAST_S = 120.0
"""Timeout of a forecast, which may read thousands of conversations."""


class LabelForecast(msgspec.Struct, frozen=True):
    """Forecast of the requests and cost of labeling."""

    model: str
    simulated: bool
    calls: int
    """Number of failures to label."""
    labelled_before: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """Expected cost in USD; None if the price is unknown."""


class LabelProgress(msgspec.Struct, frozen=True):
    """Progress of labeling."""

    done: int
    """Failures processed since the labeling was started."""
    planned: int
    """Number of failures to label; 0 if unknown."""
    is_running: bool
    cost_usd: float | None = 0.0
    """Cost of the calls; None if unknown."""


class LabelResult(msgspec.Struct, frozen=True):
    """Result of labeling."""

    labelled: int = 0
    without_label: list[str] = []
    model: str = ""
    simulated: bool = False
    cost_usd: float | None = None
    stopped: str = ""
    """Reason for ending early; empty if it did not. Untrusted text."""
    message: str = ""
    """Reason for not starting. Untrusted text."""


class LabelSession:
    """The labeling of one run's failures."""

    def __init__(self, run: RunFolder, paths: WorkspacePaths) -> None:
        self._run = run
        self._paths = paths
        self._notes = Notes(run.path)
        self._process: subprocess.Popen[bytes] | None = None
        self._planned = 0
        self._started_at = 0.0
        self._log_start = 0

    def forecast(self, model: str, terms: str) -> LabelForecast:
        """Return a forecast; slow, so call it in a thread.

        Args:
            model: the labeling model.
            terms: filter that selects the failures.

        Raises:
            UsageError: the forecast failed.
        """
        command = self._command(model, terms, "--dry-run")
        try:
            process = subprocess.run(  # noqa: S603  our own program
                command, capture_output=True, timeout=_FORECAST_S, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"the cost cannot be estimated: {reason_of(error)}", where=self._run.name) from None
        answer = last_object(process.stdout)
        try:
            return msgspec.convert(answer, ready_type(LabelForecast))
        except ValueError:
            why = str(answer.get("message") or "eval-console explain ended without an answer")
            raise UsageError(why, where=str(answer.get("where") or ""), hint=str(answer.get("hint") or "")) from None

    def start(self, forecast: LabelForecast, terms: str, most_usd: float | None) -> None:
        """Start labeling the failures of a forecast, spending at most `most_usd`.

        Raises:
            UsageError: the process cannot be started.
        """
        from console.engine.process import detach

        caps = ["--yes", *(["--max-cost", str(most_usd)] if most_usd is not None else [])]
        self._planned, self._started_at = forecast.calls, time.time()
        try:
            log = self._run.labels_log_path
            self._log_start = log.stat().st_size if log.exists() else 0
            self._process = detach(self._command(forecast.model, terms, *caps), log)
        except OSError as error:
            raise UsageError(f"the model cannot be called: {reason_of(error)}", where=str(self._run.path)) from None

    @property
    def is_running(self) -> bool:
        """True if failures of the run are being labeled, by this or another process."""
        if self._process is not None and self._process.poll() is None:
            return True
        return is_held(self._run.labels_lock_path)

    def look(self) -> LabelProgress:
        """Return the progress; reads the notes, so call it in a thread."""
        is_running = self.is_running  # checked first, so that the last labels are counted
        started_at, planned = self._started_at, self._planned
        holder = read_holder(self._run.labels_lock_path)
        if holder is not None and holder.since >= started_at:  # else our process has not started yet
            started_at, planned = holder.since, holder.planned or planned
        notes = [note for note in self._notes.all() if _is_answer(note) and note.at >= started_at]
        labels = [(note.key.slot, note.label) for note in notes if note.label is not None]
        costs = [label.cost_usd for _, label in labels]
        cost = None if None in costs else sum(cost or 0.0 for cost in costs)
        return LabelProgress(len({(slot, label.prompt) for slot, label in labels}), planned, is_running, cost)

    def result(self) -> LabelResult:
        try:
            with open_regular(self._run.labels_log_path) as log:
                log.seek(self._log_start)
                answer = last_object(log.read())
        except OSError:
            answer = {}
        try:
            return msgspec.convert(answer, ready_type(LabelResult))
        except ValueError:
            return LabelResult()

    def stop(self) -> None:
        """Stop labeling; the labels so far are kept.

        Raises:
            UsageError: the process runs on another host, or cannot be stopped.
        """
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            return
        holder = read_holder(self._run.labels_lock_path) if is_held(self._run.labels_lock_path) else None
        if holder is None:
            return
        if holder.host != socket.gethostname():
            raise UsageError(f"process {holder.pid} on {holder.host} does the labeling; it can only be stopped there")
        with os_errors_as(f"process {holder.pid} cannot be stopped"):
            os.kill(holder.pid, signal.SIGTERM)

    def last_labels(self) -> tuple[str, int]:
        """Return the model whose labels an undo would remove, and their number."""
        labels = [annotation.label for annotation in self._notes.annotations().values() if annotation.label is not None]
        written = [note.label.model for note in self._notes.all() if _is_answer(note) and note.label is not None]
        current = {label.model for label in labels}
        model = next((name for name in reversed(written) if name in current), "")
        return model, sum(label.model == model for label in labels)

    def take_back(self, model: str) -> int:
        """Remove the labels of a model, and return their number.

        Raises:
            UsageError: a labeling is in progress, or the notes cannot be written.
        """
        try:
            with RunLock(self._run.labels_lock_path):
                return retract_labels(self._notes, model)[1]
        except RunLocked:
            raise UsageError("failures are being labeled now", hint="Stop that first.") from None

    def _command(self, model: str, terms: str, *options: str) -> list[str]:
        named = (("--models", self._paths.models), ("--data", self._paths.data))
        places = [f"{option}={path}" for option, path in named if path is not None]
        which = [f"--model={model}", f"--filter={terms}"]
        return [
            sys.executable,
            "-m",
            "console",
            "explain",
            *places,
            *which,
            *options,
            "--json",
            "--",
            str(self._run.path.absolute()),
        ]


def _is_answer(note: Note) -> bool:
    return (note.kind == LABEL and bool(note.value)) or note.kind == UNREADABLE


def last_object(output: bytes) -> dict[str, Any]:
    """Return the last line that is a JSON object; empty if there is none."""
    for line in reversed(output.splitlines()):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            return cast("dict[str, Any]", value)
    return {}
