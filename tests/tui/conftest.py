"""A small desk for the app: real models, suite and runs in a folder of their own, and frames compared as plain text."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from console.config import paths
from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.runs import RunFolder, create_run
from console.tui.app import ConsoleApp
from console.tui.data.catalog_items import WorkspacePaths
from console.tui.data.workspace import THREAD
from console.tui.screens.base import BaseScreen
from console.tui.themes import DARK
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.top_line import TopLine

SNAPSHOTS = Path(__file__).parent / "snapshots"
UPDATE = "UPDATE_FRAMES"
"""With this variable set, frames are written instead of compared."""
AT = 1_737_120_000.0
"""17 January 2025, 13:20 UTC: far enough back that lists always show it the same way."""
MODELS = """\
[gpt-x]
model_id = "gpt-x-1"
api_key_env = "DESK_KEY"
price = { in = 1.25, out = 10.0 }

[claude-y]
model_id = "claude-y-1"
api_key_env = "DESK_KEY_THAT_IS_NOT_SET"
price = { in = 3.0, out = 15.0 }
"""
SUITE = """\
format = "aidanbench"
title = "Small talk, six questions"
[source]
name = "desk"
version = "1"
digest = "0"
licence = "Apache-2.0"
"""
QUESTIONS = (
    ("what-1", "what", "What could a brick be good for?"),
    ("what-2", "what", "What would a city without clocks be like?"),
    ("what-3", "what", "What makes a good bench?"),
    ("why-1", "why", "Why do people hum?"),
    ("why-2", "why", "Why are some chairs never used?"),
    ("why-3", "why", "Why do we keep old keys?"),
)


@dataclass
class Desk:
    """Folders for one test."""

    root: Path
    places: WorkspacePaths = field(init=False)

    def __post_init__(self) -> None:
        self.places = WorkspacePaths(self.root / "models.toml", self.root / "data", self.root / "runs")
        (self.root / "runs").mkdir()
        self.write_models(MODELS)
        self.write_suite("small-talk")

    def write_models(self, text: str) -> None:
        (self.root / "models.toml").write_text(text, encoding="utf-8")

    def write_suite(self, name: str, title: str = "Small talk, six questions") -> None:
        folder = self.root / "data" / name
        folder.mkdir(parents=True)
        (folder / "suite.toml").write_text(SUITE.replace("Small talk, six questions", title), encoding="utf-8")
        lines = [f'{{"id": "{id}", "category": "{part}", "question": "{text}"}}\n' for id, part, text in QUESTIONS]
        (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")

    def run(
        self,
        id: str,
        *,
        suite: str = "small-talk",
        model: str = "gpt-x",
        category: str = "what",
        passed: int = 0,
        failed: int = 0,
        broken: int = 0,
        planned: int | None = None,
        reason: str | None = "completed",
        simulated: bool = False,
        cost: float | None = 0.002,
        age_days: float = 0.0,
    ) -> RunFolder:
        """Make a run with so many rollouts of each outcome; without a `reason` its engine died."""
        at = AT - age_days * 86_400
        facts = ModelFacts(name=model, simulated=simulated)
        total = passed + failed + broken
        run = create_run(
            self.root / "runs",
            Manifest(id=id, at=at, suite=suite, model=facts, setting=Setting(), cases=planned or total),
        )
        writer = JournalWriter(run.journal_path)
        writer.append(Opened(at=at, pid=1))
        outcomes = [Outcome.PASSED] * passed + [Outcome.FAILED] * failed + [Outcome.BROKEN] * broken
        for number, outcome in enumerate(outcomes):
            key = Key(f"{category}-{number}")
            reasons = {Outcome.FAILED: "value_error:string", Outcome.BROKEN: "rate_limit"}
            writer.append(Started(at=at + number, key=key, case=Case(key.case, category)))
            verdict = Verdict(outcome, reason=reasons.get(outcome))
            writer.append(
                Finished(
                    at=at + number + 0.5,
                    key=key,
                    verdict=verdict,
                    input_tokens=900,
                    output_tokens=40,
                    cost_usd=cost,
                    calls=1,
                )
            )
        if reason is not None:
            writer.append(Closed(at=at + total, reason=reason))
        writer.close()
        return run

    def usual_runs(self) -> None:
        """Make one run of every kind that a list must show."""
        self.run("2025-01-17T1320-a", passed=96, failed=21, planned=200, reason=None)
        self.run("2025-01-16T0900-b", model="sim/hasty", category="why", passed=9, failed=5, broken=1, simulated=True,
                 cost=0.0, age_days=1)  # fmt: skip
        self.run("2025-01-15T0900-c", passed=50, cost=None, age_days=2)
        damaged = self.root / "runs" / "2025-01-01T0000-z"
        damaged.mkdir()
        (damaged / "run.json").write_text("{", encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Folders of our own instead of the checkout's, local time UTC, one key found."""
    root = tmp_path / "desk"
    root.mkdir()
    for name, value in (("TZ", "UTC"), ("DESK_KEY", "sk-desk-0123456789abcdef"), ("XDG_CONFIG_HOME", str(tmp_path)),
                        ("XDG_DATA_HOME", str(tmp_path))):  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.chdir(root)
    time.tzset()
    yield Desk(root)
    monkeypatch.undo()
    time.tzset()


