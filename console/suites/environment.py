"""A world outside of the conversation, such as a container, a browser or a database, that a killed case needs again.

Each action on it is journaled. When a case resumes after a kill, journaled results are returned without the world; if
an action is missing, the world is opened and restored to its earlier state: by executing the earlier actions again, or
from the snapshot after the last one.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar

from console.core.fault import Fault, FaultKind, UsageError

WorldT = TypeVar("WorldT")
Replay = Literal["execute", "snapshot"]


class Environment(Generic[WorldT]):
    """An asynchronous context with one world; its actions run one after another."""

    def __init__(
        self,
        perform: Callable[[str, Any, Callable[[], Awaitable[Any]]], Awaitable[Any]],
        open_world: Callable[[Any], Awaitable[WorldT] | WorldT],
        close_world: Callable[[WorldT], Any],
        replay: Replay,
        snapshot: Callable[[WorldT], Any] | None,
    ) -> None:
        """Store the functions, with `perform` of the stage; the first action that must be executed opens the world.

        Raises:
            UsageError: snapshots without a function that takes them, or vice versa.
        """
        if (replay == "snapshot") != (snapshot is not None):
            hint = 'Write stage.environment(open, close, replay="snapshot", snapshot=…), or neither.'
            raise UsageError(
                "an environment needs `snapshot` if it is replayed from snapshots, and only then", hint=hint
            )
        self._perform, self._open, self._close, self._snapshot = perform, open_world, close_world, snapshot
        self._world: list[WorldT] = []
        """The open world, if any."""
        self._state: Any = None
        """Snapshot after the last journaled action."""
        self._past: list[tuple[str, Callable[[WorldT], Any], Any]] = []
        """Kind, action and result of the journaled actions that the open world has not seen."""
        self._is_entered = False
        self._turn = asyncio.Lock()
        self._actor: asyncio.Task[Any] | None = None
        """The task whose action is being executed."""

    async def __aenter__(self) -> Self:
        """Return the environment; nothing is opened yet."""
        self._is_entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the world if it was opened; an error of the actions takes precedence over one of closing."""
        self._is_entered = False
        while self._world:
            try:
                await _awaited(self._close(self._world.pop()))
            except Exception:
                if error is None:
                    raise

    @property
    def world(self) -> WorldT:
        """The open world, during an action.

        Raises:
            UsageError: no action is being executed.
        """
        if not self._world:
            hint = "Use it in the action of `act`, or in an asynchronous tool of a Chat with this environment."
            raise UsageError("the world of an environment exists only during its actions", hint=hint)
        return self._world[0]

    async def act(self, kind: str, request: Any, action: Callable[[WorldT], Any]) -> Any:
        """Execute an action on the world and return its JSON result, or the journaled one.

        Args:
            kind: name of the effect, for the transcript.
            request: JSON value that identifies the action.
            action: function of the world, which may be asynchronous. With `replay="execute"` it may be executed again,
                and must then return the same.

        Raises:
            Fault: the world behaved differently when it was rebuilt (kind `suite`).
            UsageError: outside of `async with`, where the world would stay open, or in another action.
        """
        if not self._is_entered:
            raise UsageError("an environment acts only within its `async with`")
        if self._actor is asyncio.current_task():
            raise UsageError("an action of an environment cannot await another action", hint="Start it after this one.")
        async with self._turn:
            is_new = False

            async def execute() -> dict[str, Any]:
                nonlocal is_new
                is_new, self._actor = True, asyncio.current_task()
                try:
                    world = await self._rebuilt()
                    result = {"result": await _awaited(action(world))}
                    return result | ({"state": await _awaited(self._snapshot(world))} if self._snapshot else {})
                finally:
                    self._actor = None

            journaled: dict[str, Any] = await self._perform(kind, request, execute)
            if not is_new:
                self._state = journaled.get("state")
                self._past.append((kind, action, journaled["result"]))
            return journaled["result"]

    async def _rebuilt(self) -> WorldT:
        """Return the world in the state after the last journaled action."""
        if not self._world:
            self._world.append(await _awaited(self._open(self._state)))
        [world] = self._world
        past, self._past = self._past, []
        for kind, action, before in past if self._snapshot is None else ():
            again = await _awaited(action(world))
            if again != before:
                words = f"the environment cannot be rebuilt: {kind} gives {again!r:.200} instead of {before!r:.200}"
                raise Fault(FaultKind.SUITE, words, hint='Make it deterministic, or use replay="snapshot".')
        return world


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
