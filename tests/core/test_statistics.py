"""Intervals and tests against published values, exact enumeration, simulation, and what scipy and statsmodels give."""

import itertools
import math
import random
from math import comb

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.core.statistics.agreement import cohens_kappa
from console.core.statistics.distributions import normal_quantile, quantile, t_quantile, t_tails
from console.core.statistics.intervals import (
    CLUSTERED_WILSON,
    WILSON,
    WILSON_OVER_CLUSTERS,
    Interval,
    Part,
    mean_interval,
    rate_interval,
    ratio_interval,
    repeats_interval,
    weighted_interval,
    wilson,
)
from console.core.statistics.paired import holm, mcnemar, newcombe, paired_observations
from console.core.statistics.power import Detectable, detectable_difference
from console.core.statistics.repeats import (
    CaseCount,
    pass_all,
    pass_at,
    pass_k,
    pass_rates,
    variance_split,
)
from console.core.statistics.resampling import bootstrap_mean
from console.core.statistics.sample import Cluster, Counts, Observation, Sample, sample_of, sample_of_counts

# Single rates --------------------------------------------------------------------------------------------------------


def test_wilson_of_newcombe_1998():
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert tuple(round(bound, 4) for bound in wilson(15, 148)) == (0.0624, 0.1605)
    assert tuple(round(bound, 4) for bound in wilson(0, 20)) == (0.0, 0.1611)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.data())
def test_wilson_holds_the_rate_and_stays_a_rate(graded, data):
    passed = data.draw(st.integers(0, graded))
    low, high = wilson(passed, graded)
    assert 0 <= low <= passed / graded <= high <= 1


@given(st.integers(1, 400), st.data())
def test_wilson_is_that_of_statsmodels(graded, data):
    from statsmodels.stats.proportion import proportion_confint

    passed = data.draw(st.integers(0, graded))
    assert wilson(passed, graded) == pytest.approx(proportion_confint(passed, graded, method="wilson"), abs=1e-12)


@given(st.floats(0.3, 500), st.floats(0.6, 0.9999))
def test_student_is_that_of_scipy(freedom, share):
    from scipy import stats

    assert t_quantile(freedom, share) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-8, abs=1e-9)
    assert t_tails(1.7, freedom) == pytest.approx(2 * stats.t.sf(1.7, freedom), rel=1e-9)
    assert normal_quantile(share) == pytest.approx(stats.norm.ppf(share), abs=1e-12)


def test_student_refuses_what_it_has_not():
    for freedom, share in ((0, 0.975), (3, 0.4), (3, 1.0)):
        with pytest.raises(ValueError, match="no quantile"):
            t_quantile(freedom, share)


@given(st.integers(1, 300), st.data())
def test_a_case_played_once_has_the_plain_interval_to_the_bit(cases, data):
    passed = data.draw(st.integers(0, cases))
    interval = rate_interval(sample_of_counts(Counts({1: {0: cases - passed, 1: passed}})))
    assert (interval.low, interval.high, interval.value) == (*wilson(passed, cases), passed / cases)
    assert (interval.cases, interval.rollouts, interval.clusters, interval.method) == (cases, cases, cases, WILSON)
    assert not interval.caution


def test_nothing_graded_has_no_interval():
    assert rate_interval(sample_of([])) is None
    assert mean_interval(sample_of([])) is None


def test_ten_times_the_same_answers_are_no_more_cases():
    once = rate_interval(sample_of_counts(Counts({1: {0: 1, 1: 399}})))
    often = rate_interval(sample_of_counts(Counts({10: {0: 1, 10: 399}})))
    assert (often.cases, often.rollouts) == (400, 4000)
    assert often.high - often.low >= (once.high - once.low) * 0.98
    assert (often.low, often.high) == pytest.approx((0.986, 0.9996), abs=2e-3)  # as statistics.md says of 400 cases


def test_where_all_clusters_agree_they_are_what_was_counted():
    assert rate_interval(sample_of_counts(Counts({4: {4: 20}}))).method == WILSON_OVER_CLUSTERS
    for passed, failed in itertools.product((0, 4, 5, 20), repeat=2):
        nearly = rate_interval(sample_of_counts(Counts({4: {4: 20, 3: failed, 0: 20, 1: passed}})))
        assert nearly.method == CLUSTERED_WILSON
        for counts in ({4: {4: 50, 3: failed}}, {4: {0: 50, 1: failed}}):
            one_sided = rate_interval(sample_of_counts(Counts(counts)))
            assert one_sided.method == (WILSON_OVER_CLUSTERS if failed < 5 else CLUSTERED_WILSON)
    third = rate_interval(sample_of_counts(Counts({3: {1: 40}})))  # thirds that do not sum up to a float exactly
    assert (third.low, third.high) == pytest.approx(wilson(40 / 3, 40))


