"""The pictures of a case, each as large as the terminal: in pixels if it draws them (kitty or sixel), or half blocks.

They are shown while the app is suspended, as text in the pager is. On import, textual-image queries the terminal, and
the app would read the reply as keys. A transcript has half blocks only, because pixels would not scroll with its text.
"""

import fcntl
import os
import struct
import sys
import termios
import tty
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext

from rich.console import Console
from textual.app import SuspendNotSupported
from textual.content import Content

from console.core.fault import UsageError
from console.insight.passage import ShownMedia
from console.tui.render.picture import missing_extra, open_picture
from console.tui.services import Services

_LARGEST = 2000
"""Minimum width and height for decoding JPEG images at a smaller size."""
_MOST_CELLS = 290
"""Largest width and height in cells; kitty counts to 297."""
_MOST_PIXELS = 1000
"""Largest width and height of sixels; xterm drops larger ones."""
_CELL = (10, 20)
"""Cell size in pixels if the terminal does not report it: the VT340's."""
_THINNEST = 50
"""Largest aspect ratio; a thinner picture would be scaled to less than a cell."""
_ROOM = 2
"""Lines above and below a picture."""
_GOES_ON = (b"\r", b"\n", b" ")
_GOES_BACK = (b"q", b"\x1b", b"\x03", b"\x04", b"")


def page_pictures(services: Services, pictures: Sequence[ShownMedia]) -> None:
    """Show pictures one by one until the reader goes back; notify if that is not possible."""
    try:
        with services.suspend(), Console(file=sys.__stdout__).screen(), _keys_as_typed(sys.stdin.fileno()):
            _show_all(pictures)
    except (UsageError, SuspendNotSupported) as error:
        services.notify(Content(f"Cannot show pictures: {error}"), severity="error")


def _show_all(pictures: Sequence[ShownMedia]) -> None:
    try:
        with _unasked() if "TMUX" in os.environ else nullcontext():
            from textual_image.renderable import Image, SixelImage, TGPImage
    except ImportError:
        raise missing_extra() from None
    # In kitty's protocol, colors name the picture.
    console = Console(file=sys.__stdout__, color_system="truecolor" if Image is TGPImage else "auto", no_color=False)
    for place, shown in enumerate(pictures, 1):
        console.clear()
        keys = "q goes back" if place == len(pictures) else "enter shows the next one   q goes back"
        console.print(f"{shown.media.placeholder}   {place} of {len(pictures)}   {keys}", markup=False, highlight=False)
        try:
            picture = open_picture(shown.read(), (_LARGEST, _LARGEST))
            side = max(picture.size) // _THINNEST
            drawn = Image(picture.crop((0, 0, max(picture.width, side), max(picture.height, side))), "auto", "auto")
        except UsageError as error:
            console.print(str(error), markup=False, highlight=False)
            drawn = None
        else:
            columns, rows = _size_in_cells(sixel=Image is SixelImage)
            console.print(drawn, width=columns, height=rows)
        key = _read_key(sys.stdin.fileno())
        if drawn is not None:
            drawn.cleanup()
        if key in _GOES_BACK:
            return


def _size_in_cells(*, sixel: bool) -> tuple[int, int]:
    """Return the largest width and height of a picture."""
    asked = fcntl.ioctl(sys.stdin.fileno(), termios.TIOCGWINSZ, bytes(8))
    rows, columns, width, height = struct.unpack("4H", asked)
    if sixel:
        columns = min(columns, _MOST_PIXELS * columns // (width or _CELL[0] * columns))
        rows = min(rows, _MOST_PIXELS * rows // (height or _CELL[1] * rows))
    return min(columns, _MOST_CELLS), min(rows - _ROOM, _MOST_CELLS)


@contextmanager
def _unasked() -> Generator[None]:
    """Keep textual-image from querying tmux, which would take the query for a pane title."""
    before, sys.__stdin__ = sys.__stdin__, None
    try:
        yield
    finally:
        sys.__stdin__ = before


@contextmanager
def _keys_as_typed(descriptor: int) -> Generator[None]:
    """Read single keys without echo; ctrl+c is one of them, because its signal would end the app."""
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        mode = termios.tcgetattr(descriptor)
        mode[3] &= ~termios.ISIG
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read_key(descriptor: int) -> bytes:
    """Wait for a key that goes forward or back. Escape sequences and late terminal replies end in other bytes."""
    while (key := os.read(descriptor, 64)[-1:]) not in _GOES_ON + _GOES_BACK:
        pass
    return key
