"""A long run that was read once is shown the next time without reading it."""

import asyncio
from pathlib import Path

import pytest
from support.recorded_runs import plain_run

from console.store.runs import RunFolder
from console.tui.data import run_feed as feed_module
from console.tui.data.run_feed import Changes, RunFeed


async def opened(folder: RunFolder) -> tuple[RunFeed, Changes]:
    """Follow a run until it is read and, where it is long enough, kept."""
    feed, seen = RunFeed(folder), Changes()
    feed.start()
    async with asyncio.timeout(60):
        while not (feed.is_read and folder.index_path.exists()):
            seen.merge(feed.pump())
            await asyncio.sleep(0.005)
    return feed, seen


async def test_the_second_time_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "SAVED_FROM_BYTES", 1)
    monkeypatch.setattr(feed_module, "IDLE_POLL_S", 0.01)
    folder = plain_run(tmp_path, passed=40).folder
    first, read = await opened(folder)
    second, recalled = await opened(folder)
    try:
        assert (read.records > 0, recalled.records) == (True, 0)
        assert recalled.rewound
        assert second.overview.rollouts == first.overview.rollouts
        assert second.overview.fold == first.overview.fold
        key = next(iter(second.overview.rollouts.values())).key
        assert len(second.conversation(key).passages) == len(first.conversation(key).passages) > 0
    finally:
        first.close()
        second.close()
    folder.journal_path.write_bytes(folder.journal_path.read_bytes().replace(b'"finished"', b'"f1nished"', 1))
    third, again = await opened(folder)
    third.close()
    assert again.records == read.records - 1, "another journal is read anew"
    assert third.damages == 1