def test_fewer_than_fifteen_clusters_are_called_few():
    few, enough = (
        mean_interval(sample_of(Observation(f"c{n}", float(n % 2), "", f"g{n // 2}") for n in range(2 * clusters)))
        for clusters in (14, 15)
    )
    assert (few.caution, enough.caution) == ("few clusters: the interval is rough", "")


def test_one_cluster_shows_no_spread_between_clusters():
    interval = rate_interval(sample_of_counts(Counts(ten := {1: {0: 2, 1: 8}}, ten, {10: {8.0: 1}})))
    assert (interval.low, interval.high, interval.clusters) == (*wilson(8, 10), 10)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.booleans()), min_size=1, max_size=60))
def test_the_standard_error_is_that_of_a_regression_clustered_by_group(rows):
    """Statsmodels' OLS on a constant with cov_type=cluster has G/(G-1) * (N-1)/(N-1) as its correction."""
    from statsmodels.regression.linear_model import OLS

    cases = {f"c{case}": (f"g{cluster}", passed) for case, cluster, passed in rows}
    sample = sample_of(Observation(case, float(passed), "", cluster) for case, (cluster, passed) in cases.items())
    clusters = [int(cluster[1:]) for cluster, _ in cases.values()]
    if len(set(clusters)) < 2:
        return
    y = numpy.array([float(passed) for _, passed in cases.values()])
    fit = OLS(y, numpy.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": numpy.array(clusters)})
    assert sample.standard_error == pytest.approx(float(fit.bse[0]), abs=1e-9)
    assert sample.mean == pytest.approx(float(fit.params[0]))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.booleans()), min_size=1, max_size=80), st.randoms())
def test_the_order_of_rollouts_is_indifferent(rows, shuffler):
    observed = [Observation(f"c{case}", float(passed), "x", f"g{case % 3}") for case, _, passed in rows]
    shuffled = observed[:]
    shuffler.shuffle(shuffled)
    assert rate_interval(sample_of(observed)) == rate_interval(sample_of(shuffled))


# Coverage ------------------------------------------------------------------------------------------------------------

RUNS = 2000


def _coverage(draw, rate, seed):
    source, held = numpy.random.default_rng(seed), 0
    for _ in range(RUNS):
        interval = rate_interval(draw(source, rate))
        held += interval.low <= rate <= interval.high
    return held / RUNS


def _once(cases):
    def draw(source, rate):
        passed = int(source.binomial(cases, rate))
        return sample_of_counts(Counts({1: {0: cases - passed, 1: passed}}))

    return draw


def _repeated(cases, rollouts):
    """Cases that are nearly always right or nearly always wrong: beta with concentration 0.6."""

    def draw(source, rate):
        passed = source.binomial(rollouts, source.beta(0.6 * rate, 0.6 * (1 - rate), cases))
        return sample_of_counts(Counts({rollouts: _times(passed)}))

    return draw


def _clustered(clusters, size, concentration):
    """Clusters whose cases are the more alike the smaller the concentration is."""

    def draw(source, rate):
        totals = source.binomial(size, source.beta(concentration * rate, concentration * (1 - rate), clusters))
        passed, sums = int(totals.sum()), {float(total): times for total, times in _times(totals).items()}
        cases = {1: {0: clusters * size - passed, 1: passed}}
        return sample_of_counts(Counts(cases, cases, {size: sums}))

    return draw


def _times(values):
    return {value: int(times) for value, times in enumerate(numpy.bincount(values)) if times}


SETTINGS = {
    "200 cases once": (_once(200), (0.1, 0.5, 0.9)),
    "400 cases once": (_once(400), (0.02, 0.5, 0.98)),
    "50 cases of 4": (_repeated(50, 4), (0.1, 0.5, 0.9)),
    "200 cases of 4": (_repeated(200, 4), (0.02, 0.5, 0.98)),
    "400 cases of 4": (_repeated(400, 4), (0.02, 0.98)),
    "200 cases of 10": (_repeated(200, 10), (0.5,)),
    "15 clusters of 10, much alike": (_clustered(15, 10, 0.6), (0.05,)),
    "40 clusters of 10, much alike": (_clustered(40, 10, 0.6), (0.02, 0.5, 0.98)),
    "40 clusters of 10": (_clustered(40, 10, 2), (0.02, 0.1, 0.5, 0.9)),
    "40 clusters of 10, less alike": (_clustered(40, 10, 10), (0.02, 0.5, 0.98)),
}


