"""The stage as a suite sees it: the one door to everything that is not deterministic.

Each method journals its effect before returning the result, so that playing again after a crash returns what is known
and really asks only for the first missing thing. Effects are found again by the digest of their request (and, for equal
requests, by occurrence), so a suite may run effects concurrently with `asyncio.gather`.
Machinery faults leave these methods as `core.fault.Fault`; a suite lets them pass unless its rules say otherwise.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from console.core.case import Key
from console.core.chat import Message, Reply, ScriptedAnswers

SECOND_JUDGE = "second_judge"
"""Role of a judge that is asked what the judge is asked, and decides nothing."""
SECOND_PREFIX = "second judge: "
"""How the names of scores begin that it gave; the rest is the name of the judge's score."""


class Stage(Protocol):
    """One conversation's access to models, embeddings, the sandbox and the journal."""

    @property
    def key(self) -> Key:
        """Whose conversation this is."""
        ...

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
        """Ask a model and return its whole reply; its text streams to watchers meanwhile.

        Args:
            messages: the whole conversation as sent, OpenAI chat form.
            tools: tool schemas as sent; none means prompting.
            role: which of the run's models (`model`, `judge`).
            params: overrides of the configured parameters.
            turn: user turn from 0, for the views.
            step: model reply within the turn from 0, for the views.
            scripted: a right and some wrong answers, read by the simulated models only.
        """
        ...

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        """Return one vector of float64 for each text, in order."""
        ...

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        """Do any other effect once: await `action()` unless its JSON result is journaled already."""
        ...

    def output_of(self, case_id: str) -> Any:
        """Return what another case of the same rollout returned; None when it has no answer or is not of this run.

        Only cases that this one depends on are sure to have finished.
        """
        ...

    def score(self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0) -> None:
        """Record a number as it becomes known, to be watched live."""
        ...

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        """Record something for the transcript, JSON values: a tool result, a decoded call, a state change."""
        ...
