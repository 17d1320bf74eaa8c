"""Waiting until an app under test has nothing left to do, asked of its event loop instead of the clock.

Textual's own way is to sleep until the process used next to no CPU for 20 ms, twice for every key. On an idle machine
that is most of a test's time, and on a busy one a process that gets no CPU looks idle. Here the loop is asked: nothing
is ready, nothing is due within a frame, no thread works for the app. What waits for the next frame is drawn at once.
"""

import asyncio
import threading
import time
from typing import Any

import textual.app
import textual.pilot
from textual._context import active_app

FRAME_S = 1 / 50
"""What is due sooner belongs to what is under way: Textual draws 60 times a second."""
ROUNDS = 3
"""How often in a row nothing may be ready: a socket or pipe is looked at once a round."""
STUCK_S = 0.02
"""A thread that used no CPU for so long waits for something that no test can see."""
READERS = ("workspace",)
"""Names of threads that hand over something soon."""


def install() -> None:
    """Let `Pilot` and `App` wait this way."""
    textual.app.wait_for_idle = textual.pilot.wait_for_idle = wait_until_idle  # type: ignore[assignment]


async def wait_until_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Return when the app has nothing to do, or `max_sleep` seconds have passed."""
    loop: Any = asyncio.get_running_loop()
    ends = time.monotonic() + max_sleep
    stuck_at, used, rounds = time.monotonic(), _others_cpu(), 0
    while rounds < ROUNDS and time.monotonic() < ends:
        await asyncio.sleep(0)
        if loop._ready or _drawn():
            rounds = 0
        elif (due := _due(loop)) is not None:
            rounds = 0
            await asyncio.sleep(due)
        elif _threads_work(loop):
            rounds = 0
            now = _others_cpu()
            if now - used > 0.0005:
                stuck_at, used = time.monotonic(), now
            elif time.monotonic() - stuck_at > STUCK_S:
                return
            await asyncio.sleep(0.001)
        else:
            rounds += 1


def _screens() -> list[Any]:
    app = active_app.get(None)
    return list(app.screen_stack) if app is not None and app._screen_stacks else []


def _drawn() -> bool:
    """Draw what waits for the next frame; return whether there was any."""
    screens = _screens()
    if screens and screens[-1]._update_timer._active.is_set():
        screens[-1]._on_timer_update()
        return True
    return False


def _due(loop: Any) -> float | None:
    """Return the seconds until the next timer, when it is due within a frame; drawing is no matter of time here."""
    drawing = {id(timer._task._fut_waiter) for screen in _screens() if (timer := screen._update_timer)._task}
    left = min(
        (
            handle._when - loop.time()
            for handle in loop._scheduled
            if not handle._cancelled and not (handle._args and id(handle._args[0]) in drawing)
        ),
        default=FRAME_S,
    )
    return max(0.0, left) if left < FRAME_S else None


def _threads_work(loop: Any) -> bool:
    pool = loop._default_executor
    busy = pool is not None and (pool._work_queue.qsize() or len(pool._threads) > pool._idle_semaphore._value)
    return bool(busy) or any(thread.name in READERS for thread in threading.enumerate())


def _others_cpu() -> float:
    return time.process_time() - time.thread_time()