@pytest.mark.parametrize(
    ("name", "rate"), [(name, rate) for name, (_, rates) in SETTINGS.items() for rate in rates], ids=str
)
def test_intervals_hold_the_truth_as_often_as_they_say(name, rate):
    coverage = _coverage(SETTINGS[name][0], rate, seed=[20, round(rate * 100)])
    assert 0.93 <= coverage <= 0.975


def test_counting_rollouts_as_cases_would_not():
    draw, source, held = _repeated(200, 4), numpy.random.default_rng(4), 0
    for _ in range(500):
        sample = draw(source, 0.5)
        low, high = wilson(sample.mean * sample.rollouts, sample.rollouts)
        held += low <= 0.5 <= high
    assert held / 500 < 0.8


# Means and sums ------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=40))
def test_a_mean_has_students_interval(values):
    from scipy import stats

    sample = sample_of(Observation(str(place), value) for place, value in enumerate(values))
    interval = mean_interval(sample)
    error = float(stats.sem(values))
    low, high = (
        stats.t.interval(0.95, len(values) - 1, sum(values) / len(values), error) if error > 1e-9 else (None,) * 2
    )
    if low is not None:
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-7)


def test_repeats_of_one_question_have_students_interval():
    from scipy import stats

    values = [3.0, 5.0, 4.0, 8.0]
    interval = repeats_interval([values])
    assert (interval.low, interval.high) == pytest.approx(stats.t.interval(0.95, 3, 5.0, stats.sem(values)))
    assert repeats_interval([[1.0], [2.0, 3.0]]).low is None
    three = repeats_interval([[10.0, 12.0, 14.0]])
    assert (three.value, three.high) == (12, pytest.approx(12 + 4.30265 * (4 / 3) ** 0.5, rel=1e-6))
    assert repeats_interval([[2.0, 2.0]]) == Interval(2.0, 2.0, 2.0, 1, 2, 1, "t over repeats")


def test_welch_and_satterthwaite_weigh_the_strata():
    from scipy import stats

    groups = [[1.0, 2.0, 4.0], [10.0, 14.0, 11.0, 13.0]]
    interval = repeats_interval(groups)
    welch = stats.ttest_ind([-value for value in groups[0]], groups[1], equal_var=False).confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((-welch.high, -welch.low))


def test_a_ratio_of_equal_parts_is_a_rate():
    parts = [Part(str(place), float(place % 3 == 0), 1.0, f"g{place % 5}") for place in range(40)]
    rows = [Observation(part.case, part.above, "", part.cluster) for part in parts]
    ratio, rate = ratio_interval(parts), rate_interval(sample_of(rows))
    assert (ratio.low, ratio.high, ratio.value) == pytest.approx((rate.low, rate.high, rate.value))
    assert ratio.method == rate.method == CLUSTERED_WILSON
    assert ratio_interval([]) is None


def test_a_weighted_mean_adds_up_squared_weights():
    parts = [(0.5, Interval(0.4, 0.3, 0.5, 10, 10, 10)), (0.5, Interval(0.8, 0.7, 0.9, 20, 40, 20))]
    interval = weighted_interval(0.6, parts)
    half = math.sqrt(2) * 0.05
    assert (interval.low, interval.high) == pytest.approx((0.6 - half, 0.6 + half))
    assert (interval.cases, interval.rollouts, interval.clusters) == (30, 50, 30)


def test_bootstrap_is_repeatable_and_holds_the_mean():
    values = [1.0, 2.0, 3.0, 4.0, 10.0]
    low, high = bootstrap_mean(values)
    assert low < 4 < high
    assert bootstrap_mean(values) == (low, high)
    assert bootstrap_mean([2.0] * 5) == (2.0, 2.0)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap_mean([])


def test_quantiles():
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
    assert quantile([5], 0.95) == 5
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)


# Repeats -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graded", range(1, 7))
def test_pass_k_is_what_going_through_all_draws_gives(graded):
    for passed in range(graded + 1):
        rollouts = [place < passed for place in range(graded)]
        for k in range(1, graded + 1):
            draws = list(itertools.combinations(rollouts, k))
            assert pass_at(k, passed, graded) == pytest.approx(sum(map(any, draws)) / len(draws))
            assert pass_all(k, passed, graded) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_more_than_there_are_cannot_be_drawn():
    for k in (0, 4):
        with pytest.raises(ValueError, match="cannot be drawn"):
            pass_at(k, 1, 3)


