"""Pictures as lines of half blocks, two pixels a cell. Needs the extra `images`; without it, a line says so."""

import io
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from textual.content import Content

from console.config.extras import install_command
from console.core.fault import UsageError
from console.insight.passage import ShownMedia
from console.tui.symbols import muted

if TYPE_CHECKING:
    from PIL.Image import Image

COLUMNS, ROWS = 48, 16
"""Largest size of a picture, in cells."""
_MOST_PIXELS = 40_000_000
GONE = "its file is gone from the run's folder"


def picture_lines(shown: ShownMedia) -> tuple[Content, ...]:
    """Return an image as lines, or the reason why it is not shown; empty for audio and other files."""
    if shown.media.kind != "image":
        return ()
    return _lines(shown.read())


def missing_extra() -> UsageError:
    """Return the error that the extra for pictures is not installed."""
    return UsageError(f"{install_command('images')} shows it here")


def open_picture(data: bytes | None, size: tuple[int, int]) -> "Image":
    """Decode a picture, on white where it is transparent; JPEG images may be smaller, but not below `size`.

    Raises:
        UsageError: it is missing, too large or not a picture, or the extra is not installed.
    """
    if data is None:
        raise UsageError(GONE)
    try:
        from PIL import Image
    except ImportError:
        raise missing_extra() from None
    try:
        with warnings.catch_warnings(action="error"), Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                raise UsageError("too large to be shown here")
            opened.draft("RGB", size)
            picture = opened.convert("RGBA")
    except UsageError:
        raise
    except Exception as error:  # the bytes are untrusted, and decoders raise anything
        raise UsageError(f"the picture cannot be shown: {type(error).__name__}") from None
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


@lru_cache(maxsize=32)
def _lines(data: bytes | None) -> tuple[Content, ...]:
    try:
        picture = open_picture(data, (COLUMNS * 4, ROWS * 8))
    except UsageError as error:
        return (muted(str(error)),)
    share = min(COLUMNS / picture.width, 2 * ROWS / picture.height, 1.0)
    width, height = max(round(picture.width * share), 1), max(round(picture.height * share), 1)
    pixels = cast("list[tuple[int, int, int]]", list(picture.resize((width, height)).get_flattened_data()))
    rows = [pixels[start : start + width] for start in range(0, len(pixels), width)]
    return tuple(
        Content.assemble(*(("▀", _style(top, rows[row + 1][column] if row + 1 < height else None))
                           for column, top in enumerate(rows[row])))
        for row in range(0, height, 2)
    )  # fmt: skip


def _style(top: tuple[int, int, int], bottom: tuple[int, int, int] | None) -> str:
    below = "" if bottom is None else " on #{:02x}{:02x}{:02x}".format(*bottom)
    return "#{:02x}{:02x}{:02x}".format(*top) + below
