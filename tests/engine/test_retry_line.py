"""Slots and retries: who waits for its next try holds no slot, gets one back in turn, and never makes a run hang."""

import asyncio
from random import Random

import pytest

from console.engine.retry_line import MOST_WITHOUT_SLOT, RetryLine


@pytest.fixture
def line() -> RetryLine:
    return RetryLine(lambda: None)


async def waiting(line: RetryLine, count: int, seconds: float = 0.0) -> list["asyncio.Task[None]"]:
    """Have so many wait, and let those whose time has come line up."""
    tasks = [asyncio.create_task(line.wait(seconds, lambda: None)) for _ in range(count)]
    for _ in range(20):
        await asyncio.sleep(0)
    return tasks


async def test_who_waits_holds_no_slot_until_it_is_let_on(line: RetryLine) -> None:
    tasks = await waiting(line, 2)
    assert len(line) == 2
    assert line.is_next
    line.release_next()
    assert len(line) == 1
    await asyncio.wait_for(tasks[0], 60)
    assert not tasks[1].done(), "in the order of lining up, one at a time"
    line.release_next()
    await asyncio.wait_for(tasks[1], 60)
    assert len(line) == 0


async def test_who_is_due_comes_before_whoever_has_not_begun(line: RetryLine) -> None:
    """As in a run whose new cases outnumber its slots for minutes, which none of them may cost a retried one."""
    tasks = await waiting(line, 3)
    given = ""
    for _ in range(6):
        if line.is_next:
            line.release_next()
            given += "R"
        else:
            given += "."
    assert given == "RRR..."
    await asyncio.gather(*tasks)


async def test_with_very_many_waiting_nothing_new_starts(line: RetryLine) -> None:
    tasks = await waiting(line, MOST_WITHOUT_SLOT)
    assert not line.has_room
    assert line.is_next
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert line.has_room
    assert len(line) == 0


async def test_now_ends_all_waits(line: RetryLine) -> None:
    await waiting(line, 1, 3600)
    keeping = asyncio.create_task(line.wait(3600, lambda: None, keeps_slot=True))
    await asyncio.sleep(0)
    assert not line.is_next
    assert len(line) == 1, "one of them keeps its slot"
    line.retry_now()
    await asyncio.wait_for(keeping, 60)
    async with asyncio.timeout(60):
        while not line.is_next:  # noqa: ASYNC110  lining up has no event
            await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(20))
async def test_stopped_and_let_on_in_any_order_no_slot_is_lost_or_doubled(seed: int) -> None:
    """As an engine does it: slots in use are those that run, less those that wait here."""
    random, line = Random(seed), RetryLine(lambda: None)
    running: set[asyncio.Task[None] | None] = set()
    slots, most = 3, 0

    def in_use() -> int:
        return len(running) - len(line)

    async def conversation() -> None:
        try:
            for _ in range(random.randrange(4)):
                await asyncio.sleep(0)
                await line.wait(random.choice([0.0, 0.001]), lambda: None)
        finally:
            running.discard(asyncio.current_task())

    to_start = 60
    async with asyncio.timeout(60):
        while to_start or running:
            while in_use() < slots and (line.is_next or to_start):
                if line.is_next:
                    line.release_next()
                else:
                    to_start -= 1
                    task = asyncio.create_task(conversation())
                    running.add(task)
                    task.add_done_callback(running.discard)
            most = max(most, in_use())
            if running and random.random() < 0.1:
                random.choice([task for task in running if task]).cancel()
            if random.random() < 0.05:
                line.retry_now()
            await asyncio.sleep(0)
    assert most == slots
    assert len(line) == 0


async def test_who_only_lacks_a_slot_says_so() -> None:
    line, lined_up = RetryLine(lambda: None), asyncio.Event()
    waiting = asyncio.create_task(line.wait(0.0, lined_up.set))
    await asyncio.wait_for(lined_up.wait(), 60)
    assert not waiting.done()
    assert line.is_next
    line.release_next()
    await asyncio.wait_for(waiting, 60)
