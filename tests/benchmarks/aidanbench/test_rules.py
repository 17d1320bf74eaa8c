"""Reading, deciding and measuring, one rule at a time, with cases of our own."""

import math

import pytest

from console.benchmarks.aidanbench.conformance import check_line
from console.benchmarks.aidanbench.conversation.prompts import followup_prompt, messages_for, similarity_prompt
from console.benchmarks.aidanbench.conversation.wording import OURS, fill
from console.benchmarks.aidanbench.rules.acceptance import Rule, Scores, Thresholds
from console.benchmarks.aidanbench.rules.loop import measure
from console.benchmarks.aidanbench.rules.novelty import Earlier, novelty
from console.benchmarks.aidanbench.rules.reply_tags import (
    answer_of,
    coherence,
    format_reward,
    llm_novelty,
    similarity,
    strict_coherence,
    strict_similarity,
)
from console.core.fault import UsageError


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer> a </answer> <answer>\nb\nc </answer> rest", "b\nc"),
        (" no tag ", " no tag "),
        ("<answer>open", "<answer>open"),
        ("<ANSWER>x</ANSWER>", "<ANSWER>x</ANSWER>"),
        ("<answer></answer>", ""),
    ],
)
def test_the_last_complete_pair_counts_else_the_whole_reply(text: str, answer: str) -> None:
    assert answer_of(text) == answer


@pytest.mark.parametrize(
    ("text", "strict", "ours"),
    [
        ("<coherence_score>75</coherence_score>", 75.0, 75.0),
        ("  0.8\n", 0.8, 0.8),
        ("85/100", 0.0, None),
        ("", 0.0, None),
        ("150", 150.0, None),
        ("-5", -5.0, None),
        ("inf", math.inf, None),
        ("<coherence_score>９０</coherence_score>", 90.0, 90.0),
    ],
)
def test_coherence_in_both_readings(text: str, strict: float, ours: float | None) -> None:
    assert strict_coherence(text) == strict
    assert coherence(text) == ours


def test_similarity_in_both_readings() -> None:
    assert (strict_similarity("oops"), similarity("oops")) == (1.0, None)
    assert strict_similarity("<similarity_score>85</similarity_score>") == similarity("85") == 0.85
    assert math.isnan(strict_similarity("nan"))


def test_the_order_of_float_operations_decides_at_the_threshold() -> None:
    assert llm_novelty([0.2, 85 / 100.0]) > 0.15
    assert llm_novelty([]) == 1.0


@pytest.mark.parametrize(
    ("scores", "accepted", "reason"),
    [
        ((15, 0.5, 1.0), False, "low_coherence"),
        ((16, 0.15, 1.0), False, "threshold"),
        ((16, 0.1, 0.1), False, "low_embedding_novelty,low_llm_novelty"),
        ((1, 0.1, 0.1), False, "low_coherence,low_embedding_novelty,low_llm_novelty"),
        ((math.nan, 0.5, 0.5), False, "threshold"),
        ((16, 0.16, 0.15000000000000002), True, ""),
        ((None, 0.5, 0.5), None, "unreadable_judge"),
        ((80, 0.5, None), None, "unreadable_judge"),
        ((80, None, 0.5), None, "no_novelty"),
        ((None, 0.1, 0.5), False, "low_embedding_novelty"),
    ],
)
def test_decisions(scores: tuple[float | None, float | None, float | None], accepted: bool | None, reason: str) -> None:
    assert Rule(use_llm_similarity=True).decide(Scores(*scores)) == (accepted, reason)


def test_llm_novelty_counts_only_when_it_is_on() -> None:
    assert Rule().decide(Scores(80, 0.5, 0.0)).accepted
    assert Rule().decide(Scores(80, 0.5, None)).accepted


def test_a_tie_passes_in_the_original_and_a_nan_never() -> None:
    rule = Rule(tie_passes=True)
    assert rule.decide(Scores(16, 0.15)).accepted
    assert not rule.decide(Scores(15, 0.5)).accepted
    assert rule.decide(Scores(16, math.nan)) == (False, "threshold")


def test_measures_stop_at_the_end_of_the_loop() -> None:
    scores = [Scores(80, 1.0), Scores(60, 0.4), Scores(10, 0.5), Scores(90, 0.9)]
    found = measure(scores, Rule(), None)
    assert (found.turns, found.stopped_at, found.accepted, found.avg_coherence) == (3, 3, 2, 70)
    assert found.sum_embedding_novelty == 1.4
    capped = measure(scores, Rule(), 2)
    assert (capped.turns, capped.stopped_at, capped.reason, capped.accepted) == (2, None, "", 2)
    assert measure(scores, Rule(Thresholds(coherence_score=80)), None).accepted == 0


@pytest.mark.parametrize(
    ("replies", "value"),
    [
        ([], 0.0),
        (["plain"], 0.2),
        (["<answer>open"], 0.4),
        (["well: <answer>x</answer>"], 0.8),
        (["<answer></answer>"], 1.0),
        (["<answer>x</answer>", ""], 0.6),
    ],
)
def test_format_reward(replies: list[str], value: float) -> None:
    assert format_reward(replies) == pytest.approx(value, abs=1e-12)


def test_cosines_and_the_nearest_earlier_answer() -> None:
    assert novelty([1.0, 0.0], []) == 1.0
    assert novelty([1.0, 0.0], [[-2.0, 0.0]]) == 2.0
    assert Earlier([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]).nearest([1.0, 0.1]) == (1, pytest.approx(0.99503719))
    assert math.isnan(novelty([1.0, 0.0], [[0.0, 0.0], [1.0, 0.0]]))
    assert novelty([1.0, 0.0], [[1.0, 0.0], [0.0, 0.0]]) == 0.0
    assert math.isnan(novelty([1e200, 1e200], [[1e200, -1e200]]))
    with pytest.raises(ValueError, match="compared"):
        novelty([1.0], [[1.0, 2.0]])


def test_slots_are_filled_once() -> None:
    assert fill("{question} {other} {answer}", question="{answer}?", answer="x") == "{answer}? {other} x"
    prompt = similarity_prompt(OURS, "{answer1}", "new {answer2}", "old")
    assert "<question>{answer1}</question>" in prompt
    assert "<answer1>new {answer2}</answer1>" in prompt


def test_followups_list_every_accepted_answer_in_both_protocols() -> None:
    for protocol in ("environment", "original"):
        prompt = followup_prompt(OURS, protocol, "Why?", ["one", "two"])
        block = "<previous_answer id='1'>\none\n</previous_answer>\n\n<previous_answer id='2'>\ntwo\n</previous_answer>"
        assert f"<previous_answers>\n{block}\n</previous_answers>" in prompt
        assert prompt.startswith(followup_prompt(OURS, protocol, "Why?", []))
    chat = messages_for(OURS, "environment", "Why?", [{"role": "user", "content": "a"}], [])
    assert len(chat) == 2


def test_check_lines_are_judged_or_refused_with_a_place() -> None:
    line = check_line({"id": "x", "kind": "coherence", "text": "nan", "expect": {"value": 3}})
    assert line == {"id": "x", "value": "nan"}
    assert check_line({"case": "n", "kind": "novelty", "previous": [[1]], "new": [1, 2]})["novelty"] is None
    with pytest.raises(UsageError, match="unknown kind"):
        check_line({"case": "n", "kind": "poem"})
    with pytest.raises(UsageError, match="cannot be read"):
        check_line({"case": "n", "kind": "loop", "answers": [{}]})
