"""The conversations in flight: their tasks, and what each of them is doing."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from console.core.case import Key
from console.core.live import Activity


class RunningConversations:
    """The conversations in flight, by key."""

    def __init__(self) -> None:
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._activities: dict[Key, Activity] = {}

    def __len__(self) -> int:
        """Conversations in flight."""
        return len(self._tasks)

    def __contains__(self, key: Key) -> bool:
        """Whether a conversation is in flight."""
        return key in self._tasks

    def start(self, key: Key, play: Coroutine[None, None, None], on_unstarted: Callable[[], None]) -> None:
        """Play a conversation, which calls `remove` when it ends.

        Args:
            key: whose it is.
            play: its coroutine.
            on_unstarted: called when it is cancelled before its first step: such a task runs none of its code, not
                even to clean up.
        """
        self.set_state(key, "queued")
        task = asyncio.create_task(play, name=str(key))
        task.add_done_callback(lambda task: on_unstarted() if self._tasks.get(key) is task else None)
        self._tasks[key] = task

    def remove(self, key: Key) -> None:
        """Take out a conversation that has ended."""
        self._activities.pop(key, None)
        self._tasks.pop(key, None)

    def set_state(self, key: Key, state: str, why: str = "") -> None:
        """Record what a conversation is doing; states are those of `core.live.Activity`."""
        self._activities[key] = Activity(key=key, state=state, since=time.time(), why=why)

    @property
    def activities(self) -> list[Activity]:
        """What each conversation is doing."""
        return list(self._activities.values())

    @property
    def all_wait(self) -> bool:
        """Whether every conversation waits."""
        return all(activity.state == "waiting" for activity in self._activities.values())

    def cancel(self, key: Key) -> None:
        """Cancel a conversation."""
        task = self._tasks.get(key)
        if task is not None:
            task.cancel()

    def cancel_waiting(self) -> None:
        """End all conversations that only wait."""
        for key in [key for key, activity in self._activities.items() if activity.state == "waiting"]:
            self.cancel(key)

    def cancel_all(self) -> None:
        """Cancel all conversations."""
        for task in list(self._tasks.values()):
            task.cancel()

    async def until_empty(self) -> None:
        """Wait until no conversation is in flight."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
