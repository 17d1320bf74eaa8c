"""Decide whether a run is worse than its baseline: no, yes or inconclusive. Pure.

B is worse if the whole interval of the difference lies below the margin, and not worse if all of it lies above;
otherwise the result is inconclusive. Without a margin, any significant loss counts, and an interval that includes a
large loss is inconclusive. Unfinished runs and runs with many broken cases are not judged.
"""

from dataclasses import dataclass

from console.core.fault import UsageError
from console.core.grading import grading_differences, regrade_command
from console.core.looks import Look, Margin
from console.core.run import Summary
from console.core.statistics.decision import LEFT_OUT_SHARE, Decision, decide
from console.core.statistics.intervals import REPEATED
from console.core.statistics.paired import Difference
from console.core.suggestion import suggest
from console.insight.comparison import RunComparison, planned_look
from console.insight.comparison_report import verdict_words
from console.insight.number_format import bounds, number, signed
from console.suites.headline import PASSED

TOO_WIDE = 0.05
"""Loss that the interval must exclude if no margin is given: of a rate, or of a score as a share of A's mean."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict and its basis."""

    verdict: Decision
    sentence: str
    """Reason for the verdict in one sentence. Parts may be untrusted text."""
    metric: str
    margin: float | None
    difference: Difference | None
    """Difference in the metric; None if either run lacks it."""


def judge(
    comparison: RunComparison, a: Summary, b: Summary, *, margin: Margin | None = None, metric: str | None = None
) -> Gate:
    """Judge whether B is worse than A.

    Args:
        comparison: comparison of A and B on shared cases.
        a: summary of A.
        b: summary of B.
        margin: tolerated loss; None for no loss, see `TOO_WIDE`.
        metric: `passed` or the name of a score where higher is better; None for the headline.

    Raises:
        UsageError: neither run has the metric, or the margin does not fit it.
    """
    name = metric or comparison.headline or PASSED
    difference, mean = _measured(comparison, name)
    is_rate = name == PASSED
    if margin is not None and ((margin.is_points and not is_rate) or (is_rate and margin.value >= 1)):
        hint = "Write 1pt or 0.01." if is_rate else f"Write a number of {name}."
        raise UsageError(f"the margin does not fit {name}", where="--margin", hint=hint)
    allowed = None if margin is None else margin.value
    look = planned_look(comparison.a, comparison.b)
    if look is not None and metric in (None, name):
        return _as_planned(comparison, look, name, allowed)
    why = _not_to_be_judged(comparison, a, b, difference)
    if why:
        return Gate(Decision.CANNOT_TELL, f"inconclusive: {why}", name, allowed, difference)
    widest = TOO_WIDE if is_rate else TOO_WIDE * abs(mean)
    verdict, words = _weigh(difference, name, allowed, widest, is_rate=is_rate)
    return Gate(verdict, f"{verdict}: {words}", name, allowed, difference)


def _as_planned(comparison: RunComparison, look: Look, name: str, allowed: float | None) -> Gate:
    """Return the answer of the look that ended B, as planned before its first call."""
    plan = comparison.b.manifest.looks
    planned = plan.until.margin if plan is not None and plan.until is not None else 0.0
    if allowed not in (None, planned):
        hint = "Omit the margin: another one cannot be chosen after the looks."
        raise UsageError(f"the run was planned with a margin of {number(planned)}", where="--margin", hint=hint)
    cases = look.rollouts - look.left_out
    difference = Difference(look.difference or 0.0, look.below, look.above, None, cases, cases, method=REPEATED)
    return Gate(Decision(look.decision), verdict_words(comparison), name, planned, difference)


def _measured(comparison: RunComparison, name: str) -> tuple[Difference, float]:
    """Return the difference in a metric and its mean in A."""
    if name == (comparison.headline or PASSED):
        means = next((score.a for score in comparison.scores if score.name == name), 1.0)
        return comparison.counts.difference, means
    score = next((score for score in comparison.scores if score.name == name), None)
    if score is not None:
        return score.difference, score.a
    names = [comparison.headline or PASSED, *(score.name for score in comparison.scores)]
    hint = suggest(name, names, f"Both have: {', '.join(dict.fromkeys(names))}.")
    raise UsageError(f"the runs have no metric {name!r} in common", where="--metric", hint=hint)


def _not_to_be_judged(comparison: RunComparison, a: Summary, b: Summary, difference: Difference) -> str:
    """Return the reason that rules out any verdict on the runs, regardless of their numbers; empty if there is none."""
    if comparison.data.verdict is False:
        return f"the data differs in {comparison.data.other} of the shared cases"
    runs = comparison.a.manifest, comparison.b.manifest
    if runs[0].suite == runs[1].suite and (differs := grading_differences(*runs)):
        return f"the runs were graded differently ({'; '.join(differs)}); {regrade_command(*runs)} grades both alike"
    for name, summary in (("A", a), ("B", b)):
        if left := summary.left + summary.tally.not_run:
            return f"{name} has not finished: {left} of {summary.planned_cases} rollouts are left"
        broken = summary.tally.broken + summary.tally.undecided
        if broken > LEFT_OUT_SHARE * summary.planned_cases:
            return f"{broken} of {summary.planned_cases} rollouts of {name} broke or are undecided"
    if difference.failed_in:
        return difference.words
    if difference.low is None or difference.high is None:
        return f"{difference.cases} shared cases are too few for an interval"
    return ""


def _weigh(
    difference: Difference, name: str, margin: float | None, widest: float, *, is_rate: bool
) -> tuple[Decision, str]:
    low, high, allowed = difference.low or 0.0, difference.high or 0.0, margin or 0.0
    shown = f"{_signed(difference.value, is_rate)} {name}, 95 % {_bounds(low, high, is_rate)}"
    basis = f"{shown}, over {difference.cases} cases"
    reach = widest if margin is None else allowed
    verdict = decide(low, high, -allowed, -reach)
    if verdict is Decision.WORSE:
        limit = f"the margin of {_size(allowed, is_rate)}" if margin else "zero"
        return verdict, f"{basis}: all of the interval is below {limit}"
    if verdict is Decision.CANNOT_TELL:
        loss = f"a loss of more than {_size(reach, is_rate)}"
        return verdict, f"{basis}: the interval is too wide to exclude {loss}"
    return verdict, basis


def _size(value: float, is_rate: bool) -> str:
    if not is_rate:
        return number(value)
    text = f"{value * 100:.1f}".removesuffix(".0")
    return f"{text} {'point' if text == '1' else 'points'}"


def _signed(value: float, is_rate: bool) -> str:
    return signed(value, lambda size: _size(size, is_rate))


def _bounds(low: float, high: float, is_rate: bool) -> str:
    if not is_rate:
        return bounds(low, high, lambda bound: signed(bound, number))
    return bounds(low * 100, high * 100, lambda bound: signed(bound, lambda size: f"{size:.1f}".removesuffix(".0")))
