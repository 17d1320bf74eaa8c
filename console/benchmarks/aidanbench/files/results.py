"""AidanBench runs in the layout of the verifiers tools: `results.jsonl` and `metadata.json`.

    <root>/aidanbench--<model with / as -->/<8 hex digits>/results.jsonl, metadata.json

Each graded loop is a line with the metrics by their names on disk (`reward`, `format_reward_func`, …), the prompt and
the completion. The additional key `aidanbench` contains the data that those tools drop: every answer with
its scores, and why the loop ended. Ungraded loops have no reward; they are listed in the metadata and enter no average.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from console.core.case import Case, Slot
from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.json_text import read_json
from console.core.record import Asked, Finished, Started
from console.core.request import Thread
from console.core.run import Manifest
from console.core.tally import without_rerolls
from console.store.atomic import read_regular, write_atomically
from console.store.journal import JournalReader
from console.store.runs import RunFolder

ENVIRONMENT = "aidanbench"
RESULTS, METADATA = "results.jsonl", "metadata.json"
NAMES = {
    "reward": "reward",
    "aidanbench_score": "aidanbench_score",
    "format_reward": "format_reward_func",
    "avg_coherence": "avg_coherence",
    "avg_embedding_novelty": "avg_embedding_novelty",
    "sum_embedding_novelty": "sum_embedding_novelty",
    "avg_llm_novelty": "avg_llm_novelty",
}
"""Metric names on disk by score name."""

Message = dict[str, Any]
Row = dict[str, Any]


@dataclass(slots=True)
class _PlayedRollout:
    """A journaled attempt."""

    case: Case
    messages: list[Message] = field(default_factory=list[Message])
    """Alternating prompts and replies; single-message loops are shown as a chat too."""
    thread: Thread = field(default_factory=Thread)


def export_run(run: RunFolder, root: Path, data: Path | None = None) -> list[Path]:
    """Write a run in this layout below `root` and return the folder; no suite is needed.

    Raises:
        UsageError: not an AidanBench run, no graded loop, or an unwritable folder.
    """
    manifest = run.manifest()
    finished, played = _read(run)
    cases = list(dict.fromkeys(record.key.case for record in finished))
    graded = [record for record in finished if record.verdict.outcome.is_graded]
    if not any("aidanbench_score" in record.verdict.scores for record in graded):
        raise UsageError("contains no graded AidanBench loop", where=run.name, hint="Choose another format.")
    rows = [_row(record, played[str(record.key)], cases.index(record.key.case)) for record in graded]
    metadata = _metadata(manifest, rows, len(cases)) | {
        "left_out": [_left_out(record) for record in finished if record not in graded]
    }
    folder = root / f"{ENVIRONMENT}--{model_folder(manifest)}" / os.urandom(4).hex()
    with os_errors_as("cannot be written", where=folder):
        folder.mkdir(parents=True)
        lines = (json.dumps(row, allow_nan=False) for row in rows)
        write_atomically(folder / RESULTS, ("\n".join(lines) + "\n").encode())
        write_atomically(folder / METADATA, json.dumps(metadata, indent=1).encode())
    return [folder]


def model_folder(manifest: Manifest) -> str:
    """Return the model's id as a folder name of these tools: `/` becomes `--`; the name cannot leave the folder."""
    name = (manifest.model.model_id or manifest.model.name).replace("/", "--").replace(os.sep, "--")
    return name.replace("\0", "").lstrip(".") or "model"


def _read(run: RunFolder) -> tuple[list[Finished], dict[str, _PlayedRollout]]:
    """Return the outcome of each rollout, and the exchanges of each attempt."""
    played: dict[str, _PlayedRollout] = {}
    reader = JournalReader(run.journal_path)
    latest: dict[Slot, Finished] = {}
    order: dict[str, int] = {}
    for record in without_rerolls(reader.iter_all()):
        if isinstance(record, Finished):
            latest[record.key.slot] = record
        elif isinstance(record, Started):
            order.setdefault(record.key.case, len(order))
            played.setdefault(str(record.key), _PlayedRollout(record.case))
        elif isinstance(record, Asked) and record.role == "model" and str(record.key) in played:
            _follow(played[str(record.key)], record)
    ended = sorted(latest.values(), key=lambda record: (order.get(record.key.case, 0), record.key.rollout))
    return [record for record in ended if str(record.key) in played], played


def _follow(played: _PlayedRollout, call: Asked) -> None:
    messages = played.thread.expand(call).messages
    played.messages += [*messages[-1:], cast(Message, call.reply.message())]