Opened80 = tuple[ConsoleApp, Pilot[int]]
Open = Callable[..., AbstractAsyncContextManager[Opened80]]


@pytest.fixture
def opened(desk: Desk) -> Open:
    """Open the app on the desk and wait until everything is read."""

    @asynccontextmanager
    async def open_app(
        size: tuple[int, int] = (80, 24), theme: str = DARK, *, toasts: bool = False
    ) -> AsyncIterator[Opened80]:
        app = ConsoleApp(desk.places, theme=theme)
        async with app.run_test(size=size, notifications=toasts) as pilot:
            await settle(app, pilot)
            yield app, pilot

    return open_app


async def settle(app: ConsoleApp, pilot: Pilot[int]) -> None:
    """Wait until threads have handed over what they read and it is drawn."""
    for _ in range(3):
        await app.workers.wait_for_complete()
        while any(thread.name == THREAD for thread in threading.enumerate()):
            await pilot.pause(0.01)
        await pilot.pause()


def rows_of(app: ConsoleApp) -> list[str]:
    """Return what the terminal shows, and check that every line is exactly as wide as the terminal."""
    strips = app.screen._compositor.render_strips()
    width, height = app.size
    assert len(strips) == height
    assert {strip.cell_length for strip in strips} == {width}
    return [strip.text.rstrip() for strip in strips]


def frame_of(app: ConsoleApp) -> str:
    """Return the rows of the terminal as one text."""
    return "\n".join(rows_of(app)) + "\n"


def chrome_of(app: ConsoleApp) -> dict[int, str]:
    """Return the rows of top line and key line, of the place that is shown or that a dialog lies over."""
    base = next(screen for screen in reversed(app.screen_stack) if isinstance(screen, BaseScreen))
    rows: dict[int, str] = {}
    for widget in (*base.query(TopLine), *base.query(KeyLine)):
        if widget.display:
            strips = widget.render_lines(Region(0, 0, widget.size.width, widget.size.height))
            rows |= {y: strip.text.rstrip() for y, strip in enumerate(strips, widget.region.y)}
    return rows


def body_of(app: ConsoleApp) -> str:
    """Return the frame without top line and key line; a row of theirs that something covers stays."""
    chrome = chrome_of(app)
    return "".join(f"{row}\n" for y, row in enumerate(rows_of(app)) if chrome.get(y) != row)


@pytest.fixture
def frame() -> Callable[[ConsoleApp], str]:
    """Return the function that reads the frame."""
    return frame_of


