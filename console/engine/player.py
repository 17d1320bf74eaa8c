"""Players of conversations: this process, or remote workers. Only the engine writes the journal."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from console.core.case import Key
from console.core.fault import Fault
from console.core.live import EndpointState, WorkerState
from console.core.outcome import Verdict
from console.core.record import Finished
from console.engine.budget import WorstCase
from console.engine.endpoints import Endpoints
from console.engine.local_conversation import EngineContext, LocalConversation
from console.engine.plan import PreparedRun
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects


class PlayerContext(EngineContext, Protocol):
    """The parts of the engine that a player needs."""

    async def reserve(self, key: Key, n: int, call: WorstCase) -> None:
        """Wait until a call of this highest cost may be made, and reserve it.

        Raises:
            BudgetReached: the call does not fit.
        """
        ...

    def release_reservation(self, key: Key, n: int, *, is_cut: bool = False) -> None:
        """Release the reservation of a call without an answer; it counts as charged if it was cut off."""
        ...

    def notify(self, text: str) -> None:
        """Show a sentence to the user who started the run."""
        ...

    def end(self, reason: str, message: str = "") -> None:
        """Start nothing more; the run stays resumable."""
        ...


class PlayedConversation(Protocol):
    """One job being played."""

    @property
    def fault(self) -> Fault | None:
        """Fault that broke the conversation; None if the suite caused it."""
        ...

    async def play(self) -> Finished:
        """Play and judge.

        Raises:
            BudgetReached: the run's budget is exhausted; the conversation stays open.
            asyncio.CancelledError: the conversation was stopped.
        """
        ...

    def finished(self, verdict: Verdict) -> Finished:
        """Return a final record, including the cost so far."""
        ...


class Player(ABC):
    """Plays the jobs of one run."""

    async def open(self, epoch: int) -> None:
        """Prepare for playing.

        Args:
            epoch: number of this session of the run, from 1; messages left over from an earlier one are rejected.

        Raises:
            UsageError: no worker is available, or one has other data or versions.
        """
        del epoch

    @abstractmethod
    def conversation(self, job: Job, recorded: ConversationEffects) -> PlayedConversation:
        """Start a job, given its journaled effects."""

    @abstractmethod
    def endpoint_states(self) -> Sequence[EndpointState]:
        """Return the states of all limiters, for watchers."""

    def worker_states(self) -> Sequence[WorkerState]:
        """Return the state of each worker, for watchers."""
        return ()

    @property
    @abstractmethod
    def is_suspect(self) -> bool:
        """True if every recent call to some endpoint has failed."""

    @abstractmethod
    def retry_now(self) -> None:
        """End every wait that a provider asked for."""

    def pause_calls(self, why: str) -> None:
        """Make no new calls while there is a reason; an empty reason resumes."""
        del why

    def watch(self, on: bool) -> None:
        """Start or stop sending streamed text."""
        del on

    @abstractmethod
    async def aclose(self) -> None:
        """Release all resources."""


PlayerFactory = Callable[[PlayerContext, PreparedRun, Endpoints], Player]


class LocalPlayer(Player):
    """Plays in this process, using the engine's limits, pauses and endpoints directly."""

    def __init__(self, context: PlayerContext, prepared: PreparedRun, endpoints: Endpoints) -> None:
        self._context, self._endpoints = context, endpoints
        self._suite, self._manifest = prepared.suite, prepared.manifest

    def conversation(self, job: Job, recorded: ConversationEffects) -> LocalConversation:
        return LocalConversation(job, recorded, self._context, self._suite, self._manifest)

    def endpoint_states(self) -> list[EndpointState]:
        return self._endpoints.states()

    @property
    def is_suspect(self) -> bool:
        return self._endpoints.are_suspect

    def retry_now(self) -> None:
        self._endpoints.retry_now()

    async def aclose(self) -> None:
        await self._suite.aclose()
        await self._endpoints.aclose()
