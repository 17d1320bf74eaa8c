"""The app on a small workspace, frames compared as plain text, hostile texts, and a terminal."""

import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from support.frames import AssertFrame, assert_snapshot, body_of, frame_of
from support.hostile_texts import HOSTILE
from support.pseudo_terminal import PseudoTerminal
from support.sample_workspace import SampleWorkspace
from support.screen_text import settle
from textual.pilot import Pilot

from console.config import paths
from console.tui.app import ConsoleApp
from console.tui.screens.launch import fields as launch_fields
from console.tui.themes import DARK


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SampleWorkspace]:
    """Folders of our own instead of the checkout's, local time UTC, one key found."""
    root = tmp_path / "workspace"
    root.mkdir()
    for name, value in (("TZ", "UTC"), ("DESK_KEY", "sk-desk-0123456789abcdef"), ("XDG_CONFIG_HOME", str(tmp_path)),
                        ("XDG_DATA_HOME", str(tmp_path)), ("XDG_STATE_HOME", str(tmp_path))):  # fmt: skip
        monkeypatch.setenv(name, value)
    terminal = ("TERM_PROGRAM", "VTE_VERSION", "WSL_DISTRO_NAME", "__CFBundleIdentifier")
    for name in ("NO_COLOR", "OPENAI_API_KEY", *terminal):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(paths, "checkout", lambda: None)
    monkeypatch.setattr(launch_fields, "has_ray", lambda: True)  # whatever is installed here
    monkeypatch.chdir(root)
    time.tzset()
    yield SampleWorkspace(root)
    monkeypatch.undo()
    time.tzset()


Opened80 = tuple[ConsoleApp, Pilot[int]]
Open = Callable[..., AbstractAsyncContextManager[Opened80]]


@pytest.fixture
def opened(workspace: SampleWorkspace) -> Open:
    """Open the app on the workspace and wait until everything is read."""

    @asynccontextmanager
    async def open_app(
        size: tuple[int, int] = (80, 24), theme: str = DARK, *, toasts: bool = False
    ) -> AsyncIterator[Opened80]:
        app = ConsoleApp(workspace.paths, theme=theme)
        async with app.run_test(size=size, notifications=toasts) as pilot:
            await settle(app, pilot)
            yield app, pilot

    return open_app


@pytest.fixture
def frame() -> Callable[[ConsoleApp], str]:
    """Return the function that reads the frame."""
    return frame_of


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


@pytest.fixture
def terminal(workspace: SampleWorkspace, tmp_path: Path) -> Iterator[Callable[..., PseudoTerminal]]:
    """Return a function that runs Python code in a terminal, on the workspace."""
    started: list[PseudoTerminal] = []
    root = Path(__file__).resolve().parents[2]

    def start(code: str, *, size: tuple[int, int] = (80, 24), **more: str) -> PseudoTerminal:
        environment = {**os.environ, "PYTHONPATH": str(root), "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path)}
        for name in ("COLORTERM", "COLUMNS", "LINES"):
            environment.pop(name, None)
        one = PseudoTerminal([sys.executable, "-c", code], size, {**environment, **more})
        started.append(one)
        return one

    yield start
    for one in started:
        one.close()
