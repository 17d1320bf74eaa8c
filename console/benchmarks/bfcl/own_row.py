"""An entry as a row of a suite of questions in a file: its messages, native tools, and expected calls as checks.

A conversation with simulators becomes scripted turns, with the results that its calls had. Names of functions get
underscores for dots, as providers require.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from console.benchmarks.bfcl.conversation.scripted_answers import call_by_name, expected_calls
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.decode.reply import decode_reply, decode_step, json_safe
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry, entry_of
from console.benchmarks.bfcl.simulators.host import host_of
from console.benchmarks.bfcl.simulators.judging import worker_entry
from console.core.case import Setting
from console.core.fault import Fault, UsageError
from console.suites.call_matching.checker import underscored_name
from console.suites.own_row import OwnRow, RecordedCase, Row, opening, recorded_answer, tool_results

_NO_NAME = "any call passes, which no check can express"


def own_row(recorded: RecordedCase, dataset: Dataset) -> OwnRow:
    """Return an entry as a row.

    Raises:
        UsageError: a row cannot express the entry; says why.
    """
    entry, category = entry_of(recorded.case), recorded.case.category
    if names.is_agentic(category):
        raise UsageError(f"{category} needs the memory or the web of its benchmark, which a row cannot provide")
    if entry.config:
        raise UsageError("it tests how calls are written as text, and a row has native tools")
    if names.language_of(entry.judged_as) != "python":
        raise UsageError(f"its arguments are {names.language_of(entry.judged_as)} source, and those of a row are JSON")
    if names.is_multi_turn(category):
        return OwnRow(_conversation(entry, recorded, dataset))
    row = opening(entry.question[0]) | {"tools": _tools(entry.function)}
    row["simulated"] = {"recorded": [[_single(entry, recorded.output, recorded.setting)]]}
    if names.is_relevance(entry.judged_as):
        checks = [{"not_called": True}] if "irrelevance" in entry.judged_as else []
        return OwnRow(row | {"expect": checks}, "" if checks else _NO_NAME)
    calls = [{underscored_name(name): allowed for name, allowed in call.items()} for call in entry.ground_truth or []]
    return OwnRow(row | {"expect": [{"calls": calls}]})


def _tools(docs: Sequence[Doc]) -> list[Row]:
    return [tool["function"] for tool in native_tools(docs)]


def _single(entry: Entry, output: Any, setting: Setting) -> Row:
    """Return the reply to a single question; a text that contains no call stays text."""
    calls = [call for call in decode_reply(output, entry.judged_as, family_of(setting)).calls if call]
    named = [(underscored_name(name), json_safe(arguments)) for call in calls for name, arguments in call.items()]
    return recorded_answer("" if named else _text(output), named)


def _text(output: Any) -> str:
    return output if isinstance(output, str) else ""


# Conversations -------------------------------------------------------------------------------------------------------


def _conversation(entry: Entry, recorded: RecordedCase, dataset: Dataset) -> Row:
    if entry.missed_function:
        raise UsageError("a function is added in the middle of the conversation, and a row offers all from the start")
    first, *later = entry.question
    if any(len(turn) != 1 or turn[0]["role"] != "user" for turn in later):
        raise UsageError("not every turn begins with a single user message")
    docs, _ = dataset.functions(entry)
    start = opening(first)
    if "messages" in start:
        raise UsageError("it begins with more than one message")
    texts = [start.pop("prompt"), *(str(turn[0].get("content") or "") for turn in later)]
    by_name = {doc["name"]: doc for doc in docs}
    truth = [expected_calls(entry, docs, turn) for turn in range(len(entry.ground_truth or []))]
    steps = _steps(recorded)
    checks = [[{"calls": [{name: _allowed(values)} for name, values in calls]}] if calls else [] for calls in truth]
    turns = [{"user": text, "expect": check} for text, check in zip(texts, checks, strict=False)]
    answers = [[_step(step, calls, by_name) for step, calls in turn] for turn in steps]
    played = [[calls for _, calls in turn if calls] for turn in steps]
    results = tool_results(_results(entry, dataset, played, by_name))
    row = start | {"turns": turns, "tools": _tools(docs), "tool_results": results}
    return row | {"simulated": {"recorded": answers}}


def _allowed(arguments: Row) -> Row:
    """Return arguments in the format of a check: one allowed value for each."""
    return {name: [value] for name, value in arguments.items()}


def _steps(recorded: RecordedCase) -> list[list[tuple[Any, list[str]]]]:
    """Return the output of each step with its call strings, by turn."""
    family = family_of(recorded.setting)
    turns = cast(list[Any], recorded.output) if isinstance(recorded.output, list) else []
    return [
        [(step, decode_step(step, family).executable) for step in cast(list[Any], turn)]
        for turn in turns
        if isinstance(turn, list)
    ]


def _step(output: Any, calls: Sequence[str], docs: dict[str, Doc]) -> Row:
    read = [_read(text, docs) for text in calls]
    readable_calls = [call for call in read if call is not None]
    return recorded_answer(_text(output) if len(readable_calls) < len(read) or not read else "", readable_calls)


def _read(text: str, docs: dict[str, Doc]) -> tuple[str, Row] | None:
    try:
        return call_by_name(text, docs)
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        return None


def _results(
    entry: Entry, dataset: Dataset, played: list[list[list[str]]], docs: dict[str, Doc]
) -> Iterator[tuple[str, Any, str]]:
    """Yield the name, arguments and result of each expected call and of each call by the model."""
    truth = [list(turn) for turn in cast(list[list[str]], entry.ground_truth or [])]
    own = [[call for step in turn for call in step] for turn in played]
    items = [
        {"entry": worker_entry(entry), "turns": [[calls] if calls else [] for calls in turns], "truth": turns}
        for turns in (truth, own)
    ]
    try:
        findings = host_of(dataset).call("checks", {"items": items, "recorded": False, "whole": True})
    except Fault as fault:
        raise UsageError(f"the results of its tools cannot be found: {fault.message}") from None
    for turns, finding in zip((truth, own), findings, strict=True):
        for calls, results in zip(turns, finding["turns"], strict=False):
            for text, result in zip(calls, results["truth"], strict=False):
                if (call := _read(text, docs)) is not None:
                    yield *call, result
