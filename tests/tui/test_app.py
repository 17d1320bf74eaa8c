"""The app's frame: too small a terminal, ends of every kind, crashes without values, colours only where wanted."""

import asyncio
import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_quick
from support.screen_text import assert_until, see, settle, text_of

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.core.run import Summary, Tally
from console.store.lock import RunLock
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder
from console.tui import app as app_module
from console.tui.app import ConsoleApp
from console.tui.data import workspace as workspace_module
from console.tui.data.runs import RunLine
from console.tui.screens.base import BaseScreen
from console.tui.screens.launch.field_list import FieldList
from console.tui.start import run_app
from console.tui.themes import ANSI, DARK, choose_theme

PROGRAM = """
import sys
from pathlib import Path
from console.cli.main import run
sys.exit(run(["--models", "models.toml", "--runs", "runs", "--data", "data"]))
"""
BROKEN = """
from console.tui.screens.home.screen import HomeScreen
def boom(self):
    secret_local = "sk-value-that-must-not-show"
    raise RuntimeError("message with sk-another-value")
HomeScreen.action_reload = boom
"""
BROKEN_WORKER = BROKEN + "HomeScreen.action_reload = lambda self: self.run_worker(lambda: boom(self), thread=True)\n"
BROKEN_THREAD = (
    BROKEN
    + """
import console.tui.data.workspace as workspace
def sort(self):
    workspace.read_models = lambda paths: boom(self)
    self.services.workspace.read_models()
HomeScreen.action_reload = sort
"""
)
BROKEN_TASK = (
    BROKEN
    + """
from console.engine.background import start_task
async def fail(self):
    boom(self)
HomeScreen.action_reload = lambda self: start_task(fail(self), "task") and None
"""
)
RESTORED = b"\x1b[?1049l"


async def test_zoom_shows_one_pane_and_gives_the_rest_back(opened: Any, frame: Callable[[ConsoleApp], str]) -> None:
    async with opened() as (app, pilot):
        before = frame(app)
        await pilot.press("z")
        await pilot.pause()
        assert "New run" in frame(app)
        assert "sim/hasty" not in frame(app)
        await pilot.press("escape")
        await pilot.pause()
        assert frame(app) == before


async def test_a_pane_that_is_alone_has_a_title_line(opened: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await see(pilot, "space selects", "L")
        app.screen.query_one(FieldList).focus()
        await see(pilot, "> cases per suite")
        assert "SETTINGS" not in text_of(app)
        await see(pilot, "SETTINGS", "z")


async def test_a_pane_of_one_line_is_not_shown_alone(opened: Any) -> None:
    async with opened((80, 24)) as (app, pilot):
        await see(pilot, "MODELS", "tab", "tab", "z")
        assert app.screen.focused.id == "library-line"
        assert "Try the demo" in text_of(app)


async def test_the_end_of_a_run_is_announced_with_all_four_outcomes(opened: Any) -> None:
    tally = Tally(passed=4, failed=3, broken=2, undecided=1)
    summary = Summary(
        id="r", at=1.0, suite="loops", model="m", simulated=False, planned=10, tally=tally, state="completed"
    )
    async with opened() as (app, pilot):
        app.announce_end_of_run(RunLine(RunFolder(Path("/runs/r")), summary))
        await pilot.pause()
        assert app.services.messages[-1].plain == "m · loops finished: ✓ 4 ✗ 3 ! 2 ? 1"


async def test_numbers_lead_to_places_and_back(opened: Any, workspace: Any) -> None:
    async with opened() as (app, pilot):
        await pilot.press("2")
        await pilot.pause()
        assert app.screen.where == "home"
        assert "No run is live" in app.services.messages[-1].plain
        await pilot.press("L")
        await pilot.press("q")
        assert app.screen.where == "home"
        await pilot.press("q")
        await pilot.pause()
    assert app.return_value == 0


async def test_messages_are_kept(opened: Any, frame: Callable[[ConsoleApp], str]) -> None:
    async with opened() as (app, pilot):
        await pilot.press("2", "3")
        await pilot.press("colon", *"messages", "enter")
        await pilot.pause()
        assert "No run is live" in frame(app)
        assert "There is no run to review yet" in frame(app)


def test_the_theme_follows_the_terminal() -> None:
    assert choose_theme({"TERM": "xterm-256color"}) == DARK
    assert choose_theme({"NO_COLOR": "1"}) == ANSI
    assert choose_theme({"TERM": "linux"}) == ANSI
    assert choose_theme({"TERM": "dumb"}) == ANSI


def test_without_a_terminal_it_refuses_and_names_what_works() -> None:
    with pytest.raises(UsageError) as caught:
        run_app(WorkspacePaths())
    assert "eval-console run" in caught.value.hint


def test_it_paints_and_quits(terminal: Callable[..., Any]) -> None:
    one = terminal(PROGRAM)
    one.read_until(b"Try the demo")
    one.read_until(b"SUITES")
    one.send(b"\x11")
    assert one.wait() == 0
    assert RESTORED in one.output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_terminal_that_takes_nothing_does_not_keep_the_app(
    number: int, code: int, terminal: Callable[..., Any]
) -> None:
    one = terminal(f"from console.tui import start\nstart.PATIENCE_S = 0.5\n{PROGRAM}")
    one.read_until(b"SUITES")
    one.stall()
    one.send(b"51" * 40)
    one.signal(number)
    assert one.wait_unread() == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_restore_the_terminal(number: int, code: int, terminal: Callable[..., Any]) -> None:
    one = terminal(PROGRAM)
    one.read_until(b"Try the demo")
    one.read_until(b"SUITES")
    one.signal(number)
    assert one.wait() == code
    assert RESTORED in one.output
    assert b"Traceback" not in one.output


def test_a_closed_terminal_ends_the_app_whoever_got_the_signal(terminal: Callable[..., Any]) -> None:
    starter = (
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGHUP, lambda *_: None)\n"  # as make does, which is told in the place of the app
        f"sys.exit(subprocess.call([sys.executable, '-c', {PROGRAM!r}]))"
    )
    one = terminal(starter)
    one.read_until(b"SUITES")
    one.hang_up()
    assert one.wait_unread() == 129


