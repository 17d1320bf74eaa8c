"""Pictures as large as the terminal: in its pixels if it says that it draws them, else in half blocks."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.pictures import png
from support.pseudo_terminal import PseudoTerminal
from support.quick_rows import first_quick

from console.tui.app import ConsoleApp

pytest.importorskip("textual_image", reason="needs the extra `images`")

PROGRAM = """
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from console.core.media import Media, MediaReference
from console.insight.passage import ShownMedia
from console.tui.picture_page import page_pictures

def shown(path):
    media = Media("image", MediaReference("0" * 64, "image/png", 1000, 24, 12))
    return ShownMedia(media, lambda: path.read_bytes() if path.exists() else None)

page_pictures(SimpleNamespace(suspend=nullcontext, notify=print), [shown(Path(name)) for name in sys.argv[1:]])
print("left")
"""
SIXEL, NEITHER = b"\x1b[?62;4;6c", b"\x1b[?62c"
KITTY = NEITHER + b"\x1b_Gi=1;OK\x1b\\"


@pytest.fixture
def paged(tmp_path: Path):
    """Show pictures in a terminal, whose answers are there before it is asked."""
    terminals: list[PseudoTerminal] = []

    def start(answers: bytes, *pictures: bytes | None, **environment: str) -> PseudoTerminal:
        names = [tmp_path / f"{place}.png" for place in range(len(pictures))]
        for name, data in zip(names, pictures, strict=True):
            if data is not None:
                name.write_bytes(data)
        clean = {name: value for name, value in os.environ.items() if name not in ("TMUX", "COLUMNS", "LINES")}
        command = [sys.executable, "-c", PROGRAM, *map(str, names)]
        terminal = PseudoTerminal(command, (80, 24), {**clean, "TERM": "xterm-256color", **environment})
        terminals.append(terminal)
        terminal.send(answers)
        return terminal

    yield start
    for terminal in terminals:
        terminal.close()


def test_sixels_fit_below_the_title_and_each_key_does_one_thing(paged) -> None:
    terminal = paged(SIXEL, png(24, 12), png(4, 4), None)
    first = terminal.read_until(b"\x1b8")
    assert b"[image 24\xc3\x9712 png, 1 kB]   1 of 3   enter shows the next one" in first
    assert b'\x1bP0;0;0q"1;1;800;400#' in first, "as wide as 80 columns of 10 pixels"
    terminal.send(b"x\r")
    assert b'"1;1;440;440#' in terminal.read_until(b"\x1b8"), "as high as 22 rows of 20 pixels"
    terminal.send(b" ")
    terminal.read_until(b"gone from the run's folder")
    terminal.send(b"q")
    assert terminal.wait() == 0
    assert terminal.output.count(b"\x1b[?1049h") == terminal.output.count(b"\x1b[?1049l") == 1
    assert terminal.output.endswith(b"left\r\n")


def test_kitty_gets_a_picture_once_and_is_told_to_forget_it(paged) -> None:
    terminal = paged(KITTY, png(24, 12))
    terminal.read_until("\U0010eeee".encode())
    terminal.send(b"\x03")
    assert terminal.wait() == 0
    sent = terminal.output
    assert sent.count(b"m=0,f=100") == sent.count(b"a=p,") == sent.count(b"a=d,") == 1
    assert b"c=80,r=20,U=1" in sent
    assert sent.count("\U0010eeee".encode()) == 80 * 20
    assert b"\x1b[38;2;" in sent, "the color, which names the picture, is exact in a terminal of 256 colors"


@pytest.mark.parametrize("environment", first_quick([{}, {"TMUX": "/tmp/tmux"}]))
def test_other_terminals_get_half_blocks_and_tmux_is_not_asked(paged, environment: dict[str, str]) -> None:
    terminal = paged(SIXEL if environment else NEITHER, png(24, 12), **environment)
    terminal.read_until("▀".encode())
    terminal.send(b"\x1b")
    assert terminal.wait() == 0
    assert b"\x1bP" not in terminal.output
    assert (b"\x1b_G" in terminal.output) is not bool(environment)


@pytest.mark.slow
def test_a_picture_as_thin_as_a_hair_is_shown(paged) -> None:
    terminal = paged(SIXEL, png(3000, 2))
    assert b'"1;1;800;20#' in terminal.read_until(b"\x1b8")
    terminal.send(b"q")
    assert terminal.wait() == 0


def test_the_app_takes_the_terminal_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    resumed: list[str] = []

    @contextmanager
    def suspend(app: ConsoleApp):
        yield
        resumed.append("resumed")

    monkeypatch.setattr(ConsoleApp, "suspend", suspend)
    with pytest.raises(OSError, match="no such pager"), ConsoleApp().services.suspend():
        raise OSError("no such pager")
    assert resumed
