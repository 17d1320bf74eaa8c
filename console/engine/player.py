"""Who plays conversations for the engine: this process, or workers elsewhere. The engine alone writes the journal."""

from collections.abc import Callable, Sequence
from typing import Protocol

from console.core.case import Key
from console.core.fault import Fault
from console.core.live import EndpointState, WorkerState
from console.core.outcome import Verdict
from console.core.record import Finished
from console.engine.endpoints import Endpoints
from console.engine.local_conversation import EngineContext, LocalConversation
from console.engine.plan import PreparedRun
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects


class PlayerContext(EngineContext, Protocol):
    """What a player needs of the engine around it."""

    async def reserve(self, key: Key, n: int, cost: float, tokens: int) -> None:
        """Wait until a call may be made that may cost so much, in USD and tokens.

        Raises:
            BudgetReached: it will not fit any more.
        """
        ...

    def notify(self, text: str) -> None:
        """Tell the person who started the run, in a sentence."""
        ...

    def end(self, reason: str, message: str = "") -> None:
        """Start nothing more; the run stays resumable."""
        ...


class PlayedConversation(Protocol):
    """One job, wherever it is played."""

    @property
    def fault(self) -> Fault | None:
        """What broke it, if that is no fault of the suite's."""
        ...

    async def play(self) -> Finished:
        """Play and judge.

        Raises:
            BudgetReached: the run's budget is used up; the conversation stays open.
            asyncio.CancelledError: it was stopped.
        """
        ...

    def finished(self, verdict: Verdict) -> Finished:
        """Return a closing record, with what the conversation has cost so far."""
        ...


class Player(Protocol):
    """Plays the jobs of one run."""

    async def open(self, epoch: int) -> None:
        """Get ready.

        Args:
            epoch: number of this session of the run, from 1; what is left of an earlier one is refused.

        Raises:
            UsageError: nobody can play, or would play something else; says who, and what to do.
        """
        ...

    def conversation(self, job: Job, recorded: ConversationEffects) -> PlayedConversation:
        """Take a job, with what is journaled of it already."""
        ...

    def endpoint_states(self) -> Sequence[EndpointState]:
        """Return the limiters' states, for watchers."""
        ...

    def worker_states(self) -> Sequence[WorkerState]:
        """Return what each worker is doing, for watchers; nothing where the engine plays itself."""
        ...

    @property
    def is_suspect(self) -> bool:
        """Whether nothing succeeds at an endpoint at present."""
        ...

    def retry_now(self) -> None:
        """End every wait that a provider has asked for."""
        ...

    def pause_calls(self, why: str) -> None:
        """Make no new call while there is a reason; an empty one ends that."""
        ...

    def watch(self, on: bool) -> None:
        """Send texts as they arrive, or not."""
        ...

    async def aclose(self) -> None:
        """Release all resources."""
        ...


PlayerFactory = Callable[[PlayerContext, PreparedRun, Endpoints], Player]


class LocalPlayer:
    """Plays in this process: the engine's own limits, pauses and endpoints are those of its conversations."""

    def __init__(self, context: PlayerContext, prepared: PreparedRun, endpoints: Endpoints) -> None:
        self._context, self._endpoints = context, endpoints
        self._suite, self._setting = prepared.suite, prepared.manifest.setting

    async def open(self, epoch: int) -> None:
        del epoch

    def conversation(self, job: Job, recorded: ConversationEffects) -> LocalConversation:
        return LocalConversation(job, recorded, self._context, self._suite, self._setting)

    def endpoint_states(self) -> list[EndpointState]:
        return self._endpoints.states()

    def worker_states(self) -> list[WorkerState]:
        return []

    @property
    def is_suspect(self) -> bool:
        return self._endpoints.are_suspect

    def retry_now(self) -> None:
        self._endpoints.retry_now()

    def pause_calls(self, why: str) -> None:
        del why  # conversations of this process ask before every call

    def watch(self, on: bool) -> None:
        del on  # texts are at hand

    async def aclose(self) -> None:
        await self._endpoints.aclose()
