"""Interim looks at a run: planned before the first call, and taken while it plays."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from console.core.case import Case, Slot, case_digest
from console.core.experiment import Experiment
from console.core.fault import UsageError
from console.core.looks import REACHED, Expected, Look, LookPlan, Question, Rule, Until, decision_of
from console.core.outcome import Outcome, Verdict
from console.core.record import Started
from console.core.run import Manifest
from console.core.statistics.decision import ALPHA, LEFT_OUT_SHARE, SHAPE, Decision, decide
from console.core.statistics.intervals import WEIGHTED, Interval, rate_interval, score_interval
from console.core.statistics.power import Detectable
from console.core.statistics.sample import Observation, sample_of
from console.core.statistics.sequential import (
    LEAST_CASES,
    LEAST_CLUSTERS,
    Boundary,
    cases_for_width,
    even_looks,
    expected_cases,
    is_narrow,
    width_looks,
)
from console.core.statistics.stratified import FLIP, whole_effect
from console.core.tally import Counted, RunFold
from console.store.runs import RunFolder
from console.suites.planned_order import PlannedSlots, units_in_order
from console.suites.suite import Result, Suite

FORESEEN = -0.1
"""Difference for which the number of required cases is forecast."""
Baseline = Mapping[Slot, Verdict]
"""Graded results of the run to compare with."""


# Planning ------------------------------------------------------------------------------------------------------------


def plan_looks(ordered: Sequence[Case], rollouts: int, seed: int | None, until: Until | None) -> LookPlan | None:
    """Return the looks of a run, or None if nothing is graded.

    Args:
        ordered: its cases, as from `planned_order`.
        rollouts: rollouts per case.
        seed: seed of the order.
        until: rule for ending the run early; None to look without ending it.
    """
    graded = [case for case in ordered if case.graded]
    if not graded:
        return None
    digest = hashlib.sha256("\0".join(case.id for case in graded).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    plan = _plan(graded, rollouts, seed, digest, until)
    return msgspec.structs.replace(plan, rollouts=rollouts)


def _plan(graded: Sequence[Case], rollouts: int, seed: int | None, digest: str, until: Until | None) -> LookPlan:
    if until is None:
        at = tuple(cases for cases, _ in even_looks([1] * (len(graded) * rollouts)))
        return LookPlan((Question(at),), seed, digest)
    sizes = [len(unit) for unit in units_in_order(graded)]
    if until.rule is Rule.WIDTH:
        return LookPlan((Question(tuple(look * rollouts for look in width_looks(sizes))),), seed, digest, until)
    if not until.by_category:
        return LookPlan((_question(sizes, rollouts, until),), seed, digest, until)
    whole = Question(tuple(cases * rollouts for cases, _ in even_looks(sizes)))
    categories = dict.fromkeys(case.category for case in graded)
    return LookPlan(
        (whole, *(_question_of_category(graded, name, rollouts, until) for name in categories)), seed, digest, until
    )


def _question(sizes: Sequence[int], rollouts: int, until: Until) -> Question:
    looks = even_looks(sizes, least_units=LEAST_CLUSTERS, least_cases=LEAST_CASES)
    shares = tuple(share for _, share in looks)
    constant = Boundary(shares, until.alpha, until.shape).constant
    return Question(tuple(cases * rollouts for cases, _ in looks), shares=shares, constant=constant)


def _question_of_category(graded: Sequence[Case], category: str, rollouts: int, until: Until) -> Question:
    own = [case for case in graded if case.category == category]
    question = _question([len(unit) for unit in units_in_order(own)], rollouts, until)
    places = [number for number, case in enumerate(graded, 1) if case.category == category]
    at = tuple(places[own_count // rollouts - 1] * rollouts for own_count in question.at)
    return msgspec.structs.replace(question, at=at, rollouts=question.at, category=category)


def boundary_of(plan: LookPlan, question: Question, level: float = 1.0) -> Boundary:
    """Return the boundary of a question at a share of alpha."""
    until = plan.until
    alpha, shape = (until.alpha, until.shape) if until else (ALPHA, SHAPE)
    if until is not None and until.rule is Rule.BEST:
        level /= len(until.models) - 1  # each is compared with the leader
    return Boundary(question.shares or (1.0,), alpha * level, shape)


def forecast_ends(plan: LookPlan, detectable: Detectable, earlier: Interval | None) -> LookPlan:
    """Add to a plan the forecast of when its rule ends the run.

    Args:
        plan: a plan with a rule.
        detectable: variability between two runs of these cases, from earlier runs.
        earlier: pass rate of the baseline, or of the newest run of the suite; None if any rate is possible.
    """
    until = plan.until
    if until is None:
        return plan
    asked = plan.questions[1:] or plan.questions
    if until.rule is Rule.WIDTH:
        at = _cases_at(plan, asked[0])
        rates = [earlier.value, earlier.low or 0.0, earlier.high or 1.0] if earlier is not None else [0.5, 0.02, 0.5]
        rates += [0.5] * (rates[1] < 0.5 < rates[2])
        cases = [cases_for_width(rate, until.half_width, at) for rate in rates]
        return msgspec.structs.replace(plan, expected=(Expected(cases[0], None, min(cases), max(cases)),))
    share = detectable.within_share
    expected = tuple(
        Expected(
            sum(
                expected_cases(
                    list(zip(_cases_at(plan, question), question.shares, strict=True)),
                    boundary_of(plan, question, 1 / len(asked)),
                    effect + until.margin,
                    max(detectable.discordance, abs(effect)) * (1 - share + share / plan.rollouts) - effect**2,
                )
                for question in asked
            ),
            effect,
        )
        for effect in (FORESEEN, 0.0)
    )
    return msgspec.structs.replace(plan, expected=expected)


def _cases_at(plan: LookPlan, question: Question) -> list[int]:
    """Return the cases of a question at each of its looks."""
    return [place // plan.rollouts for place in question.rollouts or question.at]


def read_baseline(folder: RunFolder, cases: Iterable[Case], rollouts: int) -> tuple[Baseline, str]:
    """Return the results of the run to compare with, and their digest.

    Raises:
        UsageError: it is still running, or lacks results of these cases.
    """
    where = "--baseline"
    if folder.is_live:
        raise UsageError(f"{folder.name} is still running", where=where, hint="Wait until it has ended.")
    fold, _ = folder.fold()
    graded = {case.id: case for case in cases if case.graded}
    slots = [(case_id, rollout) for case_id in graded for rollout in range(rollouts)]
    results = {
        slot: ended.verdict
        for slot in slots
        if (ended := fold.latest.get(slot)) is not None and ended.verdict.outcome.is_graded
    }
    if len(results) < (1 - LEFT_OUT_SHARE) * len(slots):
        raise UsageError(
            f"{folder.name} has results of {len(results):,} of the {len(slots):,} rollouts to be played",
            where=where,
            hint="Choose a finished run of the same suite and cases, with as many rollouts.",
        )
    other = [case.id for case in _started(folder) if case.id in graded and not _is_same(case, graded[case.id])]
    if other:
        raise UsageError(
            f"the data of {folder.name} differs in {len(other)} cases, such as {other[0]}",
            where=where,
            hint="Choose a run of the same data.",
        )
    text = msgspec.json.encode([(slot, verdict.outcome, sorted(verdict.scores.items())) for slot, verdict in
                                sorted(results.items())])  # fmt: skip
    return results, hashlib.sha256(text).hexdigest()[:16]


def _started(folder: RunFolder) -> Iterator[Case]:
    return (record.case for record in folder.reader().iter_all() if isinstance(record, Started))


def _is_same(case: Case, planned: Case) -> bool:
    return case_digest(case) == case_digest(planned)


def headline_value(verdict: Verdict, headline: str) -> float | None:
    """Return a graded rollout's contribution to the headline: its score, or 1 if it passed."""
    return verdict.scores.get(headline) if headline else (1.0 if verdict.outcome is Outcome.PASSED else 0.0)