def _row(record: Finished, played: _PlayedRollout, number: int) -> Row:
    scores = record.verdict.scores
    output = cast("list[Any]", record.output) if isinstance(record.output, list) else []
    turns = [cast("dict[str, Any]", turn) for turn in output if isinstance(turn, dict)]
    accepted = [turn for turn in turns if turn.get("accepted")]
    return {
        "id": number,
        "prompt": played.messages[:1],
        "completion": played.messages[1:],
        "task": ENVIRONMENT,
        "info": {"question": played.case.data.get("question", played.case.title)},
        **{name: scores.get(ours, 0.0) for ours, name in NAMES.items()},
        "case": record.key.case,
        "category": played.case.category,
        "rollout": record.key.rollout,
        "aidanbench": {
            "answers": [turn.get("answer") for turn in accepted],
            "coherence_scores": [turn.get("coherence") for turn in accepted],
            "embedding_novelty_scores": [turn.get("novelty") for turn in accepted],
            "llm_novelty_scores": [turn["llm_novelty"] for turn in accepted if turn.get("llm_novelty") is not None],
            "termination_reason": record.verdict.detail.get("official_reason", record.verdict.reason),
            "turns": turns,
        },
    }


def _metadata(manifest: Manifest, rows: Sequence[Row], cases: int) -> dict[str, Any]:
    stamp = time.gmtime(manifest.at)
    averages = {f"avg_{name}": sum(row[name] for row in rows) / len(rows) for name in NAMES.values()}
    return {
        "env": ENVIRONMENT,
        "model": manifest.model.model_id or manifest.model.name,
        "num_examples": cases,
        "rollouts_per_example": manifest.rollouts,
        "sampling_args": dict(manifest.model.params),
        "date": time.strftime("%Y-%m-%d", stamp),
        "time": time.strftime("%H:%M:%S", stamp),
        **averages,
        "eval_console": {
            "run": manifest.id,
            "suite": manifest.suite,
            "options": manifest.setting.options,
            "mode": manifest.setting.mode,
            "dataset": manifest.dataset,
            "roles": {role: model.model_id or model.name for role, model in manifest.roles.items()},
            "simulated": manifest.simulated,
        },
    }


def _left_out(record: Finished) -> dict[str, Any]:
    verdict = record.verdict
    return {
        "case": record.key.case,
        "rollout": record.key.rollout,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
    }


def read_results(path: Path) -> tuple[Mapping[str, Any], list[Row]]:
    """Read the metadata and rows of a results folder.

    Raises:
        UsageError: a file is missing or damaged; names the line.
    """
    folder = results_folder(path)
    file = folder / METADATA
    try:
        metadata = read_json(read_regular(file))
        file = folder / RESULTS
        lines = read_regular(file).decode("utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file), hint=_HINT) from error
    except ValueError as error:
        raise UsageError(f"is damaged: {reason_of(error)}", where=str(file), hint=_HINT) from error
    if not isinstance(metadata, dict):
        raise UsageError("must contain one object", where=str(folder / METADATA))
    rows = [_parse_row(line, f"{folder / RESULTS}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UsageError("contains no results", where=str(folder / RESULTS))
    return cast(Mapping[str, Any], metadata), rows


def is_aidanbench(results: Path) -> bool:
    """Return True if the metadata of a `results.jsonl` names this environment or is damaged."""
    try:
        metadata = read_json(read_regular(results.parent / METADATA))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return not isinstance(metadata, dict) or environment_of(cast(Mapping[str, Any], metadata)) in (ENVIRONMENT, "")


def environment_of(metadata: Mapping[str, Any]) -> str:
    """Return the environment's name without its owner; empty if unknown."""
    return str(metadata.get("env") or metadata.get("env_id") or "").removesuffix(".").rsplit("/", 1)[-1]


def results_folder(path: Path) -> Path:
    """Return the folder that contains the two files: the given one, or its only matching descendant.

    Raises:
        UsageError: several such folders.
    """
    if path.name == RESULTS or (path / RESULTS).is_file():
        return path.parent if path.name == RESULTS else path
    below = sorted(results_file.parent for results_file in path.rglob(RESULTS))
    if len(below) > 1:
        raise UsageError(
            f"contains {len(below)} results", where=str(path), hint=f"Name one of them, such as {below[-1]}."
        )
    return below[0] if below else path


_HINT = f"Name a folder that contains {RESULTS} and {METADATA}."


def _parse_row(line: str, where: str) -> Row:
    try:
        row = read_json(line)
    except ValueError as error:
        raise UsageError(f"is not JSON: {reason_of(error)}", where=where) from error
    if not isinstance(row, dict):
        raise UsageError("must be an object", where=where)
    checked_row = cast(Row, row)
    reward = checked_row.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not abs(reward) <= sys.float_info.max:
        raise UsageError("`reward` must be a finite number", where=where)
    return checked_row