@pytest.mark.parametrize(
    "broken", first_quick([BROKEN, BROKEN_WORKER, BROKEN_THREAD, BROKEN_TASK]), ids=["key", "worker", "thread", "task"]
)
def test_a_crash_shows_no_values_and_restores_the_terminal(terminal: Callable[..., Any], broken: str) -> None:
    one = terminal(broken + PROGRAM)
    one.read_until(b"SUITES")
    one.send(b"\x12")
    assert one.wait() == 70
    tail = one.output.split(RESTORED, 1)[1]
    assert b"RuntimeError" in tail
    assert b"sk-" not in one.output
    assert b"Traceback" not in one.output


def test_no_color_sends_no_colour(terminal: Callable[..., Any]) -> None:
    one = terminal(PROGRAM, NO_COLOR="1")
    one.read_until(b"SUITES")
    one.send(b"\x11")
    one.wait()
    assert not re.search(rb"\x1b\[[\d;]*(38|48)[;:]", one.output)


def test_ascii_marks_where_the_encoding_is_poor(terminal: Callable[..., Any]) -> None:
    code = PROGRAM.replace(
        "import sys\n", "import sys\nfrom console.tui.symbols import SYMBOLS\nSYMBOLS.use_ascii()\n", 1
    )
    one = terminal(code)
    found = one.read_until(b"SUITES")
    assert "✓".encode() not in found
    one.send(b"\x11")
    one.wait()


@contextmanager
def held(run: RunFolder) -> Iterator[None]:
    """Hold a run's lock, as its engine does."""
    lock = RunLock(run.lock_path)
    try:
        yield
    finally:
        lock.release()


async def test_quitting_asks_while_a_run_started_here_is_live(
    opened: Any, workspace: Any, frame: Callable[[ConsoleApp], str]
) -> None:
    run = workspace.run("2025-01-17T1320-mine", passed=1, planned=2, reason=None)
    with held(run):
        async with opened() as (app, pilot):
            assert "● 50%" in frame(app)
            app.navigator.add_launched([run])
            await pilot.press("ctrl+q")
            await pilot.pause()
            shown = frame(app)
            assert "1 run started here: 2025-01-17T1320-mine" in shown
            assert "leave running" in shown
            await pilot.press("escape")
            await pilot.pause()
            assert app.is_running
            assert app.screen.where == "home"
            await pilot.press("q", "l")
            await pilot.pause()
        assert app.return_value == 0


async def test_quitting_says_that_runs_of_a_shell_go_on(
    opened: Any, workspace: Any, frame: Callable[[ConsoleApp], str]
) -> None:
    with held(workspace.run("2025-01-17T1320-shell", passed=1, planned=2, reason=None)):
        async with opened() as (app, pilot):
            await pilot.press("ctrl+q")
            await pilot.pause()
            assert "1 run live, started elsewhere: 2025-01-17T1320-shell" in frame(app)
            assert "stop what was started here" not in frame(app)
            await pilot.press("l")
            await pilot.pause()
        assert app.return_value == 0


