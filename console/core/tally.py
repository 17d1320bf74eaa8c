"""Folds journal records into counts: the single source of a run's numbers, live, in lists and offline."""

from collections.abc import Iterable, Iterator, MutableMapping
from sys import intern
from typing import Any, Protocol, TypeVar, cast

import msgspec

from console.core.case import Key, Slot
from console.core.case_counts import CaseCounts
from console.core.fault import FaultKind
from console.core.looks import Look, decision_of, latest_look
from console.core.outcome import SETUP_DEPENDENCY, Outcome, Verdict
from console.core.record import (
    CLOCK,
    SYMPTOMS,
    AnyRecord,
    Asked,
    Batched,
    Closed,
    Embedded,
    Finished,
    Looked,
    Lost,
    Opened,
    Started,
    Steered,
    Tried,
    call_notation,
)
from console.core.run import Manifest, Summary, Tally, batch_terms
from console.core.spending import RoleSpending, add_call
from console.core.statistics.intervals import Interval, score_interval
from console.core.statistics.sample import Observation, sample_of
from console.core.wait import batch_words

RecordT = TypeVar("RecordT", bound=AnyRecord)

_RECENT, _FEWEST = 50, 3
"""Number of endings over which the recent pace is averaged, and the fewest that give one."""
MOST_SHARED = 1_000
"""Maximum number of interned verdicts, and of interned score sums."""
_MOST_SCORES = 8
"""Verdicts with more named scores are not interned."""
_COUNTED = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.BROKEN: "broken",
    Outcome.UNDECIDED: "undecided",
    Outcome.NOT_RUN: "not_run",
}
_SETUP_COUNTED = {
    Outcome.PASSED: "setup",
    Outcome.FAILED: "setup",
    Outcome.BROKEN: "broken_setup",
    Outcome.UNDECIDED: "broken_setup",
    Outcome.NOT_RUN: "given_up_setup",
}


CUT, WRITTEN = "cut:", "written_call"
"""Reasons of failed answers that were cut off, with `length` or `content_filter`, or that have a call as text."""
_NO_SCORES: dict[str, float] = {}
_NO_NUMBERS: dict[str, Any] = {}
_VERDICTS: dict[tuple[Outcome, str | None, tuple[tuple[str, float], ...]], Verdict] = {}
_SUMS: dict[tuple[float, int], tuple[float, int]] = {}


def plain_verdict(outcome: Outcome, reason: str | None, scores: dict[str, float] = _NO_SCORES) -> Verdict:
    """Return a verdict without messages and details, interned so that rollouts with equal endings share it."""
    if len(scores) > _MOST_SCORES:
        return Verdict(outcome, reason, scores=scores, detail=_NO_NUMBERS)
    ending = (outcome, reason, tuple(scores.items()))
    verdict = _VERDICTS.get(ending)
    if verdict is None:
        if len(_VERDICTS) == MOST_SHARED:  # reasons and scores may all differ
            _VERDICTS.clear()
        verdict = _VERDICTS[ending] = Verdict(outcome, reason, scores=scores or _NO_SCORES, detail=_NO_NUMBERS)
    return verdict


def _shared_sum(total: tuple[float, int]) -> tuple[float, int]:
    """Return the interned equal pair of sum and number; most cases share a few."""
    if len(_SUMS) == MOST_SHARED:
        _SUMS.clear()
    return _SUMS.setdefault(total, total)


