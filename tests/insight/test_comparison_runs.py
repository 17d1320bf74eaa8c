"""Pairs of runs: what counts, what is left out, the numbers by hand, and what is said about chance."""

import itertools

import msgspec
import pytest

from console.core.case import Case, Key, Setting
from console.core.chat import Reply
from console.core.looks import Look, LookPlan, Question, Rule, Until
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Closed, Finished, Looked, Started
from console.core.run import Manifest, ModelFacts, Selection
from console.core.statistics.paired import mcnemar, paired_mean
from console.core.statistics.resampling import sign_flip
from console.insight.comparison import PairOutcome, compare, error_types
from console.insight.comparison_report import (
    change_words,
    comparison_sections,
    repeat_reasons,
    statistics,
    verdict_words,
)
from console.insight.comparison_side import ComparisonSide, shared_repeats
from console.insight.grid import grid

LETTERS = {"p": Outcome.PASSED, "f": Outcome.FAILED, "b": Outcome.BROKEN, "u": Outcome.UNDECIDED}


def side(name: str = "a", **outcomes: str) -> ComparisonSide:
    """A run: by case, one letter for each rollout; `r` for one that still runs."""
    made = ComparisonSide(Manifest(id=name, at=1.0, suite="s", model=ModelFacts(name), setting=Setting()))
    for case, letters in outcomes.items():
        for rollout, letter in enumerate(letters):
            play(made, case, letter, rollout)
    return made


