"""The main job by keyboard in a real terminal: launch, watch, step through failures; and what outlives the terminal."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.run_ends import wait_until_ended
from support.tmux_terminal import TmuxTerminal

from console.store.lock import read_holder
from console.store.run_list import list_runs

Open = Callable[..., TmuxTerminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[TmuxTerminal] = []
    (tmp_path / "runs").mkdir()

    def start(*arguments: str, **given: object) -> TmuxTerminal:
        folder = tmp_path / f"t{len(opened)}"
        folder.mkdir()
        opened.append(TmuxTerminal(folder, "--runs", str(tmp_path / "runs"), *arguments, **given))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.mark.parametrize(
    "size", [pytest.param((80, 24), id="80x24"), pytest.param((160, 45), id="160x45", marks=pytest.mark.slow)]
)
def test_a_newcomer_finds_the_first_failure(tmp_path: Path, terminal: Open, size: tuple[int, int]) -> None:
    """No key, nothing set up: Enter starts the demo, 3 opens its first failure as soon as there is one."""
    app = terminal(size=size, env={"EVAL_CONSOLE_SIM_PACE": "flat"})
    app.until("Try the demo", "simulated", "? help")
    app.press("Enter")
    app.until("Live", "bfcl-starter", "✗")
    app.press("3")
    first = app.until("Review", "EXPECTED", "ACTUAL", "1 of ")
    assert "✗" in first
    app.press("n")
    app.until("2 of ")
    app.press("N")
    app.until("1 of ")
    app.press("?")
    app.until("next failure", "only untagged")  # a sheet, or beside the place where there is room
    app.press("?" if size[0] >= 160 else "Escape")
    app.until_gone("only untagged")
    app.press("1")
    app.until("Try the demo", "Last failures", "offline, no key needed")  # all runs of the demo are started
    runs = list_runs(tmp_path / "runs")
    wait_until_ended(runs)
    app.until_gone("●")
    app.press("q")
    app.until("exit 0", "icanon")
    assert {run.summary().suite for run in runs} == {
        "bfcl-starter",
        "aidan-starter",
        "cave-starter",
        "dialogue-starter",
    }
    assert all(run.summary().simulated for run in runs)


@pytest.mark.slow
def test_closing_the_terminal_does_not_end_a_run(tmp_path: Path, terminal: Open) -> None:
    app = terminal()
    app.until("Try the demo")
    app.press("Enter")
    app.until("running", "streaming")
    runs = list_runs(tmp_path / "runs")
    app.close()
    short = [run for run in runs if run.manifest().suite == "bfcl-starter"]
    wait_until_ended(short)
    assert {run.summary().state for run in short} == {"completed"}
    for run in list_runs(tmp_path / "runs"):
        holder = read_holder(run.lock_path)
        if run.is_live and holder is not None:
            os.kill(holder.pid, signal.SIGTERM)  # the loops would go on for most of a minute
    wait_until_ended(list_runs(tmp_path / "runs"))
    again = terminal()
    again.until("bfcl-starter", "✓")
    again.press("3")
    again.until("EXPECTED", "ACTUAL")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_the_terminal_as_it_was(terminal: Open, number: signal.Signals, code: int) -> None:
    app = terminal()
    app.until("Try the demo")
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(app.pid())], capture_output=True, text=True, check=True
    )
    os.kill(int(children.stdout.split()[0]), number)
    screen = app.until(f"exit {code}", "icanon")
    assert "-icanon" not in screen
    assert "Try the demo" not in screen


def test_bytes_that_are_no_text_do_not_end_the_app(terminal: Open) -> None:
    app = terminal()
    app.until("Try the demo")
    app.paste(b"\xff", is_typed=True)
    app.press("j", "q")
    app.until("exit 0", "icanon")
    assert "demo" not in app.screen()


@pytest.mark.slow
def test_pasted_bytes_and_a_storm_of_sizes_and_focus_leave_the_app_in_order(terminal: Open) -> None:
    app = terminal(size=(100, 30))
    app.until("Try the demo")
    focus = b"\x1b[I\x1b[O"
    for data in (b"\xff\xfe\x80", bytes(range(128, 256)) * 20, b"x" * 200_000, b"line\n" * 20_000, focus * 300):
        app.paste(data, is_typed=data.startswith(focus))
        for width, height in ((20, 5), (200, 60), (41, 10), (100, 30)):
            app.resize(width, height)
    app.until("Try the demo", "? help")
    app.press("j", "q")
    app.until("exit 0", "icanon")


def test_too_small_a_terminal_says_so_and_nothing_else(terminal: Open) -> None:
    app = terminal(size=(38, 9))
    screen = app.until("38×9")
    assert "Try the demo" not in screen
    app._tmux("resize-window", "-x", "80", "-y", "24")
    app.until("Try the demo")


def test_no_colour_is_asked_for_and_none_is_sent(terminal: Open) -> None:
    app = terminal(env={"NO_COLOR": "1"})
    app.until("Try the demo")
    assert "38;2;" not in app.raw()
    assert "38;5;" not in app.raw()
