"""Comparison of a conversation with what its task expects: calls, world, assertions, words. Pure."""

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, Change, canonical, differing
from console.benchmarks.tau2.rules.evaluate import Evaluation, world_differences
from console.benchmarks.tau2.rules.replay import ReplayError, begun, expected
from console.benchmarks.tau2.rules.task import Action, Call, Criteria, Output, Task, calls_of
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.core.ready_type import ready_type
from console.suites.reason_words import own_words

_SHOWN = 2000


def compare(domain: Domain, task: Task, value: Any, verdict: Verdict, *, solo: bool) -> Comparison:
    """Build the comparison of a case."""
    words = own_words().get(verdict.reason or "", verdict.reason or "")
    sentence = "all that counts is as expected" if verdict.outcome is Outcome.PASSED else words
    criteria = task.evaluation_criteria
    try:
        output = msgspec.convert(value, ready_type(Output))
    except msgspec.ValidationError as error:
        return Comparison(str(error), raw=repr(value)[:_SHOWN])
    if criteria is None:
        return Comparison(sentence)
    pairs = [*_call_pairs(criteria, calls_of(output.messages))]
    if "evaluation" in verdict.detail:
        evaluation = msgspec.convert(verdict.detail["evaluation"], ready_type(Evaluation))
        pairs += _check_pairs(criteria, evaluation)
        if evaluation.db_match is False:
            try:
                pairs += _world_pairs(world_differences(domain, task, output.messages, solo=solo))
            except ReplayError as error:
                pairs.append(Pair(Mark.DIFFERS, "the expected world", str(error), kind="state"))
    note = ""
    if set(criteria.reward_basis) <= {"DB", "COMMUNICATE"}:
        is_idle = not differing(begun(domain, task), expected(domain, task))
        note = "the world is right without any action" if is_idle else ""
    rule = f"{', '.join(verdict.messages) or 'passed'}; what counts: {', '.join(criteria.reward_basis)}"
    return Comparison(sentence, (*_blame_pairs(verdict), *pairs), note=note, rule=rule)


def _blame_pairs(verdict: Verdict) -> Iterator[Pair]:
    """Yield whose fault a failure is, and the signs."""
    blamed = cast(dict[str, Any], verdict.detail.get("blame") or {})
    if blamed:
        signs = cast(list[dict[str, Any]], blamed.get("signs") or [])
        yield Pair(Mark.OMITTED, f"blame: {blamed['who']}", "by these signs" if signs else "no sign", kind="check")
        for sign in signs:
            name = f"{sign['who']}: {sign['sign'].replace('_', ' ')}"
            yield Pair(Mark.OMITTED, name, sign.get("text") or "", kind="check")


def _call_pairs(criteria: Criteria, calls: list[Call]) -> Iterator[Pair]:
    """Yield each expected call with one that fits, or else the nearest of that name; then other calls of tools."""
    used: set[int] = set()
    for action in criteria.actions or ():
        place = next((number for number, call in enumerate(calls) if action.fits(call)), None)
        if place is not None:
            used.add(place)
            yield Pair(Mark.SAME, _text(action), _text(calls[place]), note=_other_party(action, calls[place]))
            continue
        near = [number for number, call in enumerate(calls) if call.name == action.name and number not in used]
        if not near:
            yield Pair(Mark.MISSING, _text(action))
            continue
        place = max(near, key=lambda number: _agreement(action, calls[number]))
        used.add(place)
        rows = tuple(_argument_rows(action.arguments, calls[place].arguments))
        yield Pair(Mark.DIFFERS, action.name, calls[place].name, rows, note=_other_party(action, calls[place]))


def _other_party(action: Action, call: Call) -> str:
    return "" if action.requestor == call.requestor else f"called by the {call.requestor.replace(AGENT, 'agent')}"


def _agreement(action: Action, call: Call) -> int:
    return sum(call.arguments.get(name) == value for name, value in action.arguments.items())


def _argument_rows(wanted: dict[str, Any], given: dict[str, Any]) -> Iterator[Row]:
    for name in {**wanted, **given}:
        expected = (_json(wanted[name]),) if name in wanted else ()
        actual = _json(given[name]) if name in given else None
        is_same = name in wanted and name in given and wanted[name] == given[name]
        mark = Mark.SAME if is_same else Mark.MISSING if actual is None else Mark.DIFFERS if expected else Mark.EXTRA
        yield Row(mark, name, expected, actual)


def _check_pairs(criteria: Criteria, evaluation: Evaluation) -> Iterator[Pair]:
    for item, met in zip(criteria.env_assertions or (), evaluation.env_assertions or (), strict=False):
        text = f"{_call_text(item.func_name, item.arguments)} is {_json(item.assert_value)}"
        yield Pair(_mark(met), text, "holds" if met else "does not hold", kind="check")
    for text, met in zip(criteria.communicate_info or (), evaluation.communicate_checks or (), strict=False):
        yield Pair(_mark(met), f"the agent says: {text}", "said" if met else "in no message", kind="check")
    for text, met in zip(criteria.nl_assertions or (), evaluation.nl_assertions or (), strict=False):
        yield Pair(_mark(met), text, "met, says the judge" if met else "not met, says the judge", kind="check")


def _mark(met: bool) -> Mark:
    return Mark.SAME if met else Mark.DIFFERS


def _world_pairs(pairs: list[tuple[Change | None, Change | None]]) -> Iterator[Pair]:
    """Yield a pair for each row of the world that differs, with the fields that do."""
    for actual, wanted in pairs:
        change = actual or wanted
        if change is None:
            continue
        before = change.before
        ours, theirs = actual.after if actual else before, wanted.after if wanted else before
        name = " ".join(filter(None, (change.table, change.key)))
        if ours is None or theirs is None:
            mark = Mark.MISSING if ours is None else Mark.EXTRA
            yield Pair(mark, "" if theirs is None else name, "" if ours is None else name, kind="state")
            continue
        rows = tuple(
            Row(
                Mark.DIFFERS,
                path,
                () if there is _ABSENT else (_json(there),),
                None if here is _ABSENT else _json(here),
            )
            for path, there, here in field_differences(theirs, ours)
        )
        yield Pair(Mark.DIFFERS, name, name, rows, kind="state")


_ABSENT = object()


def field_differences(there: Any, here: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the paths at which two JSON values differ, with both values."""
    if isinstance(there, dict) and isinstance(here, dict):
        old, new = cast(dict[str, Any], there), cast(dict[str, Any], here)
        for key in {**old, **new}:
            name = f"{path}.{key}" if path else key
            yield from field_differences(old.get(key, _ABSENT), new.get(key, _ABSENT), name)
    elif isinstance(there, list) and isinstance(here, list):
        left, right = cast(list[Any], there), cast(list[Any], here)
        for number in range(max(len(left), len(right))):
            values = [items[number] if number < len(items) else _ABSENT for items in (left, right)]
            yield from field_differences(values[0], values[1], f"{path}[{number}]")
    elif there is _ABSENT or here is _ABSENT or canonical(there) != canonical(here):
        yield path, there, here


def _text(call: Action | Call) -> str:
    return _call_text(call.name, call.arguments)


def _call_text(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_json(value)}' for key, value in arguments.items())})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