def play(
    made: ComparisonSide,
    case: str,
    letter: str,
    rollout: int = 0,
    *,
    digest: str = "same",
    data: str = "",
    cluster: str = "",
    **more,
):
    key = Key(case, rollout)
    category = case.split("_")[0]
    made.apply(Started(at=1, key=key, case=Case(case, category, {"data": data}, cluster=cluster)))
    made.apply(Asked(at=1, key=key, n=1, digest=digest, reply=Reply("x")))
    if letter == "r":
        return
    reason = {"f": "value_error:string", "b": "server"}.get(letter)
    scores, messages = more.pop("scores", {}), more.pop("messages", ())
    verdict = Verdict(LETTERS[letter], reason, "unit" if reason else "", messages, scores)
    known = {"seconds": 2.0, "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01, "calls": 1} | more
    made.apply(Finished(at=2, key=key, verdict=verdict, **known))


def test_every_pair_has_one_outcome_and_faults_are_left_out():
    a = side("a", c1="p", c2="p", c3="f", c4="f", c5="b", c6="p", c7="u", c8="p", only="p")
    b = side("b", c1="p", c2="f", c3="p", c4="f", c5="p", c6="b", c7="f", c8="r", other="f", other2="f")
    found = compare(a, b)
    outcomes = {pair.slot[0]: pair.outcome for pair in found.pairs}
    assert outcomes == {
        "c1": PairOutcome.BOTH, "c2": PairOutcome.LOST, "c3": PairOutcome.GAINED, "c4": PairOutcome.NEITHER,
        "c5": PairOutcome.LEFT_OUT, "c6": PairOutcome.LEFT_OUT, "c7": PairOutcome.LEFT_OUT, "c8": PairOutcome.LEFT_OUT,
    }  # fmt: skip
    assert (found.only_a, found.only_b) == (1, 2)
    assert (found.counts.cases, found.counts.left_out) == (4, 4)
    assert found.counts.difference.value == 0.0
    assert found.counts.difference.words == "no difference"


def test_cases_chosen_because_one_run_failed_them_are_no_evidence_for_the_other():
    a = side("a", **{f"c{n}": "f" if n < 9 else "p" for n in range(20)})
    outcomes = {f"c{n}": "p" if n < 8 else "f" for n in range(9)}
    again = side("again", **outcomes)
    assert compare(a, again).counts.difference.words == "unlikely to be chance", "a category that A failed as a whole"
    again.manifest = msgspec.structs.replace(again.manifest, selection=Selection(ids=tuple(outcomes)))
    for found, name in ((compare(a, again), "A"), (compare(again, a), "B")):
        difference = found.counts.difference
        assert abs(difference.value) == pytest.approx(8 / 9)
        assert (difference.p, difference.low, difference.high) == (None, None, None)
        assert difference.words == f"no evidence: the cases were chosen because {name} failed them"
        assert difference.words in verdict_words(found)
        assert {part.difference.p for part in found.categories.values()} == {None}
    play(again, "c9", "p")  # chosen by id, but for another reason
    assert compare(a, again).counts.difference.p is not None


def test_the_test_is_mcnemars_on_what_changed():
    a = side("a", **{f"c{n}": "p" for n in range(20)})
    b = side("b", **{f"c{n}": "f" if n < 8 else "p" for n in range(20)})
    found = compare(a, b)
    difference = found.counts.difference
    assert difference.value == pytest.approx(-0.4)
    assert difference.p == pytest.approx(mcnemar(8, 0)) == pytest.approx(2 / 2**8)
    assert difference.low < -0.4 < difference.high < 0
    assert difference.words == "unlikely to be chance"
    assert [pair.slot[0] for pair in found.changes()] == [f"c{n}" for n in range(8)]
    assert found.reasons == (("wrong value", 0, 8),)


def test_a_change_says_why_the_failure_was_or_is():
    gained, lost = compare(side("a", c1="f", c2="p"), side("b", c1="p", c2="f")).pairs
    assert [change_words(pair)[0] for pair in (gained, lost)] == ["gained", "lost"]
    assert change_words(gained)[1] == f"was: {change_words(lost)[1]}"
    assert change_words(lost)[1]


def test_swapping_turns_every_sign():
    a, b = side("a", c1="p", c2="f", c3="f"), side("b", c1="f", c2="p", c3="p")
    there, back = compare(a, b), compare(b, a)
    assert (there.counts.lost, there.counts.gained) == (back.counts.gained, back.counts.lost) == (1, 2)
    assert there.counts.difference.value == -back.counts.difference.value
    assert there.counts.difference.low == pytest.approx(-back.counts.difference.high)
    assert [pair.outcome for pair in there.changes()] == [PairOutcome.LOST, PairOutcome.GAINED, PairOutcome.GAINED]


def test_rollouts_of_one_case_are_not_counted_as_independent():
    a = side("a", **{f"c{n}": "pppppppp" for n in range(3)})
    b = side("b", c0="ffffffff", c1="pppppppp", c2="pppppppp")
    difference = compare(a, b).counts.difference
    assert difference.value == pytest.approx(-1 / 3)
    assert difference.cases == 3
    assert difference.p == 1.0  # one case of three: 8 lost rollouts would have looked certain
    assert mcnemar(8, 0) < 0.01


def test_repeats_of_a_case_are_one_change_in_its_direction():
    found = compare(side("a", c1="pff", c2="ppf", c3="pfp"), side("b", c1="ppf", c2="fff", c3="ppf"))
    assert {case.name: (case.outcome, case.change) for case in found.cases} == {
        "c1": (PairOutcome.GAINED, 1), "c2": (PairOutcome.LOST, -2), "c3": (PairOutcome.AS_OFTEN, 0),
    }  # fmt: skip
    assert [case.name for case in found.changes()] == ["c2", "c1"]


def test_a_case_that_fails_in_several_repeats_counts_once_for_each_reason():
    found = compare(side("a", c1="pff", c2="ppp"), side("b", c1="fff", c2="pff"))
    assert found.reasons == (("wrong value", 1, 2),)
    assert error_types(found) == [("value_error:string", 1, 2)]
    table = next(section for section in comparison_sections(found) if section.title == "Reasons")
    assert table.headings == ("reason", "cases of A", "cases of B")


def test_categories_are_compared_each():
    a, b = side("a", x_1="p", x_2="p", y_1="f"), side("b", x_1="f", x_2="p", y_1="p")
    tables = compare(a, b).categories
    assert {name: (it.lost, it.gained, it.cases) for name, it in tables.items()} == {"x": (1, 0, 2), "y": (0, 1, 1)}


def test_loops_are_compared_by_accepted_answers():
    a, b = side("a"), side("b")
    for place, (before, after) in enumerate([(5, 9), (4, 4), (7, 3), (2, 8)]):
        play(a, f"q{place}", "p", scores={"aidanbench_score": float(before), "avg_coherence": 50.0})
        play(b, f"q{place}", "p", scores={"aidanbench_score": float(after), "avg_coherence": 60.0})
    found = compare(a, b)
    assert found.headline == "aidanbench_score"
    assert found.counts.difference.value == pytest.approx(1.5)
    assert found.counts.difference.low < 1.5 < found.counts.difference.high
    assert [(pair.slot[0], pair.change) for pair in found.changes()] == [("q2", -4), ("q3", 6), ("q0", 4)]
    assert {it.name: (it.a, it.b) for it in found.scores}["avg_coherence"] == (50.0, 60.0)


def test_data_and_prompts_are_checked_case_by_case():
    a, b = side("a"), side("b")
    for place in range(4):
        play(a, f"c{place}", "p", data="x", digest="d")
        play(b, f"c{place}", "p", data="x" if place else "y", digest="d" if place > 1 else "e")
    found = compare(a, b)
    assert (found.data.same, found.data.other, found.data.verdict) == (3, 1, False)
    assert (found.prompts.same, found.prompts.other) == (2, 2)
    assert (found.data.words("case"), found.prompts.words("prompt")) == ("1 case differs", "prompt differs in 2 cases")
    assert compare(a, a).data.verdict is True
    assert compare(a, a).data.words("case") == "same cases"
    unknown = ComparisonSide(a.manifest)
    assert compare(a, unknown).prompts.verdict is None
    assert compare(a, unknown).prompts.words("prompt") == "prompts not known"


def test_what_it_took_is_of_the_pairs_that_count():
    a, b = side("a"), side("b")
    for place, seconds in enumerate([1.0, 2.0, 9.0, 4.0]):
        play(a, f"c{place}", "p", seconds=seconds)
        play(b, f"c{place}", "b" if place == 2 else "p", seconds=1.0, cost_usd=None)
    spent = compare(a, b)
    assert spent.spent_a.latency_p50 == 2.0
    assert (spent.spent_a.cost_usd, spent.spent_a.cost_unknown) == (pytest.approx(0.03), 0)
    assert spent.spent_b.cost_unknown == 3


def test_runs_without_a_case_in_common():
    found = compare(side("a", x="p"), side("b", y="p"))
    assert found.pairs == ()
    assert found.counts.difference.words == "nothing to compare"
    assert found.spent_a.latency_p50 is None


def test_the_sign_flip_test_is_exact_where_it_says_so():
    differences = [3.0, -1.0, 2.0, 0.0, 4.0]
    moved = [3.0, 1.0, 2.0, 4.0]
    sums = [
        abs(sum(s * m for s, m in zip(signs, moved, strict=True))) for signs in itertools.product((1, -1), repeat=4)
    ]
    assert sign_flip(differences) == sum(total >= 8 for total in sums) / 16
    many = [1.0] * 30
    assert sign_flip(many) < 0.001
    assert sign_flip(many) == sign_flip(many)
    assert paired_mean([2.0]).low is None


def test_a_grid_of_several_runs():
    sides = [side("a", x="p", y="p", z="f"), side("b", x="f", y="p"), side("c", x="p", y="p", z="b")]
    made = grid(sides)
    assert [(row.slot[0], row.differs) for row in made.rows] == [("x", True), ("y", False), ("z", False)]
    assert made.rows[2].outcomes == (Outcome.FAILED, None, Outcome.BROKEN)
    assert [made.rate(place).value for place in range(3)] == [1.0, 0.5, 1.0]
    assert len(made.shared) == 2


def test_a_repeat_says_more_than_its_case_and_what_all_share_once():
    a, b = side("a", x="pppp", y="pppp"), side("b", x="bp")
    play(b, "x", "f", 2, messages=("metres is 12",))
    play(b, "x", "f", 3, messages=("metres is 14",))
    for repeat in range(4):
        play(b, "y", "f", repeat, messages=("metres is 12",))
    x, y = compare(a, b).cases
    assert change_words(x) == ("3/3 → 1/3", "wrong value: unit")
    assert repeat_reasons(x) == ["server error: unit", "", "metres is 12", "metres is 14"]
    assert repeat_reasons(y) == ["metres is 12", "", "", ""]


def test_a_grid_counts_by_category_what_every_run_has_graded():
    sides = [side("a", m_1="p", m_2="f", s_1="f"), side("b", m_1="f", m_2="f", s_1="p"), side("c", m_1="p", s_1="p")]
    made = grid(sides)
    assert made.categories == ("m", "s")
    assert [made.rate(place, "m").value for place in range(3)] == [1.0, 0.0, 1.0], "m_2 is not graded in all"
    assert [made.rate(place, "s").value for place in range(3)] == [0.0, 1.0, 1.0]
    assert [(it.reason, it.counts, it.spread) for it in made.reasons()] == [("wrong value: unit", (1, 1, 0), 1)]
    assert [it.counts for it in made.reasons("m")] == [(0, 1, 0)]


def test_a_case_that_passes_as_often_shows_a_failed_repeat():
    (case,) = compare(side("a", x="ppfp"), side("b", x="ppfp")).cases
    assert case.outcome is PairOutcome.AS_OFTEN
    assert (case.slot[1], change_words(case)) == (2, ("3/4 → 3/4", "wrong value: unit"))


@pytest.mark.parametrize(
    ("repeats", "words"), [((4, 4), ""), ((4, 1), "repeat 1 only"), ((25, 4, 9), "repeats 1 to 4 only")]
)
def test_numbers_of_runs_with_other_repeats_say_what_they_rest_on(repeats: tuple[int, ...], words: str):
    sides = [side(str(number), x="p") for number in range(len(repeats))]
    for one, count in zip(sides, repeats, strict=True):
        one.manifest = msgspec.structs.replace(one.manifest, rollouts=count)
    assert shared_repeats(sides) == words


def test_a_run_without_the_repeat_that_tells_shows_its_own():
    (case,) = grid([side("a", x="pfp"), side("b", x="ppf"), side("c", x="f")]).cases
    assert case.slot == ("x", 0), "the first in which the runs differ"
    (other,) = grid([side("a", x="ppf"), side("b", x="pfp"), side("c", x="p")]).cases
    assert other.slot == ("x", 1)
    assert [other.shown_in(place).slot[1] for place in range(3)] == [1, 1, 0]
    assert [other.reason_in(place) for place in range(3)] == ["wrong value: unit", "wrong value: unit", ""]


def test_what_only_prepares_others_is_not_compared():
    a, b = side("a", x="p"), side("b", x="f")
    for made in (a, b):
        key = Key("memory_kv_prereq_0")
        made.apply(Started(at=1, key=key, case=Case(key.case, "memory_kv", graded=False)))
        made.apply(Finished(at=2, key=key, verdict=Verdict(Outcome.PASSED)))
    found = compare(a, b)
    assert [pair.slot[0] for pair in found.pairs] == ["x"]
    assert (found.only_a, found.only_b) == (0, 0)
    assert [row.slot[0] for row in grid([a, b]).rows] == ["x"]


def test_categories_that_no_run_shares_come_last_in_a_grid():
    made = grid([side("a", a_1="p", z_1="p"), side("b", b_1="p", z_1="f")])
    assert made.categories == ("z", "a", "b")


def test_scores_are_compared_case_by_case_over_the_rollouts_that_count():
    a, b = side("a"), side("b")
    for made, scores in ((a, {"q1": (4, 6), "q2": (9, None), "q3": (1, 1), "q4": (None,)}),
                         (b, {"q1": (8, 0), "q2": (2, 5), "q3": (3, 5), "q4": (1,)})):  # fmt: skip
        for case, counts in scores.items():
            for rollout, count in enumerate(counts):
                more = {} if count is None else {"scores": {"aidanbench_score": float(count)}}
                play(made, case, "b" if count is None else "p", rollout, **more)
    found = {
        case.name: (case.mean_scores("aidanbench_score"), case.change, len(case.counted))
        for case in compare(a, b).cases
    }
    assert found == {
        "q1": ((5.0, 4.0), -1.0, 2), "q2": ((9.0, 2.0), -7.0, 1), "q3": ((1.0, 4.0), 3.0, 2), "q4": (None, 0.0, 0),
    }  # fmt: skip


@pytest.mark.parametrize(("top", "is_bounded"), [(5.0, True), (None, False), (3.0, False)])
def test_a_difference_stays_on_the_scale_of_its_score_unless_the_score_leaves_it(top: float | None, is_bounded: bool):
    sides = []
    for name, grades in (("a", (1.0, 1.0, 1.0, 1.0)), ("b", (5.0, 5.0, 5.0, 1.0))):
        scales = {"stars": (1.0, top)} if top is not None else {}
        plan = Manifest(name, 1.0, "s", ModelFacts(name), Setting(), headline="stars", scales=scales)
        sides.append(ComparisonSide(plan))
        for number, grade in enumerate(grades):
            play(sides[-1], f"c_{number}", "p", cluster=f"g{number // 2}", scores={"stars": grade})
    found = compare(*sides)
    for difference in (found.counts.difference, found.scores[0].difference):
        assert difference.value == 3.0
        assert difference.high is not None
        assert (difference.high == 4.0) is is_bounded
        assert (difference.high > 4.0) is not is_bounded


def test_a_rate_estimated_from_a_look_is_no_more_than_one():
    a, b = side("a", **{f"c_{n}": "p" for n in range(20)}), side("b", **{f"c_{n}": "p" for n in range(4)})
    a.manifest = msgspec.structs.replace(a.manifest, cases=20)
    until = Until(Rule.DECIDED, margin=0.1, baseline="a")
    plan = LookPlan((Question((4, 20)),), until=until)
    b.manifest = msgspec.structs.replace(b.manifest, cases=20, looks=plan)
    look = Look(1, 2, 4, 20, difference=0.05, below=-0.05, above=0.2, decision="not_worse")
    b.apply(Looked(at=3, look=look))
    b.apply(Closed(at=4, reason="decided"))
    lines = [line for section in statistics(compare(a, b)) for line in section.lines]
    assert "B ≈ 1.000 [.950 1.000] on all 20, estimated from 4 with A" in lines
