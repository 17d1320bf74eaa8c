"""Limiters of several processes and the keeper that they share, in virtual time."""

import asyncio
from collections import deque

from support.virtual_loop import VirtualLoop

from console.llm.limits.keeper import FromKeeper, Keeper, ToKeeper
from console.llm.limits.limiter import Limiter
from console.llm.limits.share import LimitShare

MESSAGE_S = 0.001
"""What a message takes between processes."""


class Processes:
    """Limiters of several processes, and the keeper that they share."""

    def __init__(self, loop: VirtualLoop, count: int) -> None:
        self.limiters: list[Limiter] = []
        self._loop, self._shares = loop, list[LimitShare]()
        self._keeper = Keeper(self._hear, loop.time())
        self._timer: asyncio.TimerHandle | None = None
        self._told, self._said = deque[tuple[int, ToKeeper]](), deque[tuple[int, FromKeeper]]()
        for _ in range(count):
            share = LimitShare(None, None, 600.0)
            self._shares.append(share)
            self.limiters.append(Limiter("m", share=share))

    def connect(self) -> None:
        """Find the keeper, once the loop runs."""
        for number, share in enumerate(self._shares):
            share.connected(lambda message, number=number: self._tell(number, message))

    def _hear(self, number: int, message: FromKeeper) -> None:
        self._said.append((number, message))
        self._loop.call_later(MESSAGE_S, self._deliver)

    def _deliver(self) -> None:
        number, message = self._said.popleft()
        self._shares[number].received(message)

    def _tell(self, number: int, message: ToKeeper) -> None:
        self._told.append((number, message))
        self._loop.call_later(MESSAGE_S, self._take)

    def _take(self) -> None:
        self._wait_until(self._keeper.receive(*self._told.popleft(), self._loop.time()))

    def _tick(self) -> None:
        self._wait_until(self._keeper.tick(self._loop.time()))

    def _wait_until(self, due: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._tick) if due is not None else None

    def leave(self) -> None:
        for share in self._shares:
            share.leave()
        if self._timer is not None:
            self._timer.cancel()
