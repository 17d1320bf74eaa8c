"""Incremental writing of result files: each line is on disk when its conversation ends."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from console.benchmarks.bfcl.files.inference_log import States, conversation_log, input_log, results_of
from console.benchmarks.bfcl.files.layout import MARK, Line, model_folder, read_lines, result_path
from console.benchmarks.bfcl.files.reading import mark_of
from console.benchmarks.bfcl.files.results import result_line, write_results
from console.benchmarks.bfcl.models.decoding import family_of, profile_of
from console.benchmarks.bfcl.models.handlers.completion import recorded_thought
from console.benchmarks.bfcl.models.templates.table import TEMPLATES
from console.benchmarks.bfcl.rules.categories import ALL, category_of, is_prerequisite, is_single_turn
from console.core.case import Key, Setting
from console.core.fault import UsageError, os_errors_as
from console.core.record import AnyRecord, Asked, Finished, Performed, Started
from console.core.tally import without_rerolls
from console.store.journal import JournalReader
from console.store.runs import RunFolder


def no_states(case_id: str, output: Any) -> States:
    """Return no states, to omit them from the log."""
    del case_id, output
    return ()


class ResultSink:
    """Writes the results of one model from the records of a run."""

    def __init__(
        self,
        root: Path,
        model: str,
        *,
        setting: Setting,
        replace: bool,
        include_input_log: bool = False,
        states: Callable[[str, Any], States] = no_states,
    ) -> None:
        """Prepare to write to a result folder.

        Args:
            root: the result folder.
            model: the model's name.
            setting: the setting that decodes its answers.
            replace: replace old answers with new ones.
            include_input_log: include the inputs of model calls.
            states: returns the simulators' states for a case id and output, or nothing to omit them.
        """
        self.written = 0
        self._root, self._model, self._replace = root, model, replace
        self._family, self._inputs, self._states = family_of(setting), include_input_log, states
        self._native = setting.mode == "fc"
        self._mark = mark_of(model, setting)
        profile = profile_of(setting)
        is_local = profile is not None and profile.api == "completions"
        self._template = TEMPLATES.get(profile.template) if profile is not None and is_local else None
        self._calls: dict[Key, list[Asked]] = {}
        self._performed: dict[Key, list[Performed]] = {}
        self._known: dict[Path, set[str]] = {}

    def add(self, record: AnyRecord) -> None:
        """Process one record; a finished conversation becomes a line.

        Raises:
            UsageError: unwritable or invalid result file.
        """
        match record:
            case Started():
                self._calls[record.key], self._performed[record.key] = [], []
            case Asked():
                self._calls.setdefault(record.key, []).append(self._with_thought(record))
            case Performed():
                self._performed.setdefault(record.key, []).append(record)
            case Finished():
                self._finish(record)
            case _:
                pass

    def close(self) -> list[Path]:
        """Sort all written files and return them."""
        for path in self._known:
            category = path.name.removeprefix("BFCL_v4_").removesuffix("_result.json")
            assert path == result_path(self._root, self._model, category)
            write_results(self._root, self._model, read_lines(path), replace=True)
        return list(self._known)

    def _finish(self, record: Finished) -> None:
        calls = self._calls.pop(record.key, [])
        performed = self._performed.pop(record.key, [])
        line = result_line(record, calls, log=self._log(record, calls, performed))
        if line is None or record.key.rollout:
            return
        if self._mark is not None:
            line[MARK] = self._mark
        path = result_path(self._root, self._model, category_of(line["id"]))
        written_ids = self._ids_in(path)
        if line["id"] in written_ids:
            # This run's questions depend on its own prerequisites, so these replace older ones.
            write_results(self._root, self._model, [line], replace=self._replace or is_prerequisite(line["id"]))
        else:
            _append(path, line)
            written_ids.add(line["id"])
        self.written += 1

    def _log(self, record: Finished, calls: list[Asked], performed: list[Performed]) -> list[Any]:
        case, output = record.key.case, record.output
        if is_single_turn(case):
            return input_log(calls, native=self._native) if self._inputs else []
        if not isinstance(output, list):
            return []
        turns = cast("list[Any]", output)
        return conversation_log(
            calls,
            turns,
            results_of(performed),
            self._family,
            native=self._native,
            inputs=self._inputs,
            states=self._states(case, turns),
        )

    def _with_thought(self, call: Asked) -> Asked:
        """Return a call with the reasoning that the official handler of its row would record."""
        if self._template is None or call.role != "model":
            return call
        thought = recorded_thought(self._template, call.reply.content or "")
        return replace(call, reply=replace(call.reply, reasoning=thought))

    def _ids_in(self, path: Path) -> set[str]:
        if path not in self._known:
            self._known[path] = {str(line.get("id")) for line in read_lines(path)} if path.exists() else set()
        return self._known[path]


def export_run(run: RunFolder, root: Path, data: Path | None = None) -> list[Path]:
    """Write a run as result files to `root` and return them; needs no suite.

    Raises:
        UsageError: not a BFCL run, or an unwritable file.
    """
    manifest = run.manifest()
    played = [name for name in run.summary().categories if name]
    if not played or any(name not in ALL and not name.endswith("_prereq") for name in played):
        raise UsageError("has no BFCL conversation", where=run.name, hint="Choose another --format.")
    sink = ResultSink(root, model_folder(root, manifest.model.name), setting=manifest.setting, replace=True)
    for record in without_rerolls(JournalReader(run.journal_path).iter_all()):
        sink.add(record)
    return sink.close()


def _append(path: Path, line: Line) -> None:
    """Append one complete line; a truncated last line was rejected when the file was read."""
    data = (json.dumps(line, default=str) + "\n").encode("ascii")
    with os_errors_as("cannot be written", where=path, hint="Make room."):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            start = file.seek(0, os.SEEK_END)
            if file.write(data) != len(data):
                file.truncate(start)
                raise OSError(28, "No space left on device")
