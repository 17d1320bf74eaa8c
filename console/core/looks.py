"""Interim looks at a live run: which rollouts they cover, fixed in the manifest, and their results.

The rollouts finished at any moment are not a fair sample of a run: quick cases finish first, and failures are often
slow. So a run is looked at only when all of its first n rollouts in planned order have ended, with n fixed before the
first call.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from console.core.fault import UsageError
from console.core.ranges import Amount, Count
from console.core.statistics.decision import ALPHA, SHAPE, Decision


class Rule(StrEnum):
    """Rule by which looks end a run."""

    DECIDED = "decided"
    """End when the run is shown to be worse than its baseline, or to be not worse."""
    WIDTH = "width"
    """End when the interval of the headline is narrow enough."""
    BEST = "best"
    """End when the run is shown to be worse than the leader of its race, or all others are."""


class Until(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rule by which looks may end a run."""

    rule: Rule
    half_width: Amount = 0.0
    """For `width`: half width of the interval that ends the run."""
    margin: Amount = 0.0
    """For `decided`: tolerated loss."""
    baseline: str = ""
    """For `decided`: name of the baseline run."""
    baseline_digest: str = ""
    """Digest of its results, without which the looks of a resumed run would not be those planned."""
    by_category: bool = False
    """For `decided`: decide each category separately."""
    models: tuple[str, ...] = ()
    """For `best`: models of the race."""
    rivals: tuple[str, ...] = ()
    """For `best`: name of the run of each model, as soon as it has one."""
    alpha: Amount = ALPHA
    shape: Amount = SHAPE


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that has looks of its own: the whole run or one category."""

    at: tuple[Count, ...]
    """For each look: number of graded rollouts, in the whole planned order, that must have ended."""
    rollouts: tuple[Count, ...] = ()
    """Number of those rollouts that belong to this question; empty if all do."""
    shares: tuple[Amount, ...] = ()
    """Share of the question's independent units at each look; empty if nothing is decided."""
    constant: Amount = 0.0
    """c of the boundary c * share^(shape - 1/2) at the full alpha; 0 if nothing is decided."""
    category: str = ""
    """Category of the question; empty for the whole run."""


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """Forecast of the cases a run plays before its looks end it."""

    cases: Amount
    difference: Amount | None = None
    """Assumed difference of B; None for a rule without a baseline."""
    least: Amount = 0.0
    """For `width`: the fewest and the most cases needed at the rates of earlier runs."""
    most: Amount = 0.0


class LookPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """Order of the cases, and the points at which looks are taken; part of the manifest."""

    questions: tuple[Question, ...]
    """The first one covers the whole run."""
    seed: Count | None = None
    """Seed of the random order, stratified by category; None for the order of the suite."""
    digest: str = ""
    """Digest of the planned order."""
    until: Until | None = None
    """None if the looks end nothing."""
    expected: tuple[Expected, ...] = ()
    """Forecast of when the rule ends the run, made before the first call."""
    rollouts: Count = 1
    """Rollouts per case."""

    @property
    def cases(self) -> int:
        """Total number of graded cases."""
        return self.questions[0].at[-1] // self.rollouts