def assert_snapshot(text: str, name: str) -> None:
    """Compare a text with the committed one of this name."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no such frame yet; {UPDATE}=1 writes it"
    assert text == path.read_text(encoding="utf-8")


class AssertFrame(Protocol):
    """Compares what is shown with the committed frame: the body, or with `whole` top line and key line as well."""

    def __call__(self, app: ConsoleApp, name: str, *, whole: bool = False) -> None: ...


@pytest.fixture
def assert_frame() -> AssertFrame:
    """Return the function that compares frames."""

    def check(app: ConsoleApp, name: str, *, whole: bool = False) -> None:
        assert_snapshot(frame_of(app) if whole else body_of(app), name)

    return check


@pytest.fixture(name="settle")
def settle_fixture() -> Callable[[ConsoleApp, Pilot[int]], object]:
    """Return the function that waits for threads."""
    return settle


HOSTILE = (
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x9b31m\x9d52;c;eA==\x9c",
    "a\u202eb\u2066c\u2069d\u200fe",
    "zero\u200bwidth\ufeff\u2060\U000e0041",
    "lone \ud83d surrogate \udc00",
    "[/x][red]not red[/red][@click=app.quit]click[/]",
    "[link=http://evil.example]x[/link] [[[ ]]] \\[",
    "back\x08space\rreturn\x0bvertical\x0cform\x7fdelete\x00nul",
    "$fail $(rm -rf) `id` %s {0} {self.__class__}",
    "👩‍👩‍👧 é́́́ 漢字かな ﷽ 𝕏",
    "line\u2028sep\u2029par\x85nel",
)
"""Texts that would hurt a terminal, a markup parser or a layout."""


@pytest.fixture(params=range(len(HOSTILE)), ids=lambda n: f"hostile{n}")
def hostile(request: pytest.FixtureRequest) -> str:
    """Return each hostile text in turn."""
    return HOSTILE[request.param]


@pytest.fixture(params=range(4), ids=lambda n: f"hostile{n}")
def hostile_some(request: pytest.FixtureRequest) -> str:
    """Return the hostile texts in four parts, each begun by another one, where every text needs an app of its own."""
    return " ".join(HOSTILE[request.param :: 4])


@pytest.fixture
def all_hostile() -> tuple[str, ...]:
    """Return all hostile texts."""
    return HOSTILE


class Terminal:
    """A real terminal of a given size with a program in it; keys in, bytes out, nothing waits without an end."""

    def __init__(self, command: list[str], size: tuple[int, int], environment: dict[str, str]) -> None:
        width, height = size
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            os.execvpe(command[0], command, environment)
        self.output = b""
        self.code: int | None = None

    def read_until(self, wanted: bytes, seconds: float = 60.0) -> bytes:
        """Read until the output since the last call holds `wanted`."""
        start, end = len(self.output), time.monotonic() + seconds
        while wanted not in self.output[start:]:
            assert time.monotonic() < end, f"no {wanted!r} in {self.output[start:][-2000:]!r}"
            assert self._read(end), f"it ended without {wanted!r}: {self.output[-2000:]!r}"
        return self.output[start:]

    def send(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def stall(self) -> None:
        """Stop the terminal: what the program writes from now on waits to be taken."""
        inside = os.open(f"/proc/{self.pid}/fd/1", os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(inside, termios.TCOOFF)
        os.close(inside)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait_unread(self) -> int:
        """Return the exit code of a program that nobody reads."""
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def wait(self, seconds: float = 60.0) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + seconds
        while self._read(end):
            assert time.monotonic() < end, "it does not end"
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def close(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(end - time.monotonic(), 0.0))
        if not ready:
            return True
        try:
            found = os.read(self._fd, 65_536)
        except OSError:
            return False
        self.output += found
        return bool(found)


@pytest.fixture
def terminal(desk: Desk, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Return a function that runs Python code in a terminal, on the desk."""
    started: list[Terminal] = []
    root = Path(__file__).resolve().parents[2]

    def start(code: str, *, size: tuple[int, int] = (80, 24), **more: str) -> Terminal:
        environment = {**os.environ, "PYTHONPATH": str(root), "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path)}
        for name in ("COLORTERM", "COLUMNS", "LINES"):
            environment.pop(name, None)
        one = Terminal([sys.executable, "-c", code], size, {**environment, **more})
        started.append(one)
        return one

    yield start
    for one in started:
        one.close()