# Looking -------------------------------------------------------------------------------------------------------------


class Looks:
    """Takes the looks of a run, each once its rollouts have ended, and reports their decision."""

    def __init__(
        self,
        manifest: Manifest,
        cases: Sequence[Case],
        suite: Suite,
        taken: Sequence[Look],
        *,
        baseline: Baseline,
        decides: bool = True,
    ) -> None:
        """Prepare the looks that have not been taken.

        Args:
            manifest: the run's manifest.
            cases: its cases in planned order.
            suite: its suite.
            taken: looks that an earlier session took.
            baseline: results of the run to compare with.
            decides: False to look without ending anything.
        """
        self._manifest, self._suite, self._baseline = manifest, suite, baseline
        self._largest = manifest.largest_change(manifest.headline)
        self._plan = plan = manifest.looks
        self._until = plan.until if plan is not None and decides else None
        self._case = {case.id: case for case in cases}
        self._slots = PlannedSlots(cases, manifest.rollouts, by_case=plan is not None and plan.seed is not None)
        self._categories = list(dict.fromkeys(case.category for case in cases if case.graded))
        done = {(look.category, look.number) for look in taken}
        self._due = sorted(
            (at, place, number)
            for place, question in enumerate(plan.questions if plan is not None else ())
            for number, at in enumerate(question.at, 1)
            if (question.category, number) not in done
        )
        self._due.reverse()
        self._is_open = bytearray(len(self._slots))
        """1 for each rollout, in planned order, that has not ended yet."""
        self._settled = 0
        """Number of leading rollouts in planned order that have all ended."""
        self._taken = list(taken)
        self.decided_categories = {
            look.category
            for look in taken
            if decides and look.category and look.decision not in ("", Decision.CANNOT_TELL)
        }
        """Categories that need no more answers."""
        self.decision = decision_of(taken) if self._is_over() else ""

    def open(self, slots: Iterable[Slot]) -> None:
        """Set the rollouts that are still expected to end; all others have ended."""
        for slot in slots:
            if (place := self._slots.place(slot)) is not None:
                self._is_open[place] = 1

    def settle(self, slot: Slot) -> None:
        """Record that a rollout has ended."""
        if (place := self._slots.place(slot)) is not None:
            self._is_open[place] = 0

    def judge(self, look: Look) -> None:
        """Apply the race's result at one of this run's looks."""
        self._taken.append(look)
        if self._until is not None:
            self.decision = look.decision

    @property
    def words(self) -> str:
        """Decision of the looks, for the record of the run's end."""
        last = self._taken[-1]
        return f"{self.decision} at look {last.number} of {last.of}, after {last.rollouts:,} of {last.planned:,}"

    def take(self, fold: RunFold) -> list[Look]:
        """Return the looks that have become possible, in planned order; none after the decision."""
        looks: list[Look] = []
        while self._due and not self.decision and self._is_settled(self._due[-1][0]):
            _, place, number = self._due.pop()
            question = self._questions[place]
            if question.category in self.decided_categories or (not question.category and self.decided_categories):
                continue
            looks.append(self._look(fold, question, number))
            self._note(looks, fold)
        return looks

    def beyond(self, look: Look, fold: RunFold) -> tuple[Slot, ...]:
        """Return the graded rollouts that have started but are not part of the deciding look."""
        if not look.decision or look.is_last or look.category:
            return ()
        seen = set(self._slots[: look.rollouts])
        started = dict.fromkeys((*fold.latest, *fold.unfinished))
        return tuple(slot for slot in started if slot not in seen and self._case[slot[0]].graded)

    @property
    def may_end_run(self) -> bool:
        return self._until is not None

    def may_start(self, slot: Slot, at_once: int) -> bool:
        """Return whether a rollout should start now: the next look may be the last, and setup may delay it for long."""
        if not self._due:
            return True
        soon = self._due[-2:][0][0]
        return (self._slots.place(slot) or 0) < max(soon, self._settled + 2 * at_once)

    @property
    def _questions(self) -> Sequence[Question]:
        return self._plan.questions if self._plan is not None else ()

    def _is_settled(self, count: int) -> bool:
        while self._settled < count and not self._is_awaited(self._settled):
            self._settled += 1
        return self._settled >= count

    def _is_awaited(self, place: int) -> bool:
        return bool(self._is_open[place]) and self._case[self._slots[place][0]].category not in self.decided_categories

    def _note(self, looks: list[Look], fold: RunFold) -> None:
        """Process the newest look: a category that is decided passes its share of alpha on to the others."""
        look = looks[-1]
        self._taken.append(look)
        if look.decision and look.category and look.decision != Decision.CANNOT_TELL:
            self.decided_categories.add(look.category)
            for question in self._questions:
                last = next((old for old in reversed(self._taken) if old.category == question.category), None)
                is_open = question.category and question.category not in self.decided_categories
                if is_open and last is not None:
                    again = self._look(fold, question, last.number)
                    if again.decision not in ("", last.decision):
                        looks.append(again)
                        self._note(looks, fold)
        if self._is_over():
            self.decision = decision_of(self._taken)

    def _is_over(self) -> bool:
        """Return whether every question is decided."""
        if self._until is None:
            return False
        asked = {question.category for question in self._questions if question.category} or {""}
        return bool(asked) and asked <= {look.category for look in self._taken if look.decision}

    def _look(self, fold: RunFold, question: Question, number: int) -> Look:
        count = question.at[number - 1]
        seen = Counter(self._case[case].category for case, _ in islice(self._slots, count))
        rollouts = seen[question.category] if question.category else count
        counted = 0

        def graded() -> Iterator[tuple[Slot, Counted]]:
            nonlocal counted
            counted = 0
            for rollout in self._graded(fold, question, count):
                counted += 1
                yield rollout

        interval = self._headline(graded)
        if self._manifest.headline and any(self._value(ended.verdict) is None for _, ended in graded()):
            interval = None  # it would rest on those that have the score
        own = question.rollouts or question.at
        is_partial = not question.category and len(seen) < len(self._categories)
        look = Look(
            number,
            len(question.at),
            rollouts,
            own[-1],
            value=interval.value if interval else None,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            left_out=rollouts - counted,
            category=question.category,
            only=tuple(name for name in self._categories if name in seen) if is_partial else (),
        )
        if self._until is None:
            return look
        if self._until.rule is Rule.WIDTH:
            return self._with_width(look, interval)
        if self._until.rule is Rule.DECIDED and question.shares:
            experiment = self._manifest.experiment
            if experiment is not None and experiment.strata:
                return self._with_effect(look, question, dict(graded()), experiment)
            return self._with_difference(look, question, dict(graded()))
        return look

    def _graded(self, fold: RunFold, question: Question, count: int) -> Iterator[tuple[Slot, Counted]]:
        """Yield the graded rollouts that concern a question, from the first part of the planned order.

        They are not cached, as the last look at a large run includes all of them.
        """
        for slot in islice(self._slots, count):
            ended = fold.latest.get(slot)
            is_asked = not question.category or self._case[slot[0]].category == question.category
            if is_asked and ended is not None and ended.verdict.outcome.is_graded:
                yield slot, ended

    def _headline(self, graded: Callable[[], Iterator[tuple[Slot, Counted]]]) -> Interval | None:
        """Return the headline over graded rollouts, as a report of them would."""
        headline = self._manifest.headline
        if self._until is not None and self._until.rule is Rule.WIDTH and not headline:
            results = [self._result(slot, ended) for slot, ended in graded()]
            report = self._suite.report(results, self._manifest.setting)
            metric = report.metrics[0] if report.metrics else None
            if metric is not None and metric.unit == "rate" and metric.value is not None:
                return Interval(metric.value, metric.low, metric.high, method=metric.method)
        sample = sample_of(self._observation(slot, value) for slot, ended in graded()
                           if (value := self._value(ended.verdict)) is not None)  # fmt: skip
        return score_interval(sample, self._manifest.headline_scale) if headline else rate_interval(sample)

    def _value(self, verdict: Verdict) -> float | None:
        return headline_value(verdict, self._manifest.headline)

    def _observation(self, slot: Slot, value: float) -> Observation:
        case = self._case[slot[0]]
        return Observation(case.id, value, case.category, case.cluster)

    def _result(self, slot: Slot, ended: Counted) -> Result:
        case = self._case[slot[0]]
        return Result(case.id, case.category, slot[1], ended.verdict, case.cluster)

    def _with_width(self, look: Look, interval: Interval | None) -> Look:
        assert self._until is not None
        is_complete = not (interval is not None and interval.method == WEIGHTED and look.only)
        is_reliable = look.left_out <= LEFT_OUT_SHARE * look.rollouts
        if is_complete and is_reliable and is_narrow(interval, self._until.half_width):
            return msgspec.structs.replace(look, decision=REACHED)
        return msgspec.structs.replace(look, decision=Decision.CANNOT_TELL.value) if look.is_last else look

    def _with_effect(
        self, look: Look, question: Question, graded: Mapping[Slot, Counted], experiment: Experiment
    ) -> Look:
        """Return a look at an experiment, with its effect on the whole recorded run and the conclusion."""
        assert self._until is not None
        assert self._plan is not None
        control, arms = experiment.control, len(experiment.arms)
        changed = next(number for number, arm in enumerate(experiment.arms) if arm or arms == 1)
        now, unchanged = (
            self._case_means({slot: ended.verdict for slot, ended in graded.items() if slot[1] % arms == arm})
            for arm in (changed, control)
        )
        effect = whole_effect(
            experiment.drawn(
                now,
                self._case_means(self._baseline) if control is None else unchanged,
                {case.id: (case.category, case.cluster) for case in self._case.values()},
            ),
            experiment.luck if control is None else 0.0,
            flip=0.0 if self._manifest.headline else FLIP,
            largest=self._largest,
            boundary=boundary_of(self._plan, question),
            number=look.number,
        )
        decision = Decision.CANNOT_TELL
        if effect is not None:
            look = msgspec.structs.replace(look, difference=effect.value, below=effect.low, above=effect.high)
            if look.left_out <= LEFT_OUT_SHARE * look.rollouts:
                decision = decide(effect.low, effect.high, -self._until.margin, -self._until.margin)
        if decision is Decision.CANNOT_TELL and not look.is_last:
            return look
        return msgspec.structs.replace(look, decision=decision.value)

    def _case_means(self, verdicts: Mapping[Slot, Verdict]) -> dict[str, float]:
        """Return the mean of each case over its rollouts."""
        values: dict[str, list[float]] = {}
        for (case, _), verdict in verdicts.items():
            if (value := self._value(verdict)) is not None:
                values.setdefault(case, []).append(value)
        return {case: math.fsum(means) / len(means) for case, means in values.items()}

    def _with_difference(self, look: Look, question: Question, graded: Mapping[Slot, Counted]) -> Look:
        """Return a look with the difference from the baseline and the conclusion."""
        assert self._until is not None
        assert self._plan is not None
        changes = [
            self._observation(slot, in_b - in_a)
            for slot, ended in graded.items()
            if slot in self._baseline
            and (in_a := self._value(self._baseline[slot])) is not None
            and (in_b := self._value(ended.verdict)) is not None
        ]
        look = msgspec.structs.replace(look, left_out=look.rollouts - len(changes))
        sample = sample_of(changes)
        decision = Decision.CANNOT_TELL
        if sample.cluster_count > 1:
            open_questions = sum(bool(other.category) for other in self._questions) - len(self.decided_categories)
            boundary = boundary_of(self._plan, question, 1 / max(open_questions, 1))
            low, high = boundary.interval(sample, look.number)
            low, high = max(-self._largest, low), min(self._largest, high)
            look = msgspec.structs.replace(look, difference=sample.mean, below=low, above=high)
            if look.left_out <= LEFT_OUT_SHARE * look.rollouts:
                decision = decide(low, high, -self._until.margin, -self._until.margin)
        if decision is Decision.CANNOT_TELL and not look.is_last:
            return look
        return msgspec.structs.replace(look, decision=decision.value)
