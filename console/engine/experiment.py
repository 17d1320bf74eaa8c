"""Experiments on recorded conversations: their plans, and a rehearsal before any paid call.

The new run names the old one as its parent, so trends and leaderboards exclude it; the old run is not changed.
Everything before the first live request is taken from the old journal (see `earlier_run`), and the stage makes the
changes.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from console.config.paths import DEFAULT_PATHS, WorkspacePaths
from console.core.case import Case, Key
from console.core.experiment import REPLY, Arm, Beginning, Experiment, Stratum
from console.core.fault import Fault, UsageError
from console.core.live import Began
from console.core.looks import Until
from console.core.record import AnyRecord, Performed
from console.core.run import Budget, Manifest, Selection
from console.engine.earlier_run import EarlierRun
from console.engine.plan import Plan, PreparedRun, check_playable, paths_next_to
from console.engine.recorded_effects import ConversationEffects, EarlierPlay
from console.engine.stage import JournaledStage, RecordT
from console.llm.endpoint import Endpoint
from console.store.runs import RunFolder
from console.suites.chat import OUTSIDE_TOOL
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
    paths: WorkspacePaths = DEFAULT_PATHS,
) -> Plan:
    """Return the plan of an experiment.

    Args:
        run: the recorded run; suite, options, mode and other roles are reused.
        cases: their ids.
        arms: changes of each arm.
        beginnings: parts of recorded conversations to repeat, by case id; others are played from the start.
        strata: where the cases were drawn from.
        luck: variance of the recorded mean due to chance.
        until: rule for ending the run early.
        label: the filter that selected the cases.
        name: name of the new run.
        model: name in models.toml; empty for the same model.
        repeats: rollouts of each case in each arm.
        seed: seed of simulated models; None draws one.
        budget: caps.
        paths: where models and data are.

    Raises:
        UsageError: the run was not played here, or is itself an experiment.
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
        paths=paths_next_to(run, paths),
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


def rehearse(prepared: PreparedRun) -> list[str]:
    """Repeat the beginnings of an experiment without any live call, and return warnings for the reader.

    Raises: UsageError: a state cannot be rebuilt.
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
    """Return warnings about external tools called in the repeated beginning."""
    names = [effect.kind for effect in play.effects.in_order if isinstance(effect, Performed)]
    tools = dict.fromkeys(name for name in names if name.startswith(OUTSIDE_TOOL))
    return [
        f"{name} is not called again: its recorded results are used, and any state of its own differs from that time"
        for name in tools
    ]


async def _rehearse(
    prepared: PreparedRun, earlier: EarlierRun, play: EarlierPlay, case: Case, beginning: Beginning
) -> None:
    effects = ConversationEffects()
    effects.earlier = play
    stage = _Rehearsal(Key(case.id), effects, _Nobody(earlier, beginning.rollout))
    suite: Suite = prepared.suite
    where = f"{prepared.manifest.parent}#{case.id}"
    hint = "Go on from the start with --from start, or from an earlier step."
    try:
        await suite.play(case, stage, prepared.manifest.setting)
    except _PointReached:
        return
    except Exception as error:
        if stage.is_reached:  # raised in one of the suite's tasks
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


class _Rehearsal(JournaledStage):
    """Repeats a beginning, and ends play at the first request that is not repeated."""

    is_reached = False

    def _count_reply(self) -> bool:
        if not self.is_reached and not super()._count_reply():
            return False
        self.is_reached = True
        raise _PointReached


class _Nobody:
    """The engine of a rehearsal: writes no journal and calls no model."""

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
        raise AssertionError(f"a rehearsal makes no calls: {what}")
