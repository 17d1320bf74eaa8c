"""Pictures as lines of half blocks, two pixels a cell. Needs the extra `images`; without it a sentence says so."""

import io
import warnings
from functools import lru_cache
from typing import cast

from textual.content import Content

from console.insight.passage import ShownMedia
from console.tui.symbols import muted

COLUMNS, ROWS = 48, 16
"""Largest size of a picture, in cells."""
_MOST_PIXELS = 40_000_000
MISSING_EXTRA = "pip install 'eval-console[images]' shows it here"
GONE = "its file is gone from the run's folder"


def picture_lines(shown: ShownMedia) -> tuple[Content, ...]:
    """Return a picture as lines, or the reason why it is not shown; empty for sound and files."""
    if shown.media.kind != "image":
        return ()
    data = shown.read()
    return (muted(GONE),) if data is None else _lines(data)


@lru_cache(maxsize=32)
def _lines(data: bytes) -> tuple[Content, ...]:
    try:
        from PIL import Image
    except ImportError:
        return (muted(MISSING_EXTRA),)
    try:
        with warnings.catch_warnings(action="error"), Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return (muted("too large to be shown here"),)
            opened.draft("RGB", (COLUMNS * 4, ROWS * 8))
            picture = opened.convert("RGBA")
    except Exception as error:  # the bytes are foreign, and decoders raise anything
        return (muted(f"no picture that can be shown: {type(error).__name__}"),)
    background = Image.new("RGBA", picture.size, "white")
    picture = Image.alpha_composite(background, picture).convert("RGB")
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
