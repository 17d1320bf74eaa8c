"""Draws what the app shows as a picture, cell by cell: `PICTURES=folder pytest tests/tui/test_states.py`."""

import re
from html import escape
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from support.screen_text import strips_of
from textual.app import App

WIDTH, HEIGHT = 9, 18


def draw(app: App[Any], path: Path) -> None:
    """Write the screen as SVG; every character has its place, so that columns are as in a terminal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns, rows = app.size
    back, front = _ground(app)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * WIDTH}" height="{rows * HEIGHT}">',
        f'<rect width="100%" height="100%" fill="{back}"/>',
        '<g font-family="DejaVu Sans Mono" font-size="14.95" xml:space="preserve">',
    ]
    for y, strip in enumerate(strips_of(app)):
        x = 0
        for segment in strip:
            style = segment.style
            fill, ground = front, back
            if style and style.color and not style.color.is_default:
                fill = style.color.get_truecolor().hex
            if style and style.bgcolor and not style.bgcolor.is_default:
                ground = style.bgcolor.get_truecolor().hex
            if style and style.reverse:
                fill, ground = ground, fill
            width = segment.cell_length
            if ground != back:
                box = f'x="{x * WIDTH}" y="{y * HEIGHT}" width="{width * WIDTH}" height="{HEIGHT}"'
                parts.append(f'<rect {box} fill="{ground}"/>')
            more = ' font-weight="bold"' if style and style.bold else ""
            more += ' text-decoration="underline"' if style and style.underline else ""
            for word in re.finditer(r"\S+", segment.text):
                left = (x + cell_len(segment.text[: word.start()])) * WIDTH
                parts.append(f'<text x="{left}" y="{y * HEIGHT + 14}" fill="{fill}"{more}>{escape(word[0])}</text>')
            x += width
    parts.append("</g></svg>")
    path.write_text("\n".join(parts), encoding="utf-8")


def _ground(app: App[Any]) -> tuple[str, str]:
    if app.native_ansi_color:
        return "#000000", "#d0d0d0"
    back, front = app.screen.background_colors[1], app.screen.styles.color
    return back.hex6, (front or app.screen.colors[3]).hex6
