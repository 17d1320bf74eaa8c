"""`Stage`: the interface through which a suite performs all nondeterministic effects.

Each method journals its effect before returning the result, so a replay after a crash returns journaled results and
performs only missing effects. Effects are matched by the digest of their request, and equal requests by order, so a
suite can run effects concurrently with `asyncio.gather`. Machinery faults are raised as `core.fault.Fault`; a suite
should not catch them unless its rules require it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from console.core.case import Key
from console.core.chat import Message, Reply, ScriptedAnswers
from console.core.fault import UsageError

if TYPE_CHECKING:
    from console.suites.code_run import CodeResult
    from console.suites.environment import Environment

WorldT = TypeVar("WorldT")

JUDGE = "judge"
"""Role of the judge."""
SECOND_JUDGE = "second_judge"
"""Role of a second judge, which answers the same questions without affecting verdicts."""
SECOND_PREFIX = "second judge: "
"""Prefix of the second judge's score names, before the name of the judge's score."""
JUDGE_REPEATS = "judge_repeats"
"""Option of judged suites: number of times the judge grades each answer; only the first grade counts."""
MOST_JUDGE_REPEATS = 100


def repeat_prefix(number: int) -> str:
    """Return the prefix of score names of the judge's further grades, numbered from 2."""
    return f"judge again {number}: "


class Stage(Protocol):
    """Access of one conversation to models, embeddings, the sandbox and the journal."""

    @property
    def key(self) -> Key:
        """Key of the rollout."""
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
        """Call a model and return its complete reply; the text is streamed to viewers meanwhile.

        Args:
            messages: the whole conversation in OpenAI chat format.
            tools: tool schemas; empty for no native tools.
            role: role of the model, such as `model` or `judge`.
            params: overrides of the configured parameters.
            turn: user turn from 0, for display.
            step: model reply within the turn from 0, for display.
            scripted: right and wrong answers, for simulated models only.
        """
        ...

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        """Return one float64 vector per text, in order."""
        ...

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        """Perform another effect once: await `action()` unless its JSON result is in the journal."""
        ...

    async def run_code(self, code: str, **settings: Any) -> "CodeResult":
        """Run Python code in the sandbox, and then each hidden test; see `code_run.run_code` for the settings.

        Args:
            code: the code; tests can use its names.
            settings: `tests`, `files`, `stdin`, `timeout`, `packages` and `hidden`.
        """
        from console.suites.code_run import run_code  # slow to import

        return await run_code(self, code, **settings)

    def environment(
        self,
        open: Callable[[Any], Awaitable[WorldT] | WorldT],
        close: Callable[[WorldT], Any],
        *,
        replay: Literal["execute", "snapshot"] = "execute",
        snapshot: Callable[[WorldT], Any] | None = None,
    ) -> "Environment[WorldT]":
        """Return an external world, such as a container or a database, as an asynchronous context.

        Its actions, `await environment.act(kind, request, action)`, are journaled. A case that was killed opens the
        world again when an action is missing. All functions may be asynchronous or plain.

        Args:
            open: opens the world; takes the last snapshot, or None for a new one. Must tolerate remains of a
                killed case, such as a container named after `stage.key`.
            close: closes it.
            replay: how to bring a new world to the state of the killed one: by executing its actions again, or from the
                snapshot after the last of them.
            snapshot: returns the state of the world as JSON; only with `replay="snapshot"`.
        """
        from console.suites.environment import Environment

        return Environment(self.perform, open, close, replay, snapshot)

    def output_of(self, case_id: str) -> Any:
        """Return the output of another case in the rollout with the same number, or None.

        Only the prerequisites of this case are guaranteed to have finished.
        """
        ...

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        """Record a score for live display.

        Args:
            name: name of the score.
            value: its value; None if it could not be determined.
            threshold: lowest good value.
            turn: user turn from 0.
            role: role of the model that gave it, so that people can label the judged answer; empty for code.
        """
        ...

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        """Record JSON data for the transcript, such as a tool result, a decoded call or a state change."""
        ...


class UnrecordedStage(Stage):
    """A stage without a journal, for trials and checks; subclasses answer `ask`. Scores and notes are dropped."""

    def __init__(self, key: Key) -> None:
        self._key = key

    @property
    def key(self) -> Key:
        return self._key

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        raise UsageError(f"{len(texts)} texts cannot be embedded here: there is no {role} model")

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        del kind, request
        return await action()

    def output_of(self, case_id: str) -> Any:
        del case_id

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None: ...

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None: ...
