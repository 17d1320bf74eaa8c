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
    """Yield each expected call with one that fits, or else the nearest of that name."""
    used: set[int] = set()
    for action in criteria.actions or ():
        fitting = next((number for number, call in enumerate(calls) if action.fits(call)), None)
        near = [number for number, call in enumerate(calls) if call.name == action.name and number not in used]
        if fitting is None and not near:
            yield Pair(Mark.MISSING, _text(action))
            continue
        place = max(near, key=lambda number: _agreement(action, calls[number])) if fitting is None else fitting
        call = calls[place]
        used.add(place)
        note = "" if action.requestor == call.requestor else f"called by the {call.requestor.replace(AGENT, 'agent')}"
        if fitting is None:
            names = {**action.arguments, **call.arguments}
            rows = (_argument(action, call, name) for name in names)
            yield Pair(Mark.DIFFERS, action.name, call.name, tuple(rows), note=note)
        else:
            alike = {name: call.arguments[name] for name in action.arguments if name in call.arguments}
            if action.arguments.keys() > call.arguments.keys():
                note = note or "arguments left out are not compared"
            yield Pair(Mark.SAME, _text(action), _call_text(call.name, alike | call.arguments), note=note)


def _agreement(action: Action, call: Call) -> int:
    return sum(call.arguments.get(name) == value for name, value in action.arguments.items())


def _argument(action: Action, call: Call, name: str) -> Row:
    expected, actual = action.arguments.get(name, _ABSENT), call.arguments.get(name, _ABSENT)
    return _row(name, expected, actual, is_same=expected == actual)


def _row(name: str, expected: Any, actual: Any, *, is_same: bool = False) -> Row:
    mark = Mark.SAME if is_same else Mark.DIFFERS
    if expected is _ABSENT:
        return Row(Mark.EXTRA, name, actual=_json(actual))
    return (
        Row(Mark.MISSING, name, (_json(expected),))
        if actual is _ABSENT
        else Row(mark, name, (_json(expected),), _json(actual))
    )


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
    for actual, expectation in pairs:
        change = actual or expectation
        if change is None:
            continue
        before = change.before
        ours, theirs = actual.after if actual else before, expectation.after if expectation else before
        name = " ".join(filter(None, (change.table, change.key)))
        if ours is None or theirs is None:
            mark = Mark.MISSING if ours is None else Mark.EXTRA
            yield Pair(mark, "" if theirs is None else name, "" if ours is None else name, kind="state")
            continue
        yield Pair(Mark.DIFFERS, name, name, tuple(_field_rows(theirs, ours)), kind="state")


_ABSENT = object()


def _field_rows(there: dict[str, Any], here: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each field in which two rows of the world differ; screens compare its value path by path."""
    for name in {**there, **here}:
        values = there.get(name, _ABSENT), here.get(name, _ABSENT)
        if _ABSENT in values or canonical(values[0]) != canonical(values[1]):
            yield _row(name, *values)


def _text(action: Action) -> str:
    return _call_text(action.name, action.arguments)


def _call_text(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_json(value)}' for key, value in arguments.items())})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_SHOWN]
