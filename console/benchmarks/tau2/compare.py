"""Comparison of a conversation with the expectations of its task: calls, world, assertions, words. Pure."""

from collections.abc import Callable, Iterator
from operator import eq
from typing import Any

import msgspec
from msgspec.structs import replace

from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.domains.world import AGENT, Difference, canonical, differing
from console.benchmarks.tau2.rules.evaluate import Evaluation
from console.benchmarks.tau2.rules.replay import ReplayError, Trial, begun
from console.benchmarks.tau2.rules.task import Action, Call, Criteria, Output, Task
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.json_text import as_object, as_objects
from console.core.outcome import Outcome, Verdict
from console.core.ready_type import ready_type
from console.suites.call_matching.source_text import call_text, literal
from console.suites.reason_words import own_words

_ABSENT = object()


def compare(domain: Domain, task: Task, value: Any, verdict: Verdict, *, solo: bool) -> Comparison:
    """Build the comparison of a case."""
    words = own_words().get(verdict.reason or "", verdict.reason or "")
    sentence = "all that counts is as expected" if verdict.outcome is Outcome.PASSED else words
    criteria = task.evaluation_criteria
    try:
        output = msgspec.convert(value, ready_type(Output))
    except msgspec.ValidationError as error:
        return Comparison(str(error), raw=literal(value))
    if criteria is None:
        return Comparison(sentence)
    trial = Trial(domain, task, output.messages, solo)
    pairs = [*_blame_pairs(verdict)]
    if "evaluation" in verdict.detail:
        evaluation = msgspec.convert(verdict.detail["evaluation"], ready_type(Evaluation))
        if evaluation.db_match is False:
            try:
                world = map(_world_pair, trial.differences)
                pairs += world if "DB" in criteria.reward_basis else map(_uncounted, world)
            except ReplayError as error:
                pairs.append(Pair(Mark.DIFFERS, "the expected world", str(error), kind="state"))
        pairs += _check_pairs(criteria, evaluation)
    pairs += _call_pairs(criteria, trial.calls)
    if verdict.outcome is Outcome.PASSED:
        pairs = [_uncounted(pair) for pair in pairs]
    rule = f"{', '.join(verdict.messages) or 'passed'}; what counts: {', '.join(criteria.reward_basis)}"
    if set(criteria.reward_basis) <= {"DB", "COMMUNICATE"} and not differing(begun(domain, task), trial.expected):
        rule += "; right without any action"
    return Comparison(sentence, tuple(pairs), rule=rule)


def _uncounted(pair: Pair) -> Pair:
    """Return a pair, marked as irrelevant to the verdict if it differs."""
    if pair.mark in (Mark.SAME, Mark.OMITTED):
        return pair
    rows = tuple(row if row.mark is Mark.SAME else replace(row, mark=Mark.OMITTED) for row in pair.rows)
    note = "; ".join(filter(None, (pair.note, "does not count")))
    return replace(pair, mark=Mark.OMITTED, rows=rows, note=note)


def _blame_pairs(verdict: Verdict) -> Iterator[Pair]:
    """Yield the party to blame, and the evidence against it."""
    blamed = as_object(verdict.detail.get("blame"))
    if blamed:
        signs = as_objects(blamed.get("signs"))
        yield Pair(Mark.OMITTED, f"blame: {blamed['who']}", "by these signs" if signs else "no sign", kind="blame")
        for sign in signs:
            name = f"{sign['who']}: {sign['sign'].replace('_', ' ')}"
            yield Pair(Mark.OMITTED, name, sign.get("text") or "", kind="blame")


def _call_pairs(criteria: Criteria, calls: list[Call]) -> Iterator[Pair]:
    """Yield each expected call with its matching actual call, or else the most similar one of the same name."""
    used: set[int] = set()
    for action in criteria.actions or ():
        fitting = next((number for number, call in enumerate(calls) if action.fits(call)), None)
        near = [number for number, call in enumerate(calls) if call.name == action.name and number not in used]
        if fitting is None and not near:
            yield Pair(Mark.MISSING, call_text(action.name, action.arguments))
            continue
        place = max(near, key=lambda number: _agreement(action, calls[number])) if fitting is None else fitting
        call = calls[place]
        used.add(place)
        note = "" if action.requestor == call.requestor else f"called by the {call.requestor.replace(AGENT, 'agent')}"
        if fitting is None:
            rows = _rows(action.arguments, call.arguments, eq)
            yield Pair(Mark.DIFFERS, action.name, call.name, tuple(rows), note=note)
        else:
            if action.arguments.keys() - call.arguments.keys():
                rows = _rows(action.arguments, call.arguments, eq)
                shown = tuple(row if row.mark is Mark.SAME else replace(row, mark=Mark.OMITTED) for row in rows)
                yield Pair(Mark.SAME, action.name, call.name, shown, note or "arguments left out are not compared")
                continue
            alike = {name: call.arguments[name] for name in action.arguments}
            texts = call_text(action.name, action.arguments), call_text(call.name, alike | call.arguments)
            yield Pair(Mark.SAME, *texts, note=note)


def _agreement(action: Action, call: Call) -> int:
    return sum(call.arguments.get(name) == value for name, value in action.arguments.items())


def _check_pairs(criteria: Criteria, evaluation: Evaluation) -> Iterator[Pair]:
    for item, met in zip(criteria.env_assertions or (), evaluation.env_assertions or (), strict=False):
        text = f"{call_text(item.func_name, item.arguments)} is {item.assert_value}"
        yield _check_pair(text, "holds" if met else "does not hold", met)
    for text, met in zip(criteria.communicate_info or (), evaluation.communicate_checks or (), strict=False):
        yield _check_pair(f"the agent says: {text}", "said" if met else "in no message", met)
    for text, met in zip(criteria.nl_assertions or (), evaluation.nl_assertions or (), strict=False):
        yield _check_pair(text, f"{'met' if met else 'not met'}, says the judge", met)


def _check_pair(expected: str, actual: str, met: bool) -> Pair:
    return Pair(Mark.SAME if met else Mark.DIFFERS, expected, actual, kind="check")


def _world_pair(item: Difference) -> Pair:
    """Return a differing row of the world with its differing fields; screens compare their values path by path."""
    name = " ".join(filter(None, (item.table, item.key)))
    if item.theirs is None:
        return Pair(Mark.EXTRA, "", name, kind="state")
    if item.ours is None:
        return Pair(Mark.MISSING, name, "", kind="state")
    rows = _rows(item.theirs, item.ours, lambda left, right: canonical(left) == canonical(right))
    differing_rows = tuple(row for row in rows if row.mark is not Mark.SAME)
    return Pair(Mark.DIFFERS, name, name, differing_rows, kind="state")


def _rows(expected: dict[str, Any], actual: dict[str, Any], is_same: Callable[[Any, Any], bool]) -> Iterator[Row]:
    """Yield a row for each key in either of two objects."""
    for name in {**expected, **actual}:
        wanted, given = expected.get(name, _ABSENT), actual.get(name, _ABSENT)
        if wanted is _ABSENT:
            yield Row(Mark.EXTRA, name, actual=literal(given))
        elif given is _ABSENT:
            yield Row(Mark.MISSING, name, (literal(wanted),))
        else:
            mark = Mark.SAME if is_same(wanted, given) else Mark.DIFFERS
            yield Row(mark, name, (literal(wanted),), literal(given))
