"""Comparison of a multi-turn conversation for review: calls and results by turn, and differences in state. Pure.

The grader compares states and results, not calls. Different calls are shown, but only the decisive difference is
marked: an attribute of a class, a missing result, or a turn without calls.
"""

import ast
import re
from collections.abc import Sequence
from typing import Any, cast

from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.judging import decoded_turn
from console.benchmarks.bfcl.simulators.turn_check import EMPTY_TURN, RESPONSE, STATE
from console.core.case import Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.suites.call_matching.source_text import literal

_HINTS = {
    "multi_turn:force_terminated": "ending every turn with a reply without a call",
    EMPTY_TURN: "making the expected calls in this turn, even if they were made before",
    STATE: "leaving the simulators in the expected state after this turn",
    RESPONSE: "getting the expected results in this turn or an earlier one",
}
_ATTRIBUTE = re.compile(r"\w+\.\w+")
_RESULT = 300
"""Maximum number of characters in a result shown with a call."""
Results = Sequence[Sequence[str]]


def compare_conversation(entry: Entry, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
    """Compare the turns with ground truth."""
    truth = cast(list[list[str]], entry.ground_truth or [])
    finding = verdict.detail
    turns = cast(list[Any], output) if isinstance(output, list) else []
    played = cast(list[dict[str, Any]], finding.get("turns", []))
    last = finding.get("turn")
    pairs: list[Pair] = []
    for number, expected in enumerate(truth):
        actual = [call for step in _steps(turns, number, family_of(setting)) for call in step]
        results: dict[str, Any] = played[number] if number < len(played) else {"model": [], "truth": []}
        if number == last:
            pairs += _decisive_pairs(finding, number)
        pairs += _turn_pairs(expected, actual, results, number)
    reason = verdict.reason or ""
    if verdict.outcome is Outcome.PASSED:
        words = "all turns end in the expected state with the expected results"
        return Comparison(words, tuple(pairs), turns=(Mark.SAME,) * len(truth))
    sentence = verdict.messages[0] if verdict.messages else reason
    raw = "" if isinstance(output, list) else literal(output)
    return Comparison(sentence, tuple(pairs), reason, _HINTS.get(reason, ""), raw, turns=_marks(len(truth), last))


def _marks(turns: int, last: Any) -> tuple[Mark, ...]:
    """Return the mark of each turn; the grader stops at the first failed one."""
    if not isinstance(last, int):
        return ()
    return tuple(Mark.SAME if n < last else Mark.DIFFERS if n == last else Mark.OMITTED for n in range(turns))


def _steps(turns: Sequence[Any], number: int, family: str) -> list[list[str]]:
    try:
        return decoded_turn(turns[number], family) if number < len(turns) else []
    except TypeError:
        return []


def _turn_pairs(expected: Sequence[str], actual: Sequence[str], results: dict[str, Any], turn: int) -> list[Pair]:
    """Pair equal calls first, then calls of the same function, in order; others stay unpaired."""
    got = [result for step in cast(Results, results["model"]) for result in step]
    expected_results = cast(Sequence[str], results["truth"])
    partner = _partners([_read(text) for text in expected], [_read(text) for text in actual])
    pairs = [
        _pair(text, None if at is None else actual[at], turn, _at(got, at), _at(expected_results, number))
        for number, (text, at) in enumerate(zip(expected, partner, strict=True))
    ]
    extra = [at for at in range(len(actual)) if at not in partner]
    note = "nothing is judged in this turn" if not expected else ""
    return pairs + [
        Pair(Mark.EXTRA, "", actual[at], note="; ".join(filter(None, (note, _cut(_at(got, at))))), turn=turn)
        for at in extra
    ]


def _partners(
    expected: Sequence[tuple[str, dict[str, str]]], actual: Sequence[tuple[str, dict[str, str]]]
) -> list[int | None]:
    out: list[int | None] = [None] * len(expected)
    for is_equal in (True, False):
        for number, (name, arguments) in enumerate(expected):
            if out[number] is None:
                free = (at for at in range(len(actual)) if at not in out)
                fits = (at for at in free if actual[at][0] == name and (not is_equal or actual[at][1] == arguments))
                out[number] = next(fits, None)
    return out


def _pair(expected: str, actual: str | None, turn: int, result: str | None, expected_result: str | None) -> Pair:
    name, arguments = _read(expected)
    if actual is None:
        return Pair(
            Mark.MISSING, expected, "", note=f"would give {_cut(expected_result)}" if expected_result else "", turn=turn
        )
    actual_arguments = _read(actual)[1]
    rows = tuple(
        _row(key, arguments.get(key), actual_arguments.get(key))
        for key in dict.fromkeys([*arguments, *actual_arguments])
    )
    same = all(row.mark is Mark.SAME for row in rows)
    note = (
        _cut(result)
        if result == expected_result or expected_result is None
        else f"gave {_cut(result)}; expected {_cut(expected_result)}"
    )
    return Pair(Mark.SAME if same else Mark.DIFFERS, name, name, rows, note, turn)


def _row(name: str, expected: str | None, actual: str | None, *, decisive: bool = False) -> Row:
    if expected is None:
        return Row(Mark.EXTRA, name, (), actual, decisive=decisive)
    if actual is None:
        return Row(Mark.MISSING, name, (expected,), None, decisive=decisive)
    return Row(Mark.SAME if expected == actual else Mark.DIFFERS, name, (expected,), actual, decisive=decisive)


def _decisive_pairs(finding: dict[str, Any], turn: int) -> list[Pair]:
    """Return the decisive differences: attributes or missing results."""
    by_attribute: dict[str, list[Row]] = {}
    for number, difference in enumerate(cast(list[dict[str, Any]], finding.get("differences", []))):
        attribute, rest = _parts(difference["path"])
        row = _row(rest or "value", difference["expected"], difference["actual"], decisive=number == 0)
        by_attribute.setdefault(attribute, []).append(row)
    pairs = [
        Pair(Mark.DIFFERS, name, name, tuple(rows), "" if number else "state after the turn", turn, "state")
        for number, (name, rows) in enumerate(by_attribute.items())
    ]
    missing = cast(list[str], finding.get("missing", []))
    rows = tuple(Row(Mark.MISSING, "result", (text,), None, decisive=n == 0) for n, text in enumerate(missing))
    return [*pairs, Pair(Mark.MISSING, "results of the turn", "", rows, turn=turn, kind="result")] if rows else pairs


def _parts(path: str) -> tuple[str, str]:
    """Split a path into class and attribute (`TravelAPI.credit_card_list`) and the rest (`1.balance`)."""
    match = _ATTRIBUTE.match(path)
    return (match[0], path[match.end() :].removeprefix(".")) if match else (path, "")


def _read(text: str) -> tuple[str, dict[str, str]]:
    """Parse a call string to its name and argument sources; positional arguments are numbered."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text, {}
    if not isinstance(node, ast.Call):
        return text, {}
    arguments = {str(number): ast.unparse(part) for number, part in enumerate(node.args, 1)}
    return ast.unparse(node.func), arguments | {str(part.arg): ast.unparse(part.value) for part in node.keywords}


def _at(results: Sequence[str], index: int | None) -> str | None:
    return results[index] if index is not None and index < len(results) else None


def _cut(text: str | None) -> str:
    if text is None:
        return ""
    return text if len(text) <= _RESULT else f"{text[:_RESULT]}…"