def test_one_of_one_is_the_rate_with_its_interval():
    cases = [CaseCount(str(place), place % 5, 4) for place in range(30)]
    rate = rate_interval(sample_of_counts(Counts({4: dict.fromkeys(range(5), 6)})))
    first, *_, last = pass_k(cases)
    assert (first.at.low, first.at.high, first.at.value) == pytest.approx((rate.low, rate.high, rate.value))
    assert first.at.value == pytest.approx(first.all.value)
    assert (last.k, last.at.value, last.all.value) == (4, pytest.approx(24 / 30), pytest.approx(6 / 30))
    assert (last.at.cases, last.at.rollouts) == (30, 120)


def test_of_very_many_rollouts_round_ks_and_the_largest_are_given():
    cases = [CaseCount("a", 40, 200), CaseCount("b", 3, 100)]
    assert [item.k for item in pass_k(cases)] == [1, 2, 5, 10, 20, 50, 100, 200]
    assert [item.k for item in pass_k([CaseCount("a", 1, 33)])] == [1, 2, 5, 10, 20, 33]
    assert pass_k(cases)[-1].at.value == pass_at(200, 40, 200)


def test_the_largest_k_is_known_from_counts_alone():
    counts = {4: dict.fromkeys(range(5), 6)}
    last = pass_k(CaseCount(str(place), place % 5, 4) for place in range(30))[-1]
    assert pass_rates(counts) == (4, pytest.approx(last.at.value), pytest.approx(last.all.value))
    assert pass_rates({1: {0: 3, 1: 4}}) is None
    assert pass_rates({}) is None


def test_a_case_with_fewer_rollouts_is_left_out_of_a_larger_k():
    listed = pass_k([CaseCount("a", 1, 1), CaseCount("b", 0, 2), CaseCount("none", 0, 0)])
    assert [(item.k, item.at.cases) for item in listed] == [(1, 2), (2, 1)]
    assert pass_k([]) == []


def test_the_split_of_the_variance_is_that_of_an_analysis_of_variance():
    counts = {4: {0: 5, 1: 3, 2: 4, 3: 2, 4: 9}}
    groups = [[1.0] * passed + [0.0] * (4 - passed) for passed, times in counts[4].items() for _ in range(times)]
    within = sum(sum((value - sum(group) / 4) ** 2 for value in group) / 3 for group in groups) / len(groups)
    means = [sum(group) / 4 for group in groups]
    middle = sum(means) / len(means)
    of_means = sum((mean - middle) ** 2 for mean in means) / (len(means) - 1)
    split = variance_split(counts)
    assert (split.within, split.between) == pytest.approx((within, of_means - within / 4))
    assert split.standard_error() == pytest.approx(rate_interval_error(counts))
    assert split.standard_error(cases=2) == pytest.approx(split.standard_error() / math.sqrt(2))
    assert split.standard_error() > split.standard_error(rollouts=2) > split.standard_error(cases=2)


def rate_interval_error(counts):
    return sample_of_counts(Counts(counts)).standard_error


def test_no_repeats_no_split():
    assert variance_split({1: {0: 5, 1: 5}}) is None
    assert variance_split({4: {4: 1}}) is None
    assert variance_split({4: {4: 3}}).within_share == 0.0


# Two runs ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_the_exact_binomial_test(lost, gained):
    count = lost + gained
    tail = sum(comb(count, k) for k in range(min(lost, gained) + 1)) / 2**count
    assert mcnemar(lost, gained) == pytest.approx(min(1.0, 2 * tail))
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(lost, gained):
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    if lost + gained:
        assert mcnemar(lost, gained) == pytest.approx(theirs([[5, lost], [gained, 5]], exact=True).pvalue)


def test_mcnemar_of_large_counts():
    assert mcnemar(14, 7) == pytest.approx(0.18925, abs=1e-5)
    assert 0 <= mcnemar(5000, 4000) < 1e-20


def test_paired_difference_of_newcombe_1998():
    difference, low, high = newcombe(36, 12, 2, 0)
    assert difference == pytest.approx(-0.2)
    assert -0.4 < low < -0.2 < high < 0
    assert newcombe(0, 0, 0, 0) == (0.0, -1.0, 1.0)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_paired_difference_mirrors(both, lost, gained, neither):
    difference, low, high = newcombe(both, lost, gained, neither)
    other, other_low, other_high = newcombe(both, gained, lost, neither)
    assert low <= difference <= high
    assert (other, other_low, other_high) == (pytest.approx(-difference), pytest.approx(-high), pytest.approx(-low))


