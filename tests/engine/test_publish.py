"""Watchers get what is in flight, however late they come, and steer; the engine does not wait for them."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from console.core.case import Key
from console.core.live import AnyFrame, Began, Command, Deltas, Status
from console.engine.attach import EngineLink, send_command
from console.engine.publish import BACKLOG_BYTES, BEGINNING, Publisher


class Desk:
    """The engine's side of a publisher."""

    def __init__(self, folder: Path) -> None:
        self.commands: list[Command] = []
        self.heard = asyncio.Event()
        self.publisher = Publisher(folder / "live.sock", lambda: Status("running", 4), self.handle_command)

    def handle_command(self, command: Command) -> None:
        self.commands.append(command)
        self.heard.set()


@pytest.fixture(params=["short", "long" * 40])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Desk, Path]]:
    folder = tmp_path / request.param[:200]
    folder.mkdir()
    desk = Desk(folder)
    await desk.publisher.open(pytest.fail)
    yield desk, folder
    await desk.publisher.close()
    assert not (folder / "live.sock").is_symlink()


async def until_text(link: EngineLink, wanted: str) -> list[AnyFrame]:
    """Read frames until their text adds up to what is wanted."""
    seen: list[AnyFrame] = []
    async with asyncio.timeout(60):
        async for frame in link.frames():
            seen.append(frame)
            if text_of(seen) == wanted:
                return seen
    raise AssertionError(seen)


def text_of(frames: list[AnyFrame]) -> str:
    text = ""
    for frame in frames:
        if isinstance(frame, Began):
            text = ""
        elif isinstance(frame, Deltas):
            text += "".join(item.text for item in frame.items)
    return text


async def attach(folder: Path) -> EngineLink:
    link = await EngineLink.connect(folder)
    assert link is not None
    return link


async def test_a_late_watcher_gets_the_text_so_far_once(desk: tuple[Desk, Path]) -> None:
    publisher, folder = desk[0].publisher, desk[1]
    key = Key("a")
    early = await attach(folder)
    publisher.began(Began(key=key, n=1, role="model"))
    publisher.text(key, 1, "text", "Hel")
    await until_text(early, "Hel")
    publisher.text(key, 1, "text", "lo ")
    late = await attach(folder)
    publisher.text(key, 1, "text", "you")
    for link in (early, late):
        seen = await until_text(link, "Hello you" if link is late else "lo you")
        assert link is early or isinstance(seen[0], Status)
        link.close()


async def test_a_repeated_try_starts_its_text_anew(desk: tuple[Desk, Path]) -> None:
    publisher, folder = desk[0].publisher, desk[1]
    key = Key("a")
    link = await attach(folder)
    publisher.began(Began(key=key, n=1, role="model"))
    publisher.text(key, 1, "text", "lost")
    publisher.restarted(key, 1)
    publisher.text(key, 1, "text", "kept")
    await until_text(link, "kept")
    publisher.ended(key, 1)
    other = await attach(folder)
    async for frame in other.frames():
        assert isinstance(frame, Status)
        break
    link.close()
    other.close()


async def test_the_beginning_of_an_answer_is_marked_and_the_rest_is_not(desk: tuple[Desk, Path]) -> None:
    publisher, key = desk[0].publisher, Key("a")
    link = await attach(desk[1])
    assert isinstance(await anext(link.frames()), Status)
    publisher.began(Began(key=key, n=1, role="model"))
    publisher.text(key, 1, "text", "<answer>First")
    seen = await until_text(link, "<answer>First")
    assert isinstance(seen[-1], Deltas)
    assert seen[-1].begins
    publisher.text(key, 1, "text", "x" * BEGINNING)
    await until_text(link, "x" * BEGINNING)
    publisher.text(key, 1, "text", "later")
    seen = await until_text(link, "later")
    assert [frame.begins for frame in seen if isinstance(frame, Deltas)] == [False]
    link.close()


async def test_commands_arrive_and_junk_is_passed_over(desk: tuple[Desk, Path]) -> None:
    link = await attach(desk[1])
    link._writer.write(b"\xff not json\n")
    link.send(Command("concurrency", value=9))
    async with asyncio.timeout(60):
        await desk[0].heard.wait()
    assert [(command.do, command.value) for command in desk[0].commands] == [("concurrency", 9)]
    link.close()


async def test_a_command_is_heard_by_an_engine_that_is_writing(desk: tuple[Desk, Path]) -> None:
    publisher, key = desk[0].publisher, Key("a")
    publisher.began(Began(key=key, n=1, role="model"))

    async def write() -> None:
        while True:
            publisher.text(key, 1, "text", "x" * 4000)
            await asyncio.sleep(0)

    writing = asyncio.create_task(write())
    async with asyncio.timeout(60):
        sent = [await send_command(desk[1], Command("concurrency", value=number)) for number in range(1, 21)]
    writing.cancel()
    assert all(sent)
    assert [command.value for command in desk[0].commands] == list(range(1, 21))


async def test_a_watcher_that_reads_nothing_is_cut_off_and_the_others_are_not(desk: tuple[Desk, Path]) -> None:
    publisher, key = desk[0].publisher, Key("a")
    with socket.socket(socket.AF_UNIX) as idle:
        idle.connect(str((desk[1] / "live.sock").resolve()))
        link = await attach(desk[1])
        publisher.began(Began(key=key, n=1, role="model"))
        text = "x" * (BACKLOG_BYTES // 2)
        for _ in range(5):
            publisher.text(key, 1, "text", text)
            assert text_of(await until_text(link, text)) == text
        link.close()
        idle.setblocking(False)
        received = 0
        async with asyncio.timeout(60):
            while received < 5 * len(text):
                piece = await asyncio.get_running_loop().sock_recv(idle, 1 << 20)
                if not piece:
                    break
                received += len(piece)
    assert received < 5 * len(text)


async def test_nobody_listens_on_a_run_that_is_not_live(tmp_path: Path) -> None:
    assert await EngineLink.connect(tmp_path) is None
    (tmp_path / "live.sock").symlink_to(tmp_path / "gone")
    assert await EngineLink.connect(tmp_path) is None


async def test_a_run_that_cannot_be_watched_says_so_and_plays(tmp_path: Path) -> None:
    said: list[str] = []
    publisher = Publisher(tmp_path / "gone" / "live.sock", lambda: Status("running", 4), lambda command: None)
    await publisher.open(said.append)
    publisher.ended(Key("a"))
    await publisher.close()
    assert said == ["this run cannot be watched: No such file or directory"]


async def test_many_engines_that_begin_at_once_leave_the_umask_as_it_was(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(8)]
    for folder in folders:
        folder.mkdir()
    publishers = [Desk(folder).publisher for folder in folders]
    before = os.umask(0o022)
    try:
        await asyncio.gather(*(publisher.open(pytest.fail) for publisher in publishers))
        assert os.umask(0o022) == 0o022
        assert {(folder / "live.sock").stat().st_mode & 0o777 for folder in folders} == {0o600}
    finally:
        os.umask(before)
        for publisher in publishers:
            await publisher.close()
