"""A run's tallies give the same intervals as its listed rollouts, however its records came in."""

import tracemalloc

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.core.run import Manifest, ModelFacts, Summary, Tally
from console.core.statistics.intervals import mean_interval, rate_interval
from console.core.statistics.sample import Observation, sample_of, sample_of_counts
from console.core.tally import RunFold, without_output

OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)
rollouts = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(1, 3), st.sampled_from(OUTCOMES), st.floats(0, 9)),
    max_size=60,
)


def _category(case):
    return ("left", "right")[case % 2]


def _cluster(case):
    return ("", "a", "b")[case % 3]


def _case(number):
    return Case(f"case {number}", _category(number), cluster=_cluster(number), graded=number != 9)


def _folded(rows):
    fold = RunFold()
    for case, rollout, attempt, outcome, score in rows:
        key = Key(f"case {case}", rollout, attempt)
        fold.apply(Started(at=1.0, key=key, case=_case(case)))
        fold.apply(Finished(at=2.0, key=key, verdict=Verdict(outcome, scores={"answers": score})))
    return fold


def _last(rows):
    """Return the first grade of each rollout, or else its last ending."""
    counted = {}
    for case, rollout, _, outcome, score in rows:
        if not counted.get((case, rollout), (Outcome.BROKEN,))[0].is_graded:
            counted[case, rollout] = outcome, score
    return counted


def _observations(rows, categories=("left", "right")):
    return [
        Observation(f"case {case}", float(outcome is Outcome.PASSED), _category(case), _cluster(case))
        for (case, _), (outcome, _) in _last(rows).items()
        if outcome.is_graded and case != 9 and _category(case) in categories
    ]


@given(rollouts)
def test_a_tally_knows_what_a_list_of_its_rollouts_knows(rows):
    fold = _folded(rows)
    assert fold.tally.rate == rate_interval(sample_of(_observations(rows)))
    for name, tally in fold.categories.items():
        assert tally.rate == rate_interval(sample_of(_observations(rows, [name])))
    together = sample_of_counts(*(tally.counts for tally in fold.categories.values()))
    assert rate_interval(together) == fold.tally.rate


@given(rollouts)
def test_a_tally_is_kept_and_read_back_whole(rows):
    tally = _folded(rows).tally
    assert msgspec.json.decode(msgspec.json.encode(tally), type=Tally) == tally
    assert msgspec.convert(msgspec.to_builtins(tally), Tally, strict=False) == tally
    fold = _folded(rows)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(msgspec.structs.replace(fold, latest={})), type=RunFold)
    assert again.cases == fold.cases


def test_the_interval_of_a_headline_stays_on_its_scale_if_the_run_records_one():
    fold = _folded([])
    fold.scores_by_case["grade"] = {str(case): (10.0 if case else 8.0, 2) for case in range(6)}
    assert fold.score_interval("grade").high > 5
    bounded = fold.score_interval("grade", (1.0, 5.0))
    assert bounded.value == fold.score_interval("grade").value
    assert 1 <= bounded.low < bounded.value < bounded.high <= 5
    assert fold.score_interval("grade", (1.0, 4.5)) == fold.score_interval("grade")  # the scores leave this scale


@given(rollouts)
def test_a_headline_has_its_interval_over_cases_once_cases_repeat(rows):
    fold = _folded(rows)
    manifest = Manifest("run", 1.0, "suite", ModelFacts("m"), Setting(), headline="answers")
    summary = fold.summary(manifest, live=False, now=3.0, damaged=0, journal_bytes=0)
    last = _last(rows)
    listed = [Observation(str(case), score, _category(case), _cluster(case)) for (case, _), (_, score) in last.items()]
    sample = sample_of(listed)
    if sample.rollouts == sample.cases:
        assert summary.score_interval is None
        return
    expected = mean_interval(sample)
    assert abs(summary.score_interval.value - expected.value) < 1e-9
    assert summary.score_interval.clusters == expected.clusters
    assert abs(summary.scores["answers"] - expected.value) < 1e-9
    assert msgspec.json.decode(msgspec.json.encode(summary), type=Summary) == summary


def test_a_tally_of_before_cases_were_counted_holds_cases_played_once():
    assert Tally(passed=3, failed=1).rate.cases == 4
    assert Tally().rate is None


def test_one_more_rollout_of_a_long_run_costs_little_memory():
    def play(first, count):
        for number in range(first, first + count):
            key = Key(f"case-{number}", 0, 1)
            fold.apply(Started(at=float(number), key=key, case=Case(key.case, "left", {})))
            verdict = Verdict(Outcome.PASSED, scores={"turns": 1.0}, detail={"words": "long"}, messages=("words",))
            ended = Finished(at=float(number), key=key, verdict=verdict, output="long " * 100, seconds=number / 7)
            fold.apply(without_output(msgspec.json.decode(msgspec.json.encode(ended), type=Finished)))

    fold, count = RunFold(), 10_000
    play(0, 2_000)
    tracemalloc.start()
    try:
        play(2_000, count)
        spent = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    assert fold.score_interval("turns") is None
    assert spent < 700, f"{spent:.0f} bytes; what verdicts and sums of scores have in common is held once"


def test_a_summary_stays_as_it_was_while_the_run_goes_on():
    def play(number):
        key = Key("a", number, 1)
        fold.apply(Started(at=1.0, key=key, case=Case("a", "left", {}, cluster="c")))
        fold.apply(Finished(at=2.0, key=key, verdict=Verdict(Outcome.PASSED), model="m", cut="length"))

    fold, manifest = RunFold(), Manifest("r", 1.0, "s", ModelFacts("m"), Setting(), rollouts=9, cases=1)
    play(0)
    summary = fold.summary(manifest, live=True, now=0.0, damaged=0, journal_bytes=0)
    before = msgspec.json.encode(summary)
    play(1)
    assert msgspec.json.encode(summary) == before, "a thread applies records while a screen draws the summary"


def test_a_score_that_only_superseded_attempts_had_is_no_score():
    fold = RunFold()
    for attempt, outcome, scores in ((1, Outcome.BROKEN, {"f1": 0.5}), (2, Outcome.PASSED, {})):
        key = Key("case 0", 1, attempt)
        fold.apply(Started(at=1.0, key=key, case=_case(0)))
        fold.apply(Finished(at=1.0, key=key, verdict=Verdict(outcome, scores=scores)))
        assert fold.scores == scores


def test_a_rollout_runs_until_it_has_finished():
    fold = RunFold()
    keys = [Key("case 0", rollout) for rollout in range(2)]
    for key in keys:
        fold.apply(Started(at=1.0, key=key, case=_case(0)))
    fold.apply(Finished(at=1.0, key=keys[0], verdict=Verdict(Outcome.PASSED)))
    assert [tally.running for tally in (fold.tally, fold.categories["left"])] == [1, 1]