class Counted(Protocol):
    """The fields of a finished rollout needed for counts."""

    @property
    def key(self) -> Key: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def cut(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def server(self) -> str: ...
    @property
    def written(self) -> str: ...


class Ended(Counted, Protocol):
    """The fields of a finished rollout needed for reports: a `Finished`, or a reader's condensed form."""

    @property
    def at(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def input_tokens(self) -> int: ...
    @property
    def output_tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def calls(self) -> int: ...


def group_reason(ended: Counted) -> str:
    """Return the reason under which lists and tables count a rollout: the verdict's, or what it does not apply to.

    A failed answer that was cut off, or has a call as text, is grouped by that.
    """
    if ended.verdict.outcome is Outcome.FAILED and ended.cut:
        return f"{CUT}{ended.cut}"
    if ended.verdict.outcome is Outcome.FAILED and call_notation(ended.written):
        return WRITTEN
    return ended.verdict.reason or ""


def has_grade(ended: Counted | None) -> bool:
    """Return whether the ending of a rollout is a grade, so that no later one counts."""
    return ended is not None and ended.verdict.outcome.is_graded


class RunFold(msgspec.Struct):
    """Counts over the attempt at every rollout that counts: the latest, or the first that was graded.

    Apply records in journal order.
    """

    tally: Tally = msgspec.field(default_factory=Tally)
    categories: dict[str, Tally] = msgspec.field(default_factory=dict[str, Tally])
    reasons: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    cut: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    served: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    servers: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    written: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    offered: int = 0
    called: int = 0
    latest: MutableMapping[Slot, Counted] = msgspec.field(default_factory=dict[Slot, Counted])
    """The ending of each rollout that counts."""
    rerolled: set[Key] = msgspec.field(default_factory=set[Key])
    """Attempts at rollouts that had been graded, made by versions that allowed it; paid for, but never counted."""
    unfinished: dict[Slot, Key] = msgspec.field(default_factory=dict[Slot, Key])
    unsettled: dict[Key, dict[str, RoleSpending]] = msgspec.field(default_factory=dict[Key, dict[str, RoleSpending]])
    """Spending by role in conversations that have not ended: already paid for, but without a result."""
    category_of: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    ungraded: set[str] = msgspec.field(default_factory=set[str])
    sessions: int = 0
    lost: int = 0
    """Number of times a worker was lost during a conversation."""
    closed: Closed | None = None
    looks: list[Look] = msgspec.field(default_factory=list[Look])
    """All looks at the run, in order."""
    batches: dict[str, Batched] = msgspec.field(default_factory=dict[str, Batched])
    """Batches of calls that have not ended, by name."""
    beyond: tuple[Slot, ...] = ()
    """Graded rollouts that had started when a look decided the run, but were not part of that look."""
    first_at: float = 0.0
    last_at: float = 0.0
    seconds: float = 0.0
    """Time that engines spent on the run, without pauses between sessions and clock changes."""
    _previous_at: float = 0.0
    _endings: list[float] = msgspec.field(default_factory=list[float])
    """`seconds` at each of the latest endings of rollouts."""
    cases: CaseCounts = msgspec.field(default_factory=CaseCounts)
    scores_by_case: dict[str, dict[str, tuple[float, int]]] = msgspec.field(
        default_factory=dict[str, dict[str, tuple[float, int]]]
    )
    """Sum and number of each named score, by case."""
    graded_scores: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Number of graded rollouts that have each named score."""
    _score_sums: dict[str, tuple[float, int]] = msgspec.field(default_factory=dict[str, tuple[float, int]])
    """Sum of the case means of each named score, and the number of cases that have it."""

    def apply(self, record: AnyRecord) -> None:
        self._add_time(record)
        match record:  # the most frequent first
            case Asked() | Embedded():
                self._count_call(record)
                add_call(self.unsettled.setdefault(record.key, {}), record)
            case Started():
                self._start(record)
            case Finished():
                self._finish(record)
            case Opened():
                self.sessions += 1
                self.closed = None
                self._drop_running()
            case Tried():
                self._count_try(record)
            case Lost():
                self.lost += 1
            case Looked():
                self._add_look(record.look)
                self.beyond = record.beyond or self.beyond
            case Batched():
                self._follow_batch(record)
            case Closed():
                self.closed = record
                self._drop_running()
            case _:
                pass

    def _count_call(self, record: Asked | Embedded) -> None:
        if not isinstance(record, Asked):
            return
        self.tally.calls += not record.kept
        if record.role == "model":
            self.offered += bool(record.tools)
            self.called += bool(record.reply.tool_calls)

    def _count_try(self, record: Tried) -> None:
        self.tally.retries += 1
        self.tally.rate_limits += record.kind == FaultKind.RATE_LIMIT
        if record.possible_charges:
            add_call(self.unsettled.setdefault(record.key, {}), record)

    def _add_time(self, record: AnyRecord) -> None:
        self.first_at = self.first_at or record.at
        if record.at > self.last_at:
            self.last_at = record.at
        if record.at > self._previous_at > 0 and not _starts_interval(record):
            self.seconds += record.at - self._previous_at
        self._previous_at = record.at

    def seconds_until(self, now: float) -> float:
        """Return the time spent on a live run, including that since its last record."""
        is_open = self.sessions > 0 and self.closed is None
        return self.seconds + (max(now - self._previous_at, 0.0) if is_open else 0.0)

    def seconds_per_rollout(self, now: float) -> float:
        """Return the recent time per rollout, which grows while none ends; 0 while too few have ended."""
        count = len(self._endings)
        if count < _FEWEST:
            return 0.0
        return (self.seconds_until(now) - (self._endings[0] if count > _RECENT else 0.0)) / min(count, _RECENT)

    def _follow_batch(self, record: Batched) -> None:
        self.batches[record.name] = msgspec.structs.replace(record, calls=())
        if record.ended:
            del self.batches[record.name]

    def _add_look(self, look: Look) -> None:
        """Add a look; a race's result replaces that of the run alone at the same look."""
        same = (place for place, old in enumerate(self.looks) if old.number == look.number)
        if look.standings and (place := next(same, None)) is not None:
            self.looks[place] = look
        else:
            self.looks.append(look)

    def _drop_running(self) -> None:
        self.tally.running = 0
        for tally in self.categories.values():
            tally.running = 0

    def _start(self, record: Started) -> None:
        slot = record.key.slot
        if record.key.case in self.category_of and has_grade(self.latest.get(slot)):
            self.rerolled.add(record.key)
            return
        category = self.categories.setdefault(record.case.category, Tally())
        self.category_of[record.key.case] = intern(record.case.category)
        self.cases.name_cluster(record.case)
        if not record.case.graded:
            self.ungraded.add(record.key.case)
        self.unfinished[slot] = record.key
        self.tally.running += 1
        category.running += 1

    def _finish(self, record: Finished) -> None:
        slot = record.key.slot
        self._endings.append(self.seconds)
        del self._endings[: -_RECENT - 1]
        category = self.categories.setdefault(self.category_of.get(record.key.case, ""), Tally())
        known_usd = sum(sums.known_usd for sums in self.unsettled.pop(record.key, {}).values())
        cost_usd = known_usd if record.cost_usd is None else record.cost_usd
        started = self.unfinished.pop(slot, None)
        if record.verdict.reason == SETUP_DEPENDENCY:
            self.ungraded.add(record.key.case)
        if started == record.key:
            msgspec.structs.force_setattr(record, "key", started)  # the same key, in memory once
        older = self.latest.get(slot)
        is_known = record.key.case in self.category_of
        if record.key in self.rerolled or (started != record.key and is_known and has_grade(older)):
            self.rerolled.add(record.key)
            self._spend(record, cost_usd, category)
            return
        if started is not None:
            self.tally.running = max(0, self.tally.running - 1)
            category.running = max(0, category.running - 1)
        if older is not None:
            self._count(older, category, -1)
        self.latest[slot] = record
        self._count(record, category, 1)
        self._spend(record, cost_usd, category)

    def _count(self, record: Counted, category: Tally, sign: int) -> None:
        outcome = record.verdict.outcome
        name = (_SETUP_COUNTED if record.key.case in self.ungraded else _COUNTED)[outcome]
        for tally in (self.tally, category):
            setattr(tally, name, getattr(tally, name) + sign)
        if name in ("passed", "failed"):
            passed = sign if outcome is Outcome.PASSED else 0
            self.cases.count(record.key.case, passed, sign, (self.tally, category))
        _add(self.reasons, group_reason(record), sign)
        _add(self.cut, record.cut, sign)
        _add(self.served, record.model, sign)
        for server in record.server.split("; ") if record.server else ():
            is_named = server in self.servers or len(self.servers) < _MOST_SERVERS
            _add(self.servers, server if is_named else "others", sign)
        for symptom in record.written.split("; ") if record.written else ():
            if name == "failed" or (name == "passed" and symptom in SYMPTOMS):
                _add(self.written, symptom, sign)
        for score, value in record.verdict.scores.items():
            if name in ("passed", "failed"):
                self.graded_scores[score] = self.graded_scores.get(score, 0) + sign
            self._count_score(score, record.key.case, sign * value, sign)

    def _count_score(self, score: str, case: str, value: float, count: int) -> None:
        """Add a score to a case's mean, or remove it with both numbers negative; all cases have equal weight."""
        cases = self.scores_by_case.setdefault(score, {})
        before = cases.get(case, (0.0, 0))
        after = (before[0] + value, before[1] + count)
        if after[1]:
            cases[case] = _shared_sum(after)
        else:
            cases.pop(case, None)
        total, number = self._score_sums.get(score, (0.0, 0))
        change = _mean(after) - _mean(before)
        self._score_sums[score] = (total + change, number + bool(after[1]) - bool(before[1]))

    def score_interval(self, score: str, scale: tuple[float, float] | None = None) -> Interval | None:
        """Return the mean of a score with its interval over cases, or None if no case was repeated.

        Args:
            score: name of the score.
            scale: lowest and highest value, if known.
        """
        cases = self.scores_by_case.get(score, {})
        rollouts = sum(count for _, count in cases.values())
        if rollouts == len(cases):
            return None
        named = self.cases.cluster_of
        return score_interval(
            sample_of(
                Observation(case, total / count, named.get(case, ""), named.get(case, ""))
                for case, (total, count) in cases.items()
                for _ in range(count)
            ),
            scale,
        )

    def _spend(self, record: Finished, cost_usd: float, category: Tally) -> None:
        """Add tokens and money; superseded attempts count, as they were paid for."""
        for tally in (self.tally, category):
            tally.input_tokens += record.input_tokens
            tally.output_tokens += record.output_tokens
            tally.cost_usd += cost_usd
            tally.cost_unknown += record.cost_usd is None and record.verdict.outcome is not Outcome.NOT_RUN

    def _with_unsettled(self, manifest: Manifest) -> tuple[Tally, dict[str, Tally]]:
        """Return the counts in total and by category, including the spending of unfinished conversations."""
        whole, categories = self.tally.copy(), {name: tally.copy() for name, tally in self.categories.items()}
        roles = {"model": manifest.model, **manifest.roles}
        for key, spending in self.unsettled.items():
            category = categories.get(self.category_of.get(key.case, ""))
            used = [(sums, roles[role]) for role, sums in spending.items() if role in roles]
            cost_usd = sum(sums.cost_usd(facts) or 0.0 for sums, facts in used)
            is_partial = any(sums.is_partial(facts) for sums, facts in used)
            for tally in (whole, category) if category is not None else (whole,):
                tally.input_tokens += sum(sums.input_tokens for sums, _ in used)
                tally.output_tokens += sum(sums.output_tokens for sums, _ in used)
                tally.cost_usd += cost_usd
                tally.cost_unknown += is_partial
        return whole, categories

    @property
    def scores(self) -> dict[str, float]:
        """Mean over cases of every named score, each case averaged over its rollouts first."""
        return {name: total / count for name, (total, count) in self._score_sums.items() if count > 0}

    @property
    def partial_scores(self) -> dict[str, int]:
        """Number of graded rollouts that have each score, for scores that some of them lack."""
        counts = {name: self.graded_scores.get(name, 0) for name in self.scores}
        return {name: count for name, count in counts.items() if count < self.tally.graded}

    @property
    def rerolled_rollouts(self) -> int:
        return len({key.slot for key in self.rerolled})

    def state(self, live: bool) -> str:
        """Return the run's state: `running`, `interrupted`, or how it was closed."""
        if live:
            return "running"
        return self.closed.reason if self.closed else "interrupted"

    def is_shown_by_look(self, manifest: Manifest, *, live: bool) -> bool:
        """Return whether the newest look determines the run's score, because first finishers are not a fair sample.

        That applies to every partly played run with looks, regardless of how it ended.
        """
        state = self.state(live)
        return state in ("running", "decided") or (manifest.looks is not None and state != "completed")

    def summary(self, manifest: Manifest, *, live: bool, now: float, damaged: int, journal_bytes: int) -> Summary:
        """Return a summary of everything applied so far, independent of later records."""
        tally, categories = self._with_unsettled(manifest)
        return Summary(
            id=manifest.id,
            at=manifest.at,
            suite=manifest.suite,
            model=manifest.model.name,
            simulated=manifest.simulated,
            planned=manifest.cases,
            setup=manifest.setup,
            simulated_note=manifest.simulated_note,
            tally=tally,
            state=self.state(live),
            scores=self.scores,
            headline=manifest.headline,
            further_headlines=manifest.further_headlines,
            units=manifest.units,
            suite_cases=manifest.suite_cases,
            score_interval=self.score_interval(manifest.headline, manifest.headline_scale),
            reasons=dict(sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))),
            cut=dict(self.cut),
            served=dict(self.served),
            servers=dict(self.servers),
            written=dict(self.written),
            offered=self.offered,
            called=self.called,
            categories=categories,
            updated=now,
            seconds=self.seconds_until(now) if live else self.seconds,
            seconds_per_rollout=self.seconds_per_rollout(now) if live else 0.0,
            damaged=damaged,
            message=self.closed.message if self.closed else "",
            batch_terms=batch_terms((manifest.model, *manifest.roles.values())),
            batches=batch_words(list(self.batches.values())),
            journal_bytes=journal_bytes,
            format=manifest.format,
            lost=self.lost,
            name=manifest.name,
            parent=manifest.parent,
            look=latest_look(self.looks),
            is_shown_by_look=self.is_shown_by_look(manifest, live=live),
            decision=decision_of(self.looks),
            looks=list(self.looks) if manifest.looks is not None and manifest.looks.until is not None else [],
            grader=manifest.grader,
            regraded=manifest.regraded,
            judge_repeats=manifest.judge_repeats,
            category=manifest.category,
            rerolled=self.rerolled_rollouts,
            partial_scores=self.partial_scores,
        )


