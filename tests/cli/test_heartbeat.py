"""A run that waits says so: on stderr, in a log and on a terminal, within two seconds."""

import asyncio
import threading

import pytest
from support.virtual_loop import VirtualLoop

from console.cli import progress as progress_module
from console.cli.output import Output
from console.cli.progress import Progress
from console.core.case import Setting
from console.core.run import Manifest, ModelFacts

SEVEN = Manifest("r", 1.0, "s", ModelFacts("m"), Setting(), cases=7)


class Listener(Output):
    """Notes what is said, and when."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.shown: list[str] = []
        self.heard = asyncio.Event()
        self._terminal = terminal

    @property
    def rewrites(self) -> bool:
        return self._terminal

    def info(self, text: str) -> None:
        self._note(text)

    def rewrite(self, text: str, *, last: bool = False) -> None:
        self._note(text)

    def _note(self, text: str) -> None:
        self.shown.append(text)
        self.heard.set()


async def hear(listener: Listener) -> None:
    """Wait for the first line of a run that waits."""
    progress = Progress(listener, SEVEN)
    beat = asyncio.create_task(progress.beat())
    async with asyncio.timeout(2.0):
        await listener.heard.wait()
    progress.close()
    beat.cancel()
    assert listener.shown[0].startswith("0/7")


@pytest.mark.parametrize("terminal", [False, True])
def test_silence_is_broken_within_two_seconds(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, VirtualLoop)
        monkeypatch.setattr(progress_module, "time", loop.clock)
        runner.run(hear(Listener(terminal=terminal)))


async def test_nothing_beats_when_quiet(capsys):
    quiet = Progress(Output(quiet=True), SEVEN)
    await quiet.beat()
    quiet.close()
    assert capsys.readouterr() == ("", "")


async def test_no_thread_is_taken():
    before = threading.active_count()
    progress = Progress(Listener(terminal=False), SEVEN)
    beat = asyncio.create_task(progress.beat())
    await asyncio.sleep(0)
    assert threading.active_count() <= before
    progress.close()
    beat.cancel()
