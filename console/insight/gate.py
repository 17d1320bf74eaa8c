"""Whether a run is worse than another, as a pull request must know it: no, yes, or it cannot be told. Pure.

B is worse when the whole interval of the difference lies below the margin, and not worse when all of it lies above; in
between nothing is proven. Without a margin nothing is granted: any loss beyond chance counts, and an interval that
leaves room for a large one proves nothing either. A run that has not ended, or with many broken cases, is not judged.
"""

from dataclasses import dataclass
from enum import StrEnum

from console.core.fault import UsageError
from console.core.run import Summary
from console.core.statistics.paired import Difference
from console.core.suggestion import nearest
from console.insight.comparison import RunComparison
from console.insight.number_format import bounds, number, signed

TOO_WIDE = 0.05
"""Without a margin, the loss (of a rate; of other scores, as a share of A's mean) that an interval must exclude."""
BROKEN_SHARE = 0.05
"""A run with a larger share of broken and undecided rollouts is not judged."""
PASSED = "passed"
"""The metric of runs that no score stands for."""


class GateVerdict(StrEnum):
    """What is said of B."""

    NOT_WORSE = "not worse"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Margin:
    """How much worse B may be."""

    value: float
    is_points: bool = False
    """Whether it was given in points or percent, which only rates have."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict and what it rests on."""

    verdict: GateVerdict
    sentence: str
    """Why, in one sentence. Parts may be foreign text."""
    metric: str
    margin: float | None
    difference: Difference | None
    """None when the metric is not in both runs."""


def read_margin(text: str | None) -> Margin | None:
    """Read `1pt`, `1%`, `0.01`, or a plain number for scores that are no rates.

    Raises:
        UsageError: it is none of them, or negative.
    """
    if text is None:
        return None
    stripped = text.strip().lower()
    bare = stripped.removesuffix("pts").removesuffix("pt").removesuffix("%").strip()
    try:
        value = float(bare)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{text!r} is no margin", where="--margin", hint="Write 1pt, 0.01, or a number of the score.")
    return Margin(value / 100, True) if bare != stripped else Margin(value)


def judge(
    comparison: RunComparison, a: Summary, b: Summary, *, margin: Margin | None = None, metric: str | None = None
) -> Gate:
    """Judge whether B is worse than A.

    Args:
        comparison: of both on the cases they share.
        a: the state of A.
        b: the state of B.
        margin: how much worse B may be; None: not at all, see `TOO_WIDE`.
        metric: `passed` or the name of a score, more being better; None: what the runs are known by.

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
    why = _not_to_be_judged(comparison, a, b, difference)
    if why:
        return Gate(GateVerdict.CANNOT_TELL, f"cannot tell: {why}", name, allowed, difference)
    widest = TOO_WIDE if is_rate else TOO_WIDE * abs(mean)
    verdict, words = _weigh(difference, name, allowed, widest, is_rate=is_rate)
    return Gate(verdict, f"{verdict}: {words}", name, allowed, difference)


def _measured(comparison: RunComparison, name: str) -> tuple[Difference, float]:
    """Return the difference in a metric, and A's mean of it."""
    if name == (comparison.headline or PASSED):
        means = next((score.a for score in comparison.scores if score.name == name), 1.0)
        return comparison.counts.difference, means
    score = next((score for score in comparison.scores if score.name == name), None)
    if score is not None:
        return score.difference, score.a
    names = [comparison.headline or PASSED, *(score.name for score in comparison.scores)]
    close = nearest(name, names)
    hint = f"Did you mean {close}?" if close else f"Both have: {', '.join(dict.fromkeys(names))}."
    raise UsageError(f"the runs have no metric {name!r} in common", where="--metric", hint=hint)


def _not_to_be_judged(comparison: RunComparison, a: Summary, b: Summary, difference: Difference) -> str:
    """Return why nothing can be said, before any number is looked at; empty: nothing stands against it."""
    if comparison.data.verdict is False:
        return f"the data differ in {comparison.data.other} of the shared cases"
    for name, summary in (("A", a), ("B", b)):
        left = summary.planned - summary.tally.finished
        if left > 0:
            return f"{name} has not ended, {left} of {summary.planned} rollouts are left"
        broken = summary.tally.broken + summary.tally.undecided
        if broken > BROKEN_SHARE * summary.planned:
            return f"{broken} of {summary.planned} rollouts of {name} broke or are undecided"
    if difference.low is None or difference.high is None:
        return f"{difference.cases} shared cases are too few for an interval"
    return ""


def _weigh(
    difference: Difference, name: str, margin: float | None, widest: float, *, is_rate: bool
) -> tuple[GateVerdict, str]:
    low, high, allowed = difference.low or 0.0, difference.high or 0.0, margin or 0.0
    shown = f"{_signed(difference.value, is_rate)} {name}, 95 % {_bounds(low, high, is_rate)}"
    basis = f"{shown}, over {difference.cases} cases"
    limit = f"the margin of {_size(allowed, is_rate)}" if margin else "zero"
    if high < -allowed:
        return GateVerdict.WORSE, f"{basis}: all of the interval is below {limit}"
    reach = widest if margin is None else allowed
    if low < -reach:
        loss = f"a loss of more than {_size(reach, is_rate)}"
        return GateVerdict.CANNOT_TELL, f"{basis}: the interval is too wide to exclude {loss}"
    return GateVerdict.NOT_WORSE, basis


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