@pytest.fixture
def never_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the list of runs as it was read first."""
    monkeypatch.setattr(app_module, "LOOK_EVERY_S", 3_600.0)


@pytest.mark.usefixtures("never_looks")
async def test_quitting_does_not_ask_about_a_run_that_has_ended_since_the_last_look(
    opened: Any, workspace: Any, frame: Callable[[ConsoleApp], str]
) -> None:
    with ExitStack() as engine:
        engine.enter_context(held(workspace.run("2025-01-17T1320-shell", passed=1, planned=2, reason=None)))
        async with opened() as (app, pilot):
            assert "● 50%" in frame(app)
            engine.close()
            await pilot.press("ctrl+q")
            await pilot.pause()
            assert not app.is_running, frame(app)
        assert app.return_value == 0


@pytest.mark.usefixtures("never_looks")
async def test_quitting_asks_about_the_live_ones_only_of_runs_that_began_or_ended_since_the_last_look(
    opened: Any, workspace: Any, frame: Callable[[ConsoleApp], str]
) -> None:
    with ExitStack() as ends, ExitStack() as begins:
        ends.enter_context(held(workspace.run("2025-01-17T1320-ended", passed=1, planned=2, reason=None)))
        with held(workspace.run("2025-01-17T1320-goes-on", passed=1, planned=2, reason=None)):
            waiting = workspace.run("2025-01-17T1320-waited", planned=2, reason=None)
            waiting.journal_path.unlink()
            RunQueue(workspace.root / "runs").add([Queued(waiting.name, at=0.0)])
            async with opened((160, 45)) as (app, pilot):
                assert [line.name for line in app.services.workspace.queued] == [waiting.name]
                assert "2 runs live" in frame(app)
                ends.close()
                begins.enter_context(held(waiting))
                await pilot.press("ctrl+q")
                await pilot.pause()
                assert "2 runs live, started elsewhere: " in frame(app)
                assert "2025-01-17T1320-goes-on" in frame(app)
                assert "2025-01-17T1320-waited" in frame(app)
                assert "2025-01-17T1320-ended" not in frame(app)
                await pilot.press("l")
                await pilot.pause()
            assert app.return_value == 0


def shown(app: ConsoleApp) -> str:
    """Return the name of the screen or dialog that is shown."""
    return app.screen.where if isinstance(app.screen, BaseScreen) else type(app.screen).__name__


@pytest.mark.parametrize("place", first_quick(["home", "Question", "compare", "library", "HelpScreen"]))
async def test_the_top_line_follows_the_end_of_a_run_on_every_screen_between_looks_at_all_runs(
    place: str, opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace_module, "LEAST_REST", 1e9)  # as with very many runs
    monkeypatch.setattr(app_module, "LOOK_EVERY_S", 0.02)
    a, b = workspace.run("2025-01-17T1320-a", passed=1), workspace.run("2025-01-17T1320-b", passed=1)
    with ExitStack() as engine:
        engine.enter_context(held(workspace.run("2025-01-17T1320-shell", passed=1, planned=2, reason=None)))
        async with opened((140, 45)) as (app, pilot):
            app.services.workspace.look()
            await settle(app, pilot)
            if place == "compare":
                app.navigator.open_compare(a, b)
            elif key := {"library": "5", "Question": "ctrl+q", "HelpScreen": "question_mark"}.get(place):
                await pilot.press(key)
            await assert_until(pilot, lambda: shown(app) == place and "● 1 run live  50%" in text_of(app))
            engine.close()
            await assert_until(pilot, lambda: "run live  " not in text_of(app))
            assert shown(app) == place


async def test_stopping_on_the_way_out_reaches_the_engine(opened: Any, workspace: Any) -> None:
    run = workspace.run("2025-01-17T1320-mine", passed=1, planned=2, reason=None)
    heard: list[bytes] = []

    async def engine(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.close()

    short = Path(tempfile.mkdtemp()) / "s"
    server = await asyncio.start_unix_server(engine, str(short))
    run.socket_path.symlink_to(short)
    with held(run):
        async with opened() as (app, pilot):
            app.navigator.add_launched([run])
            await pilot.press("ctrl+q", "s")
            for _ in range(6_000):
                await pilot.pause(0.01)
                if heard:
                    break
        assert app.return_value == 0
    server.close()
    assert b'"do":"stop"' in heard[0]