def test_differences_in_clusters_have_a_clustered_t_test():
    from statsmodels.regression.linear_model import OLS

    source = random.Random(7)
    rows = [(f"c{place}", place % 20, source.choice((-1.0, 0.0, 0.0, 1.0, 1.0))) for place in range(120)]
    difference = paired_observations([Observation(case, value, "", f"g{cluster}") for case, cluster, value in rows])
    values, groups = numpy.array([row[2] for row in rows]), numpy.array([row[1] for row in rows])
    fit = OLS(values, numpy.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
    )
    assert difference.p == pytest.approx(float(fit.pvalues[0]), rel=1e-6)
    assert (difference.low, difference.high) == pytest.approx(tuple(fit.conf_int()[0]), abs=1e-9)
    assert (difference.cases, difference.clusters, difference.method) == (120, 20, "clustered t")


def test_a_difference_of_rates_lies_between_minus_one_and_one():
    rows = [("a", 1.0, "x"), ("b", 1.0, "x"), ("c", 1.0, "y"), ("d", 0.0, "y")]
    changes = [Observation(case, value, "", cluster) for case, value, cluster in rows]
    beyond, rates = paired_observations(changes), paired_observations(changes, largest=1.0)
    assert beyond.high is not None
    assert beyond.high > 1
    assert (rates.low, rates.high) == (-1.0, 1.0)
    assert rates.p == beyond.p


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_the_closure_of_bonferroni(ps):
    places = range(len(ps))
    subsets = [subset for size in range(1, len(ps) + 1) for subset in itertools.combinations(places, size)]
    joint = {subset: min(1.0, len(subset) * min(ps[n] for n in subset)) for subset in subsets}
    assert holm(ps) == pytest.approx([max(joint[subset] for subset in subsets if n in subset) for n in places])


# Before a run --------------------------------------------------------------------------------------------------------


@given(st.integers(1, 10_000), st.integers(1, 20), st.floats(0.01, 0.6), st.floats(0, 1))
def test_the_detectable_difference_is_the_closed_form(cases, rollouts, discordance, share):
    from scipy import stats

    variance = discordance * (1 - share) + discordance * share / rollouts
    closed = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * math.sqrt(variance / cases)
    assert detectable_difference(cases, rollouts, discordance, share) == pytest.approx(min(1.0, closed))


def test_a_difference_of_that_size_is_found_four_times_in_five():
    cases, discordance = 400, 0.2
    size = detectable_difference(cases, 1, discordance)
    source, significant = random.Random(11), 0
    for _ in range(1000):
        draws = [source.random() for _ in range(cases)]
        lost = sum(draw < (discordance - size) / 2 for draw in draws)
        gained = sum((discordance - size) / 2 <= draw < discordance for draw in draws)
        significant += abs(gained - lost) > 1.959964 * math.sqrt(max(lost + gained, 1))
    assert 0.75 <= significant / 1000 <= 0.85


def test_doubling_cases_brings_more_than_doubling_rollouts():
    plan = Detectable(200, 2)
    assert plan.difference() > plan.difference(rollouts=2) > plan.difference(cases=2)
    assert detectable_difference(0) == 1.0


# Judges --------------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=60))
def test_kappa_is_that_of_statsmodels(pairs):
    from statsmodels.stats.inter_rater import cohens_kappa as theirs

    ours, table = cohens_kappa(pairs), numpy.zeros((3, 3))
    for a, b in pairs:
        table["abc".index(a), "abc".index(b)] += 1
    if ours.low is None:
        return
    result = theirs(table)
    assert ours.kappa == pytest.approx(result.kappa)
    if ours.agreed == 1:  # theirs takes the root of a variance that rounding has made negative
        assert (ours.low, ours.high) == (1.0, 1.0)
        return
    assert (ours.low, ours.high) == pytest.approx((max(-1, result.kappa_low), min(1, result.kappa_upp)), abs=1e-9)


def test_judges_who_only_ever_say_one_thing_have_no_kappa():
    same = cohens_kappa([("pass", "pass")] * 5)
    assert (same.pairs, same.agreed, same.kappa) == (5, 1.0, None)
    assert cohens_kappa([]) is None
    assert cohens_kappa([("pass", "pass"), ("pass", "pass"), ("pass", "fail")]).low is None


def test_a_sample_of_clusters_knows_its_counts():
    sample = Sample((Cluster(2, 1.5, 3), Cluster(1, 1.0)), 28)
    assert (sample.cases, sample.cluster_count, sample.mean) == (7, 4, pytest.approx(5.5 / 7))
