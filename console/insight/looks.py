"""Looks at a run as text and as a section of its report. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from console.core.looks import BEST, REACHED, Contender, Look, LookPlan, Rule, Until
from console.core.run import Manifest, Summary
from console.core.statistics.decision import Decision
from console.insight.number_format import (
    bounds,
    count,
    not_spent,
    not_spent_words,
    plural,
    rate,
    score_value,
    signed,
    with_interval,
)
from console.insight.report import Row, Section


def points(share: float) -> str:
    """Format a share or difference in points: `1 point`, `2.5 points`."""
    text = f"{share * 100:.1f}".removesuffix(".0")
    return f"{text} {'point' if text == '1' else 'points'}"


def until_words(until: Until) -> str:
    """Describe the rule that ends a run."""
    if until.rule is Rule.WIDTH:
        return f"until the interval is ± {points(until.half_width)}"
    if until.rule is Rule.BEST:
        return f"until one of {len(until.models)} models is shown to be the best"
    margin = f", margin {points(until.margin)}" if until.margin else ""
    each = ", each category by itself" if until.by_category else ""
    return f"until decided against {until.baseline}{margin}{each}"


def expected_words(plan: LookPlan, calls: float = 0.0) -> str:
    """Describe when the rule is expected to end a run: `decided: −10 points after about 230 cases, …`."""
    if plan.until is None:
        return ""
    each = calls / plan.cases if plan.cases else 0.0

    def size(cases: float) -> str:
        return f"{count(cases)} cases ({count(cases * each)} calls)" if each else f"{count(cases)} cases"

    if plan.until.rule is Rule.WIDTH:
        parts = [
            f"± {points(plan.until.half_width)}: about {size(item.cases)}, {count(item.least)} to {count(item.most)}"
            for item in plan.expected
        ]
        return f"{', '.join(parts) or until_words(plan.until)}, at most {size(plan.cases)}"
    parts = [
        f"{signed(item.difference, points)} after about {size(item.cases)}" for item in plan.expected if item.difference
    ]
    name = "a model is out" if plan.until.rule is Rule.BEST else "decided"
    return f"{name}: {', '.join(parts)}{', ' if parts else ''}equal models: all {size(plan.cases)}"


def look_words(look: Look, until: Until | None, headline: str = "") -> str:
    """Return one look in a line, such as `look 4 of 20 · 200 of 1,000 · B − A −.062 [−.118 −.006] · …`."""
    parts = [f"look {look.number} of {look.of}", f"{count(look.rollouts)} of {count(look.planned)}"]
    parts += [look.category] * bool(look.category)
    if look.standings:
        parts += [contender_words(one, headline) for one in look.standings]
        return " · ".join([*parts, *([look.decision] * (look.decision == BEST))])
    if look.difference is not None:
        parts.append(f"B − A {difference_words(look)}")
        if until is not None and not look.decision:
            parts.append(f"worse beyond {signed(worse_beyond(look, until), rate)}")
    elif look.value is not None:
        parts.append(score_value(look.value, headline) if headline else with_interval(look.value, look.low, look.high))
        if until is not None and until.rule is Rule.WIDTH and look.low is not None and look.high is not None:
            parts.append(f"± {(look.high - look.low) * 50:.2f} points")
    parts += [f"{plural(look.left_out, 'rollout')} left out"] * bool(look.left_out)
    parts += [str(look.decision)] * bool(look.decision)
    return " · ".join(parts)


def contender_words(one: Contender, headline: str = "") -> str:
    """Return a model of a race with its mean or, for one behind the leader, its distance from it."""
    if one.difference is None:
        return f"{one.model} {'–' if one.value is None else score_value(one.value, headline)}"
    out = f" out at look {one.out_at}" if one.out_at else ""
    return f"{one.model} {difference_words(one)}{out}"


def difference_words(look: Look | Contender) -> str:
    """Return B - A with its repeated confidence interval."""

    def show(value: float) -> str:
        return signed(value, rate)

    return f"{show(look.difference or 0.0)} {bounds(look.below, look.above, show)}".rstrip()


def worse_beyond(look: Look, until: Until) -> float:
    """Return the difference below which this look would have shown the run to be worse."""
    return -until.margin - ((look.difference or 0.0) - (look.below or 0.0))


def end_words(summary: Summary, manifest: Manifest) -> str:
    """Describe the end of a run that its looks may end; empty for other runs, and during play."""
    until = manifest.looks.until if manifest.looks is not None else None
    if until is None or summary.state in ("running", "queued", "starting"):
        return ""
    if summary.state == "decided":
        return f"ended early by its plan: {_answer(summary, until)}{_not_played(summary)}"
    if summary.decision and summary.state == "completed":
        early = next((look for look in summary.looks if look.decision), None)
        at = f" at look {early.number} of {early.of}, then played to the end" if early and not early.is_last else ""
        return f"{_answer(summary, until)}{at}"
    how = "stopped by hand" if summary.state == "stopped" else summary.state
    return f"{how}: not decided"


def race_answer(decision: str, until: Until, looks: Sequence[Look]) -> str:
    """Describe the decision of a race about one of its runs."""
    if decision == Decision.WORSE:
        return f"worse than {standings_of(looks)[0].model}"
    models = f"{len(until.models)} models"
    return f"the best of {models}" if decision == BEST else f"inconclusive: no clear best of {models}"


def standings_of(looks: Sequence[Look]) -> tuple[Contender, ...]:
    """Return the newest standings of a race, best first; empty before its first look."""
    return next((look.standings for look in reversed(looks) if look.standings), ())


def _answer(summary: Summary, until: Until) -> str:
    decision = summary.decision
    if until.rule is Rule.BEST:
        return race_answer(decision, until, summary.looks)
    if until.rule is Rule.WIDTH:
        return f"the interval is {decision}" if decision == REACHED else "the interval is still wider than requested"
    words = {Decision.WORSE.value: "worse than", Decision.NOT_WORSE.value: "not worse than"}.get(decision)
    margin = f" (margin {points(until.margin)})" if until.margin else ""
    if words is None:
        return f"inconclusive against {until.baseline}{margin}"
    return f"{words} {until.baseline}{margin}"


def _not_played(summary: Summary) -> str:
    """Return the rollouts and dollars saved by an early end."""
    if not summary.left:
        return ""
    cost = not_spent_words(summary.tally, summary.left)
    return f"; {count(summary.left)} of {plural(summary.planned_cases, 'rollout')}{cost} not played"


def looks_sections(summary: Summary, manifest: Manifest) -> list[Section]:
    """Return sections on the looks of a run that they may end, or on the basis of an unfinished run's score."""
    until = manifest.looks.until if manifest.looks is not None else None
    if until is None or not summary.looks:
        basis = _basis_words(summary)
        return [Section("Basis of the score", lines=(basis,))] if basis else []
    is_compared = until.rule is not Rule.WIDTH
    is_scored = not until.by_category  # their scores are among the metrics
    leader = "leader" if until.rule is Rule.BEST else ""
    rows = tuple(
        Row(
            (
                f"{look.number} of {look.of}",
                f"{count(look.rollouts)} of {count(look.planned)}",
                *(["" if look.value is None else with_interval(look.value, look.low, look.high)] * is_scored),
                *([leader * bool(look.standings) if look.difference is None else difference_words(look)] * is_compared),
                " ".join(filter(None, (look.decision, look.category))),
            )
        )
        for look in _listed_looks(summary.looks)
    )
    lines = [words for words in (end_words(summary, manifest), until_words(until)) if words]
    headings = (
        "look",
        "first",
        *(["score"] * is_scored),
        *(["behind the leader" if leader else "B − A"] * is_compared),
        "decision",
    )
    numbers = frozenset({1, 2 + is_scored} if is_compared else {1})
    return [*_race_sections(summary), Section("Looks", headings, rows, numbers, most=_MOST_LOOKS, lines=tuple(lines))]


