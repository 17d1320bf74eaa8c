"""Tasks and states of the conversations in flight."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from console.core.case import Key
from console.core.live import Activity
from console.engine.background import start_task

GRACE_S = 5.0
"""Seconds for conversations to end after they were cancelled."""


class RunningConversations:
    """Conversations in flight, by key."""

    def __init__(self) -> None:
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._activities: dict[Key, Activity] = {}
        self._cancelled: set[Key] = set()
        self._abandoned: set[Key] = set()

    def __len__(self) -> int:
        """Return the number of conversations in flight."""
        return len(self._tasks)

    def __contains__(self, key: Key) -> bool:
        return key in self._tasks

    def start(self, key: Key, play: Coroutine[None, None, None], on_unstarted: Callable[[], None]) -> None:
        """Start a conversation, which must call `remove` when it ends.

        Args:
            key: key of the conversation.
            play: coroutine that plays it.
            on_unstarted: called if it is cancelled before its first step, as such a task runs no code of its own, not
                even for cleanup.
        """
        self.set_state(key, "queued")
        task = start_task(play, str(key))
        task.add_done_callback(lambda task: on_unstarted() if self._tasks.get(key) is task else None)
        self._tasks[key] = task

    def remove(self, key: Key) -> None:
        """Remove a conversation that has ended."""
        self._activities.pop(key, None)
        self._tasks.pop(key, None)
        self._cancelled.discard(key)

    def set_state(self, key: Key, state: str, why: str = "") -> None:
        """Record what a conversation is doing; states are those of `core.live.Activity`."""
        self._activities[key] = Activity(key=key, state=state, since=time.time(), why=why)

    @property
    def activities(self) -> list[Activity]:
        return list(self._activities.values())

    @property
    def all_wait(self) -> bool:
        """True if every conversation is waiting."""
        return all(activity.state == "waiting" for activity in self._activities.values())

    def cancel(self, key: Key) -> None:
        task = self._tasks.get(key)
        if task is not None:
            self._cancelled.add(key)
            task.cancel()

    def is_cancelled(self, key: Key) -> bool:
        """Return whether a conversation was cancelled by the engine rather than by its own code."""
        return key in self._cancelled

    def cancel_in(self, is_cancellable: Callable[[Key, str], bool]) -> None:
        """Cancel the conversations whose key and state meet a condition."""
        for key in [key for key, activity in self._activities.items() if is_cancellable(key, activity.state)]:
            self.cancel(key)

    def cancel_all(self) -> None:
        for key in list(self._tasks):
            self.cancel(key)

    async def until_empty(self) -> "dict[Key, asyncio.Task[None]]":
        """Wait a while until no conversation is in flight; return those that continue although cancelled."""
        waiting = [task for key, task in self._tasks.items() if key not in self._abandoned]
        if waiting:
            await asyncio.wait(waiting, timeout=GRACE_S)
        going_on = {key: task for key, task in self._tasks.items() if key not in self._abandoned}
        self._abandoned.update(going_on)
        return going_on