class Contender(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One model of a race at a look."""

    model: str
    value: Amount | None = None
    """Mean of the model over the rollouts looked at."""
    difference: Amount | None = None
    """Mean of the model minus the leader's, case by case; None for the leader."""
    below: Amount | None = None
    """Bounds of its repeated confidence interval."""
    above: Amount | None = None
    out_at: Count = 0
    """Number of the look that has shown it to be worse; 0 if it is still in the race."""


class Look(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Result of one look."""

    number: Count
    """Number of the look at its question, from 1."""
    of: Count
    rollouts: Count
    """Number of planned rollouts of the question that were looked at, always its first ones."""
    planned: Count
    """Total number of graded rollouts of the question."""
    value: Amount | None = None
    """Headline of the run over these rollouts; None if nothing was graded."""
    low: Amount | None = None
    high: Amount | None = None
    left_out: Count = 0
    """Number of broken, undecided and unplayed rollouts among the first `rollouts`."""
    difference: Amount | None = None
    """B - A over these rollouts, if the question is whether B is worse."""
    below: Amount | None = None
    """Bounds of its repeated confidence interval."""
    above: Amount | None = None
    decision: str = ""
    """Decision of this look; empty if it decided nothing, or had nothing to decide."""
    category: str = ""
    """Category of the question; empty for the whole run."""
    only: tuple[str, ...] = ()
    """Categories of the rollouts, if the look does not cover all categories of the run."""
    standings: tuple[Contender, ...] = ()
    """In a race, all its models, best first, once all remaining ones have reached this look."""

    @property
    def is_last(self) -> bool:
        return self.number == self.of


REACHED = "narrow enough"
"""Decision for a run that has reached its width."""
BEST = "best"
"""Decision for the run that has won a race."""


def latest_look(looks: Iterable[Look], category: str = "") -> Look | None:
    """Return the newest look at a question."""
    return next((look for look in reversed(list(looks)) if look.category == category), None)


def decision_of(looks: Sequence[Look]) -> str:
    """Return the decision of the looks at a run; with several categories, the worst one."""
    decided = [look.decision for look in looks if look.decision]
    order = (Decision.WORSE.value, Decision.CANNOT_TELL.value)
    return next((word for word in order if word in decided), decided[-1] if decided else "")


class Margin(msgspec.Struct, frozen=True):
    """Tolerated loss."""

    value: float
    is_points: bool = False
    """True if it was given in points or percent, which apply to rates only."""


def read_margin(text: str | None) -> Margin | None:
    """Parse a margin: `1pt`, `1%`, `0.01`, or a plain number for scores that are not rates.

    Raises:
        UsageError: the margin is negative or has another format.
    """
    if text is None:
        return None
    margin = _points(text)
    if margin is None:
        raise UsageError(f"{text!r} is not a margin", where="--margin", hint="Write 1pt, 0.01, or a score difference.")
    return margin


def _points(text: str) -> Margin | None:
    stripped = text.strip().lower()
    bare = stripped.removesuffix("pts").removesuffix("pt").removesuffix("%").strip()
    try:
        value = float(bare)
    except ValueError:
        return None
    if not 0 <= value < float("inf"):
        return None
    return Margin(value / 100, True) if bare != stripped else Margin(value)


def read_until(text: str, *, margin: str = "", baseline: str = "", by: str = "") -> Until:
    """Parse the rule of `--until`: `decided`, `best`, or a half width such as `2pt`.

    Raises:
        UsageError: another text, or an option that cannot be combined with the rule.
    """
    if text == Rule.BEST:
        flags = (("--margin", margin), ("--by", by), ("--baseline", baseline))
        if given := next((flag for flag, value in flags if value), ""):
            raise UsageError("cannot be combined with --until best", where=given, hint="Omit it.")
        return Until(Rule.BEST)
    if text != Rule.DECIDED:
        return Until(Rule.WIDTH, half_width=_half_width(text, margin, by))
    if by and by != "category":
        where, hint = "--by", "Write --until decided --by category, or omit it."
        raise UsageError(f"{by!r} cannot be combined with --until {text}", where=where, hint=hint)
    if not baseline:
        raise UsageError("needs a run to compare with", where="--until decided", hint="Add --baseline RUN.")
    allowed = read_margin(margin or None)
    return Until(Rule.DECIDED, margin=allowed.value if allowed else 0.0, baseline=baseline, by_category=bool(by))


def _half_width(text: str, margin: str, by: str) -> float:
    width = _points(text)
    if width is None or not 0 < width.value < 0.5:
        hint = "Write decided, best, or how far the interval may reach to each side: 2pt or 0.02."
        raise UsageError(f"{text!r} is not a rule for ending a run", where="--until", hint=hint)
    if margin or by:
        where = "--margin" if margin else "--by"
        raise UsageError("needs --until decided", where=where, hint="Omit it.")
    return width.value