_MOST_SERVERS = 40
"""Servers counted by name, since some give every reply a fingerprint of its own."""


def _add(counts: dict[str, int], name: str | None, sign: int) -> None:
    """Change the count of a name and drop it at zero."""
    if not name:
        return
    left = counts.get(name, 0) + sign
    if left:
        counts[name] = left
    else:
        counts.pop(name, None)


def _mean(score: tuple[float, int]) -> float:
    return score[0] / score[1] if score[1] else 0.0


def _starts_interval(record: AnyRecord) -> bool:
    """Return whether the time since the previous record must not be counted."""
    return isinstance(record, Opened) or (isinstance(record, Steered) and record.what == CLOCK)


def without_rerolls(records: Iterable[AnyRecord]) -> Iterator[AnyRecord]:
    """Yield the records of a journal without attempts at rollouts that had been graded (see `RunFold.rerolled`)."""
    fold = RunFold()
    for record in records:
        fold.apply(without_output(record))
        if getattr(record, "key", None) not in fold.rerolled:
            yield record


def without_output(record: RecordT) -> RecordT:
    """Return a record without the parts not needed for counting."""
    if not isinstance(record, Finished):
        return record
    verdict, detail = record.verdict, _numbers(record.verdict)
    if not detail:
        kept = plain_verdict(verdict.outcome, verdict.reason, verdict.scores)
    else:
        kept = Verdict(outcome=verdict.outcome, reason=verdict.reason, scores=verdict.scores, detail=detail)
    return msgspec.structs.replace(
        record, output=None, verdict=kept, model=intern(record.model), server=intern(record.server)
    )


def _numbers(verdict: Verdict) -> dict[str, Any]:
    """Return the details summed up in reports: numbers, lists of numbers, and metrics by turn."""
    if not verdict.detail:
        return _NO_NUMBERS
    kept = {name: value for name, value in verdict.detail.items() if _is_number(value) or _is_counted(value)}
    return kept or _NO_NUMBERS


def _is_counted(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    parts = cast("list[Any]", value)
    return all(map(_is_number, parts)) or all(isinstance(part, dict) and "metrics" in part for part in parts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
