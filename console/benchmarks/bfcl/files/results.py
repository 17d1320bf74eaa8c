"""Reading and writing of official result files.

Answers are written as recorded. A broken conversation is written in the official format (`Error during inference: …`)
for the official command; unlike there, the next `generate` retries it.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from console.benchmarks.bfcl.files.layout import Line, read_lines, result_path, write_lines
from console.benchmarks.bfcl.rules.categories import category_of, is_single_turn, sort_key
from console.benchmarks.bfcl.rules.inference_error import INFERENCE_ERROR, is_unanswered
from console.core.outcome import Outcome
from console.core.record import Asked, Finished


def is_error(line: Line) -> bool:
    """Return whether a result line is a failed inference instead of an answer."""
    return is_unanswered(line.get("result"))


def result_line(finished: Finished, calls: Iterable[Asked], *, log: list[Any] | None = None) -> Line | None:
    """Return the result line of a conversation, or None if it was not run.

    Args:
        finished: record of its end.
        calls: its model calls in order.
        log: its `inference_log`, if any.
    """
    case = finished.key.case
    verdict = finished.verdict
    if verdict.outcome is Outcome.NOT_RUN:
        return None
    line: Line = {"id": case}
    if verdict.outcome is Outcome.BROKEN and finished.output is None:
        line["result"] = f"{INFERENCE_ERROR} {verdict.messages[0] if verdict.messages else verdict.reason}"
        line["traceback"] = f"{verdict.reason}: a machinery fault, not an answer"
        return line
    model_calls = [call for call in calls if call.role == "model"]
    if any(call.reply.simulated for call in model_calls):
        line["simulated"] = True
    line["result"] = finished.output
    logged: Line = {"inference_log": log} if log else {}
    return line | (_single_facts(model_calls, logged) if is_single_turn(case) else _facts_by_turn(model_calls, logged))


def _single_facts(model_calls: list[Asked], logged: Line) -> Line:
    line: Line = {
        **logged,
        "input_token_count": sum(call.reply.usage.input for call in model_calls if call.reply.usage),
        "output_token_count": sum(call.reply.usage.output for call in model_calls if call.reply.usage),
        "latency": sum(call.reply.latency_s for call in model_calls),
    }
    reasoning = "\n".join(call.reply.reasoning for call in model_calls if call.reply.reasoning)
    return line | ({"reasoning_content": reasoning} if reasoning else {})


def _facts_by_turn(model_calls: list[Asked], logged: Line) -> Line:
    turns: dict[int, list[Asked]] = defaultdict(list)
    for call in model_calls:
        turns[call.turn].append(call)
    listed = [turns[turn] for turn in range(max(turns, default=-1) + 1)]
    line: Line = {
        "input_token_count": [[call.reply.usage.input if call.reply.usage else 0 for call in turn] for turn in listed],
        "output_token_count": [
            [call.reply.usage.output if call.reply.usage else 0 for call in turn] for turn in listed
        ],
        "latency": [[call.reply.latency_s for call in turn] for turn in listed],
        **logged,
    }
    if any(call.reply.reasoning for call in model_calls):
        line["reasoning_content"] = [[call.reply.reasoning for call in turn] for turn in listed]
    return line


def write_results(root: Path, model: str, lines: Iterable[Line], *, replace: bool) -> list[Path]:
    """Merge lines into a model's result files, sorted in the official order, and return the files.

    Args:
        root: the result folder.
        model: the model's name.
        lines: result lines of any categories.
        replace: replace lines with the same id; a failed inference is always replaced.

    Raises:
        UsageError: invalid or unwritable file.
    """
    by_category: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_category[category_of(line["id"])].append(line)
    paths: list[Path] = []
    for category, new_lines in by_category.items():
        path = result_path(root, model, category)
        merged = {str(line.get("id")): line for line in (read_lines(path) if path.exists() else [])}
        for line in new_lines:
            earlier = merged.get(line["id"])
            if earlier is None or replace or is_error(earlier):
                merged[line["id"]] = line
        write_lines(path, sorted(merged.values(), key=lambda line: sort_key(str(line["id"]))), ascii_only=True)
        paths.append(path)
    return paths


def answered_ids(root: Path, model: str, categories: Iterable[str]) -> set[str]:
    """Return the ids with an answer in a model's result files, without failed inferences.

    Raises:
        UsageError: invalid file.
    """
    ids: set[str] = set()
    for category in categories:
        path = result_path(root, model, category)
        if path.exists():
            ids.update(str(line["id"]) for line in read_lines(path) if "id" in line and not is_error(line))
    return ids