_MOST_LOOKS = 40
"""Maximum number of looks in a table."""


def _listed_looks(looks: Sequence[Look]) -> Sequence[Look]:
    """Return the newest looks in order; if there are several questions, the newest look at each."""
    newest = {look.category: look for look in looks}
    return looks[-_MOST_LOOKS:] if len(newest) == 1 else list(newest.values())


def _basis_words(summary: Summary) -> str:
    """Return the rollouts behind the score of a partly played run; empty for other runs."""
    if not summary.is_shown_by_look:
        return ""
    why = "conversations that finished first are not a fair sample"
    if summary.look is None or summary.look.value is None:
        return f"none, because the first rollouts in planned order have not all ended; {why}"
    look = summary.look
    return f"the first {count(look.rollouts)} of {count(look.planned)} rollouts in planned order; beyond them {why}"


def _race_sections(summary: Summary) -> list[Section]:
    standings = standings_of(summary.looks)
    if not standings:
        return []
    rows = [
        Row(
            (
                one.model,
                "" if one.value is None else score_value(one.value, summary.headline),
                "leader" if one.difference is None else difference_words(one),
                f"out at look {one.out_at}" if one.out_at else "",
            )
        )
        for one in standings
    ]
    return [Section("Race", ("model", "score", "behind the leader", ""), tuple(rows), frozenset({1}))]


def sequential_fields(summary: Summary, manifest: Manifest) -> dict[str, Any]:
    """Return the key `sequential` of a run's JSON; empty for a run that looks cannot end."""
    plan = manifest.looks
    if plan is None or plan.until is None:
        return {}
    until = plan.until
    fields = {
        "rule": until.rule.value,
        **({"half_width": until.half_width} if until.rule is Rule.WIDTH else {}),
        **({"models": until.models, "runs": until.rivals} if until.rule is Rule.BEST else {}),
        **({"margin": until.margin, "baseline": until.baseline} if until.rule is Rule.DECIDED else {}),
        "decision": summary.decision or None,
        "ended_early": summary.state == "decided",
        "looks": [_look_fields(look) for look in summary.looks],
        "not_played": summary.left,
        "not_spent_usd": not_spent(summary.tally, summary.left),
    }
    return {"sequential": fields}


def _look_fields(look: Look) -> dict[str, Any]:
    return {name: value for name, value in msgspec.to_builtins(look).items() if name != "only"}
