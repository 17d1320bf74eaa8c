"""Experiments on recorded conversations: their plans, what they will cost, and a rehearsal before anything is paid.

The new run names the old one as its parent, so trends and leaderboards exclude it; the old run is not changed. What
lies before the first live request is taken from the old journal (see `earlier_run`), and the stage makes the changes.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from console.core.case import Case, Key
from console.core.chat import Message, Reply, ScriptedAnswers
from console.core.experiment import REPLY, Arm, Beginning, Experiment, Stratum
from console.core.fault import Fault, UsageError
from console.core.live import Began
from console.core.looks import Until
from console.core.price import dollars, price_of
from console.core.record import AnyRecord, Asked, Embedded, Performed
from console.core.run import Budget, Manifest, Selection
from console.engine.earlier_run import EarlierRun, open_run
from console.engine.plan import Plan, PreparedRun, check_playable
from console.engine.recorded_effects import ConversationEffects, EarlierPlay
from console.engine.stage import JournaledStage, RecordT
from console.llm.endpoint import Endpoint
from console.store.runs import RunFolder
from console.suites.chat import OUTSIDE_TOOL
from console.suites.stage import Stage
from console.suites.suite import Suite

_MOST_SEEDS = 1 << 31


def experiment_plan(
    run: RunFolder,
    cases: Sequence[str],
    *,
    arms: tuple[Arm, ...] = ((),),
    beginnings: Mapping[str, Beginning] | None = None,
    strata: tuple[Stratum, ...] = (),
    luck: float = 0.0,
    until: Until | None = None,
    label: str = "",
    name: str = "",
    model: str = "",
    repeats: int = 1,
    seed: int | None = None,
    budget: Budget | None = None,
    models_path: Path | None = None,
    data_path: Path | None = None,
) -> Plan:
    """Return the plan of an experiment.

    Args:
        run: the recorded run; suite, options, mode and other roles are reused.
        cases: their ids.
        arms: changes of each arm.
        beginnings: what is repeated of recorded conversations, by case id; others are played from the start.
        strata: where the cases were drawn from.
        luck: variance of the recorded mean due to its own luck.
        until: the rule by which its looks may end it.
        label: the filter by which they were chosen.
        name: name of the new run.
        model: name in models.toml; empty for the same model.
        repeats: rollouts of each case in each arm.
        seed: seed of simulated models; None draws one.
        budget: caps.
        models_path: models file; None for the default.
        data_path: data folder; None for the defaults.

    Raises:
        UsageError: the run was not played here, or its requests were changed themselves.
    """
    manifest = run.manifest()
    _check_origin(manifest)
    asked = cases[0] if len(cases) == 1 else f"{len(cases)} cases"
    return Plan(
        model=model or manifest.model.name,
        suite=manifest.suite,
        selection=Selection(ids=tuple(cases)),
        options=manifest.setting.options,
        mode=manifest.setting.mode,
        roles={role: facts.name for role, facts in manifest.roles.items()},
        rollouts=repeats * len(arms),
        budget=budget or Budget(),
        name=name or f"{'changed' if any(arms) else 'again'} {asked} {model or manifest.model.name}",
        parent=run.name,
        experiment=Experiment(arms, dict(beginnings or {}), strata, new_seed() if seed is None else seed, label, luck),
        until=until,
        models_path=models_path,
        data_path=data_path,
        runs_path=run.path.parent,
    )


def _check_origin(manifest: Manifest) -> None:
    check_playable(manifest)
    arms = manifest.experiment.arms if manifest.experiment is not None else ()
    if any(change.what != REPLY for arm in arms for change in arm):
        hint = f"Start from {manifest.parent}, and make both changes." if manifest.parent else ""
        raise UsageError("its requests were changed by an experiment", where=manifest.id, hint=hint)


def new_seed() -> int:
    """Draw the seed of an experiment."""
    return random.randrange(1, _MOST_SEEDS)  # noqa: S311 - not a secret


@dataclass(frozen=True, slots=True)
class Use:
    """Calls, tokens and cost that an experiment is expected to take."""

    calls: float = 0.0
    tokens: float = 0.0
    cost_usd: float | None = 0.0
    """None if a price is unknown."""
    is_free: bool = True
    """True if every model is simulated."""

    def __add__(self, other: "Use") -> "Use":
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Use(self.calls + other.calls, self.tokens + other.tokens, cost, self.is_free and other.is_free)

    def times(self, factor: float) -> "Use":
        """Return a multiple of it."""
        cost = None if self.cost_usd is None else self.cost_usd * factor
        return Use(self.calls * factor, self.tokens * factor, cost, self.is_free)

    def lengthened(self, calls: float) -> "Use":
        """Return the use with more calls of the same price."""
        return self.times(1 + max(calls, 0) / max(self.calls, 1))

    @property
    def words(self) -> str:
        """All of it in words."""
        price = "simulated" if self.is_free else "price unknown" if self.cost_usd is None else dollars(self.cost_usd)
        calls = round(self.calls)
        return f"{calls:,} call{'' if calls == 1 else 's'}, {self.tokens:,.0f} tokens, {price}"


@dataclass(frozen=True, slots=True)
class SearchUse:
    """Expected use of a search for the step that decided a conversation."""

    likely: Use
    """The geometric mean of the cheapest and the dearest search that finds a step."""
    most: Use
    start: Use
    """Continuations from the start, which are all if none of them comes right."""

    @property
    def lines(self) -> list[str]:
        """All of it in words, as lines."""
        alone = [f"{self.start.words} if none comes right"] if self.start.calls else []
        return [f"about {self.likely.words}", f"at most {self.most.words}", *alone]


def branch_use(prepared: PreparedRun, usual: float) -> tuple[Use, list[str]]:
    """Estimate the use of a branch, and describe it in lines.

    Args:
        prepared: continuations of one conversation.
        usual: calls of a conversation that comes right; this one may have been cut short by its failure.
    """
    recorded = expected_use(prepared)
    likely = recorded.lengthened(usual * prepared.manifest.rollouts - _recorded_use(prepared).calls)
    early = [f"{recorded.words} if cut short again"] if likely != recorded else []
    return likely, [f"about {likely.words}", *early]


def _recorded_use(prepared: PreparedRun) -> Use:
    """Return the use of playing a whole recorded conversation again."""
    manifest = prepared.manifest
    (case,) = manifest.selection.ids
    start = manifest.experiment.beginnings.get(case, Beginning()) if manifest.experiment is not None else Beginning()
    return _use_of(manifest, open_run(manifest, prepared.runs_root).effects((case, start.rollout)).in_order)


def expected_use(prepared: PreparedRun) -> Use:
    """Estimate the use of an experiment from what the recorded conversations took after the point."""
    manifest, experiment = prepared.manifest, prepared.manifest.experiment
    recorded = open_run(manifest, prepared.runs_root)
    assert experiment is not None
    total = _use_of(manifest, ())
    for case in prepared.cases:
        beginning = experiment.beginnings.get(case.id, Beginning(0))
        if beginning.replies is not None and (case.id, beginning.rollout) in recorded.finished:
            total += _use_of(manifest, _after(recorded.effects((case.id, beginning.rollout)), beginning))
    return total


def search_use(
    prepared: PreparedRun, beginnings: Sequence[Beginning], searches: Sequence[Sequence[int]], usual: float
) -> SearchUse:
    """Reckon the use of a search for the step that decided a conversation.

    Args:
        prepared: a continuation of the conversation.
        beginnings: one for each reply of the conversation.
        searches: the points to go on from, for each step that may have decided it.
        usual: calls of a conversation that comes right; this one may have been cut short by its failure.
    """
    manifest = prepared.manifest
    (case,) = manifest.selection.ids
    effects = open_run(manifest, prepared.runs_root).effects((case, beginnings[0].rollout))
    points = dict.fromkeys(replies for search in searches for replies in search)
    nothing = _use_of(manifest, ())
    by_point = {replies: _use_of(manifest, _after(effects, beginnings[replies])) for replies in points}
    missing = usual * manifest.rollouts - _recorded_use(prepared).calls
    by_point = {replies: use.lengthened(missing) for replies, use in by_point.items()}
    uses = [sum((by_point[replies] for replies in search), nothing) for search in searches]
    least, most = (end(uses, key=lambda use: (use.cost_usd or 0.0, use.calls)) for end in (min, max))
    cost = None if least.cost_usd is None or most.cost_usd is None else math.sqrt(least.cost_usd * most.cost_usd)
    calls, tokens = math.sqrt(least.calls * most.calls), math.sqrt(least.tokens * most.tokens)
    return SearchUse(Use(calls, tokens, cost, most.is_free), most, by_point.get(0, nothing))


def _use_of(manifest: Manifest, effects: Iterable[Asked | Embedded | Performed]) -> Use:
    """Estimate the use of repeating these effects in each rollout of a run."""
    facts = {"model": manifest.model, **manifest.roles}
    calls, tokens, cost = 0.0, 0.0, 0.0
    is_priced = True
    for effect in effects:
        if isinstance(effect, Performed):
            continue
        sent, cached, written = _tokens(effect)
        model = facts.get(effect.role)
        price = 0.0 if model is None or model.simulated else price_of(model, sent, cached, written)
        calls, tokens, cost = calls + 1, tokens + sent + written, cost + (price or 0.0)
        is_priced = is_priced and price is not None
    is_free = all(model.simulated for model in facts.values())
    return Use(calls, tokens, cost if is_priced else None, is_free).times(manifest.rollouts)


def _after(effects: ConversationEffects, beginning: Beginning) -> list[Asked | Embedded | Performed]:
    repeated = {id(effect) for effect in effects.up_to(beginning.replies or 0).in_order}
    return [effect for effect in effects.in_order if id(effect) not in repeated]


def _tokens(effect: Asked | Embedded) -> tuple[float, float, float]:
    """Return sent, cached and written tokens."""
    if isinstance(effect, Embedded):
        return effect.tokens or 0, 0, 0
    usage = effect.reply.usage
    return (usage.input, usage.cached, usage.output) if usage is not None else (0, 0, 0)


def rehearse(prepared: PreparedRun) -> list[str]:
    """Repeat the beginnings of an experiment without asking anybody, and return what a reader should know about them.

    Raises:
        UsageError: a state cannot be rebuilt; nothing was asked.
    """
    experiment, earlier = prepared.manifest.experiment, prepared.earlier
    if experiment is None or earlier is None:
        return []
    warnings: dict[str, None] = {}
    for case in prepared.cases:
        beginning = experiment.beginnings.get(case.id)
        if beginning is None or beginning.replies is None:
            continue
        play = earlier.play(Key(case.id))
        assert play is not None
        warnings |= dict.fromkeys(_outside(play))
        asyncio.run(_rehearse(prepared, earlier, play, case, beginning))
    return list(warnings)


def _outside(play: EarlierPlay) -> list[str]:
    """Return warnings about tools outside of this program that the beginning has called."""
    names = [effect.kind for effect in play.effects.in_order if isinstance(effect, Performed)]
    tools = dict.fromkeys(name for name in names if name.startswith(OUTSIDE_TOOL))
    return [
        f"{name} is not called again: its recorded results are used, and what it remembers itself is not as it was then"
        for name in tools
    ]


async def _rehearse(
    prepared: PreparedRun, earlier: EarlierRun, play: EarlierPlay, case: Case, beginning: Beginning
) -> None:
    effects = ConversationEffects()
    effects.earlier = play
    stage = _Rehearsal(JournaledStage(Key(case.id), effects, _Nobody(earlier, beginning.rollout)), play)
    suite: Suite = prepared.suite
    where = f"{prepared.manifest.parent}#{case.id}"
    hint = "Go on from the start with --from start, or from an earlier step."
    try:
        await suite.play(case, stage, prepared.manifest.setting)
    except _PointReached:
        return
    except Exception as error:
        if stage.is_reached:  # raised in a task of the suite's own
            return
        words = error.message if isinstance(error, Fault) else f"{type(error).__name__}: {error}"
        raise UsageError(f"the state at {beginning.place} cannot be rebuilt: {words}", where=where, hint=hint) from None
    finally:
        await suite.aclose()
    if not stage.is_reached:
        words = "the conversation now ends before it"
        raise UsageError(f"the state at {beginning.place} cannot be rebuilt: {words}", where=where, hint=hint)


class _PointReached(BaseException):
    """Ends a rehearsal; suites must not catch it."""


class _Rehearsal(Stage):
    """A stage that repeats a beginning and ends the play at the first request that is not repeated."""

    def __init__(self, stage: JournaledStage, play: EarlierPlay) -> None:
        self._stage, self._play = stage, play
        self._replies = 0
        self.is_reached = False

    @property
    def key(self) -> Key:
        return self._stage.key

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        role: str = "model",
        params: dict[str, Any] | None = None,
        turn: int = 0,
        step: int = 0,
        scripted: Callable[[], ScriptedAnswers] | None = None,
    ) -> Reply:
        if role == "model":
            if self._replies == self._play.replies:
                self._play.check_whole()
                self.is_reached = True
                raise _PointReached
            self._replies += 1
        return await self._stage.ask(
            messages, tools=tools, role=role, params=params, turn=turn, step=step, scripted=scripted
        )

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        return await self._stage.embed(texts, role=role)

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        return await self._stage.perform(kind, request, action)

    def output_of(self, case_id: str) -> Any:
        return self._stage.output_of(case_id)

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        del name, value, threshold, turn, role

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        del kind, data, turn, step


class _Nobody:
    """The engine of a rehearsal: writes no journal, and asks nobody."""

    def __init__(self, earlier: EarlierRun, rollout: int) -> None:
        self._earlier, self._rollout = earlier, rollout

    def admit(self, record: RecordT) -> RecordT:
        return record

    def append(self, record: AnyRecord) -> None:
        del record

    def keep_files(self, contents: Mapping[str, bytes]) -> None:
        del contents

    def state(self, key: Key, state: str, why: str = "") -> None:
        del key, state, why

    def output_of(self, case_id: str, rollout: int) -> Any:
        del rollout
        return self._earlier.output((case_id, self._rollout))

    def endpoint(self, role: str) -> Endpoint:
        self._refuse(role)

    def began(self, frame: Began) -> None:
        self._refuse(frame)

    def text(self, key: Key, n: int, kind: str, text: str) -> None:
        self._refuse(key, n, kind, text)

    def model_answered(self, role: str) -> None:
        self._refuse(role)

    async def wait_while_paused(self, key: Key) -> None:
        self._refuse(key)

    async def before_call(self, key: Key, n: int, request: Any, role: str) -> None:
        self._refuse(key, n, request, role)

    async def wait_to_retry(self, key: Key, seconds: float) -> None:
        self._refuse(key, seconds)

    async def pause_run(self, key: Key, fault: Fault) -> None:
        self._refuse(key, fault)

    def release_reservation(self, key: Key, n: int) -> None:
        self._refuse(key, n)

    def _refuse(self, *what: object) -> NoReturn:
        raise AssertionError(f"a rehearsal asks nobody: {what}")
