"""A run of cave-bench summed up in Review: the run, each scenario, each conversation, and the turns of one."""

from typing import Any

from console.benchmarks.cavebench.rules.report import build_report
from console.benchmarks.cavebench.rules.verdict import judge
from console.benchmarks.cavebench.view import sum_blocks, turn_sum_block
from console.core.case import Case, Key
from console.core.outcome import Verdict
from console.core.record import Finished
from console.core.tally import without_output
from console.insight.rollout import Rollout
from console.insight.turn_sums import turn_sums
from console.suites.suite import Result
from console.tui.render.block import Block


def verdict(*made: int) -> Verdict:
    """Two calls of `add` expected in each turn; as many made as said."""
    expected = [{"name": "add", "arguments": [{"name": "a", "value": n}]} for n in (1, 2)]
    turns = [{"query": "q", "expected_function_calls": expected} for _ in made]
    case = Case("s/c", "s", {"scenario": "s", "conversation": {"id": "c", "turns": turns}})
    calls = [{"function": "add", "arguments": {"a": n}} for n in (1, 2)]
    played = [{"calls": calls[:count], "steps": 2, "tokens": [5, 5, 10]} for count in made]
    return judge(case, {"turns": played}, "compatible")


def text_of(blocks: list[Block]) -> str:
    return "\n".join(line.plain for block in blocks for line in (block.title, *block.body))


def rollout(case: str, found: Verdict) -> Rollout:
    made = Rollout(Key(case), 0)
    made.category, made.outcome = case.split("/")[0], found.outcome
    return made


def test_run_scenarios_and_conversations_with_both_counts_of_missing_calls() -> None:
    verdicts = {"first/a": verdict(2, 1), "first/b": verdict(2), "second/c": verdict(0)}
    report = build_report([Result(case, case.split("/")[0], 0, found) for case, found in verdicts.items()])
    shown = text_of(sum_blocks(report, [rollout(case, found) for case, found in verdicts.items()], 120)).splitlines()
    assert "success rate                  50.0%   turns" in shown
    assert "missing calls (true)              3   required, unanswered" in shown
    place = shown.index("second")
    assert "missing calls 2   missing calls (true) 2" in shown[place + 1]
    conversation = shown[shown.index("✗ first/a") : shown.index("✓ first/b")]
    assert any("missing calls 0   missing calls (true) 1" in line for line in conversation)
    assert shown.index("first") < shown.index("✗ first/a") < shown.index("✓ first/b") < place


def test_turns_of_a_conversation() -> None:
    shown = text_of([turn_sum_block(turn_sums(verdict(2, 1).detail))]).splitlines()
    assert shown[1].split() == ["turn", "1", "✓", "calls", "2", "of", "2", "2", "steps", "10", "tokens"]
    assert shown[2].split()[:6] == ["turn", "2", "✗", "calls", "1", "of"]
    assert shown[3].split("  ")[-2:] == ["missing calls 0", "missing calls (true) 1"]


def test_what_is_counted_keeps_numbers_and_those_of_turns_and_nothing_else() -> None:
    found = verdict(2, 1)
    record = Finished(at=0.0, key=Key("s/c"), verdict=found, output={"turns": []})
    kept: Any = without_output(record)
    assert turn_sums(kept.verdict.detail) == turn_sums(found.detail)
    assert kept.output is None
    numbers = {"asked": 3, "pair": [0, 1], "won": 0.5}
    detail = {"turns": [["a"]], "decoded": "f(1)", "known_bad": True, "empty": [], **numbers}
    other = Finished(at=0.0, key=Key("x"), verdict=Verdict(found.outcome, detail=detail))
    assert without_output(other).verdict.detail == numbers


def test_particulars_of_any_kind_make_no_turns() -> None:
    for detail in ({}, {"turns": 3}, {"turns": [1, None, {"metrics": 3}]}, None):
        assert all(turn.steps == 0 for turn in turn_sums(detail))
