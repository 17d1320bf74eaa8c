"""Writes runs of cave-bench in the layout of its result files: one JSON object, scenarios with conversations and turns.

The peer's fields keep their meaning; what it lacks (mode, model, true missing calls, broken conversations) goes under
our own key in each scenario. Values that JSON cannot represent are written as `{"$repr": …}`. Each rollout has a file,
written atomically.
"""

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

from console.benchmarks.cavebench.options import read_options
from console.benchmarks.cavebench.rules.json_values import for_peer
from console.benchmarks.cavebench.rules.score import Totals
from console.benchmarks.cavebench.rules.verdict import JudgedTurn, judge_turns
from console.core.case import Case, Slot
from console.core.fault import UsageError, os_errors_as
from console.core.outcome import Outcome
from console.core.record import Finished, Started
from console.core.run import Manifest
from console.core.tally import without_rerolls
from console.store.atomic import write_atomically
from console.store.file_names import distinct_name
from console.store.journal import JournalReader
from console.store.runs import RunFolder

FORMAT = "cavebench"
OURS = "eval_console"
"""Key for facts that the peer's layout lacks."""
_NO_METRICS = ("missing_calls", "wrong_argument_types", "wrong_argument_values", "missing_arguments", "steps",
               "missing_variable_reads", "missing_variable_writes", "prompt_tokens", "completion_tokens",
               "total_tokens")  # fmt: skip


def export_run(run: RunFolder, root: Path, data: Path | None = None) -> list[Path]:
    """Write a run below `root` and return the files, one per rollout; no suite is needed.

    Raises:
        UsageError: no finished conversation of cave-bench, or an unwritable file.
    """
    manifest = run.manifest()
    cases, finished = _read(run)
    if not any("conversation" in case.data for case in cases.values()) or not finished:
        raise UsageError("contains no finished conversation of cave-bench", where=str(run.path))
    files: list[Path] = []
    for rollout in sorted({record.key.rollout for record in finished}):
        part = [record for record in finished if record.key.rollout == rollout]
        path = root / distinct_name(_file_name(manifest, rollout), root, ".json")
        with os_errors_as("cannot be written", where=path):
            root.mkdir(parents=True, exist_ok=True)
            text = json.dumps(results_of(cases, part, manifest), indent=2, ensure_ascii=False)
            write_atomically(path, text.encode("utf-8", "replace"))
        files.append(path)
    return files


def results_of(cases: dict[str, Case], finished: list[Finished], manifest: Manifest) -> dict[str, Any]:
    """Return the result object of one rollout."""
    scenarios: dict[str, list[Finished]] = defaultdict(list)
    for record in finished:
        scenarios[str(cases[record.key.case].data["scenario"])].append(record)
    return {name: _scenario(name, cases, records, manifest) for name, records in scenarios.items()}


def _scenario(name: str, cases: dict[str, Case], records: list[Finished], manifest: Manifest) -> dict[str, Any]:
    rule = read_options(manifest.setting).type_rule
    totals = Totals()
    conversations: list[dict[str, Any]] = []
    graded = [record for record in records if record.verdict.outcome.is_graded]
    for record in graded:
        case = cases[record.key.case]
        turns = judge_turns(case, record.output, rule)
        written = [_turn(case, number, turn) for number, turn in enumerate(turns)]
        for turn, row in zip(turns, written, strict=True):
            missing = turn.score.missing_required if turn.score else 0
            totals.add_turn(turn.success, row["metrics"], len(row["expected_calls"]), len(row["actual_calls"]), missing)
        conversations.append({"id": case.data["conversation"].get("id", ""), "turns": written})
    return {
        "scenario": name,
        "conversations": conversations,
        "metrics": totals.metrics(),
        OURS: {
            "mode": read_options(manifest.setting).mode,
            "model": manifest.model.model_id or manifest.model.name,
            "simulated": manifest.simulated,
            "run": manifest.id,
            "missing_calls": totals.missing_required,
            "left_out": [_left_out(record) for record in records if record not in graded],
        },
    }


def _turn(case: Case, number: int, turn: JudgedTurn) -> dict[str, Any]:
    turn_data = cast("dict[str, Any]", case.data["conversation"]["turns"][number])
    score = turn.score
    return {
        "query": turn.query or turn_data.get("query", ""),
        "reference_response": turn_data.get("reference_response", ""),
        "actual_response": turn.response,
        "expected_calls": [call.as_json() for call in turn.expectation.calls],
        "actual_calls": [
            {"function": call.function, "arguments": for_peer(call.arguments), "call_id": call.call_id}
            for call in turn.record.calls
        ],
        "validation_errors": list(turn.errors),
        "metrics": score.metrics if score else dict.fromkeys(_NO_METRICS, 0),
        "success": turn.success,
        "validator_result": score.validator_result if score else False,
        "code_snippets": list(turn.record.snippets),
        "expected_variable_reads": list(turn.expectation.reads),
        "expected_variable_writes": list(turn.expectation.writes),
        "actual_variable_reads": list(score.access.reads) if score else [],
        "actual_variable_writes": list(score.access.writes) if score else [],
    }


def _left_out(record: Finished) -> dict[str, Any]:
    return {
        "case": record.key.case,
        "outcome": record.verdict.outcome.value,
        "reason": record.verdict.reason,
        "messages": list(record.verdict.messages),
    }


def _read(run: RunFolder) -> tuple[dict[str, Case], list[Finished]]:
    """Return the cases by id and the outcome of each rollout, in order of first appearance."""
    cases: dict[str, Case] = {}
    reader = JournalReader(run.journal_path)
    latest: dict[Slot, Finished] = {}
    for record in without_rerolls(reader.iter_all()):
        if isinstance(record, Finished):
            latest[record.key.slot] = record
        elif isinstance(record, Started):
            cases.setdefault(record.case.id, record.case)
    order = {name: number for number, name in enumerate(cases)}
    ended = [record for record in latest.values() if record.verdict.outcome is not Outcome.NOT_RUN]
    ended = [record for record in ended if record.key.case in cases]
    return cases, sorted(ended, key=lambda record: (order[record.key.case], record.key.rollout))


def _file_name(manifest: Manifest, rollout: int) -> str:
    model = (manifest.model.model_id or manifest.model.name).replace("/", "--").replace("\\", "--").lstrip(".")
    stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime(manifest.at))
    suffix = f"_r{rollout + 1}" if rollout else ""
    safe = "".join(character if character.isprintable() and character != "\0" else "_" for character in model)
    return f"{safe or 'model'}_{read_options(manifest.setting).mode}_{stamp}{suffix}"
