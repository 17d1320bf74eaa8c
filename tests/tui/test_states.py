"""Every screen and state: held as a frame at two sizes, saying the same in every theme, legibly.

One state of each screen is held at the commonest sizes in between too, reached by resizing the wide terminal.

The light theme is compared in the wide frames, which show every pane, in `make test-all` all of them in both.

`PICTURES=folder` draws all of them in every theme, to be looked at; `UPDATE_FRAMES=1` renews the frames.
"""

import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from support.frames import ChromeLog, assert_snapshot
from support.quick_rows import first_quick
from support.screen_picture import draw
from support.screen_text import strips_of, text_of
from support.state_walks import WALKS, Stage, Walk, branches
from textual.screen import ModalScreen

from console.tui.app import ConsoleApp
from console.tui.themes import ANSI, CONTRAST, DARK, LIGHT, NAMES
from console.tui.widgets.viewport import Viewport

SIZES = {"80x24": (80, 24), "160x45": (160, 45)}
BETWEEN = {"100x30": (100, 30), "130x36": (130, 36), "145x40": (145, 40)}
HELD_BETWEEN = frozenset(
    ("home-usual", "live-running", "live-loops", "review", "review-rows-berth-and-price", "compare", "compare-repeats",
     "compare-grid", "compare-grid-cases", "compare-branch", "review-label-rounds", "review-label-criteria",
     "review-branches", "review-tokens", "review-by-cost", "home-by-tokens", "check-findings",
     "library-suites", "launch-filled", "search", "review-history", "review-kind-flag-talk", "review-kind-fizz",
     "review-kind-prime", "review-kind-late")
)  # fmt: skip
PICTURES = os.environ.get("PICTURES", "")
LEAST = {CONTRAST: 7.0}
"""Least contrast of text in a theme; 4.5, the AA level of WCAG 2.2, where none is named."""
LINES = frozenset("─│┃━╭╮╰╯┏┓┗┛┬┴├┤▀▁▂▃▄▅▆▇█▏▌▐░▒▔▕▎▍▋▊▉ ")
"""Characters that draw and say nothing: they may be pale."""


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return the contrast ratio of two colours as WCAG 2.2 reckons it, from 1 to 21."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: tuple[int, int, int]) -> float:
    parts = [value / 255 for value in colour]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def pale(app: ConsoleApp, least: float) -> Iterator[str]:
    """Yield what is painted in a contrast below the least one, with its colours; what a sheet dims below it is not."""
    screen = app.screen
    sheet = screen.children[0].region if isinstance(screen, ModalScreen) else screen.region
    for strip in strips_of(app)[sheet.y : sheet.bottom]:
        for segment in strip.crop(sheet.x, sheet.right):
            style, text = segment.style, "".join(set(segment.text) - LINES)
            if not text or style is None or style.color is None or style.bgcolor is None:
                continue
            ratio = contrast(tuple(style.color.get_truecolor()), tuple(style.bgcolor.get_truecolor()))
            if ratio < least:
                yield f"{ratio:.2f}  {segment.text.strip()!r}  {style.color.name} on {style.bgcolor.name}"


SEEN = defaultdict[tuple[str, ...], set[tuple[str, str, bool]]](set)
"""Pairs of colours that were painted in a state that has been looked at in some themes."""


def pairs(app: ConsoleApp) -> set[tuple[str, str, bool]]:
    """Return the pairs of colours on the screen; each stands for a pair of roles, which other themes paint alike.

    The pixels of pictures have their own colours in every theme.
    """
    segments = (segment for strip in strips_of(app) for segment in strip)
    styles = {segment.style for segment in segments if segment.style and segment.text.strip("▀")}
    return {(str(style.color), str(style.bgcolor), isinstance(app.screen, ModalScreen)) for style in styles}


async def assert_alike(stage: Stage, name: str, themes: Iterable[str]) -> None:
    """Hold that a state says the same in themes, legibly."""
    app, text = stage.app, text_of(stage.app)
    for theme in themes:
        app.theme = theme
        await stage.pilot.pause()
        if PICTURES:
            draw(app, Path(PICTURES) / theme / f"{name}-{stage.size[0]}x{stage.size[1]}.svg")
        assert text_of(app) == text, f"{name} in {theme}"
        if theme == ANSI:
            assert not [one for one in pairs(app) if "#" in f"{one[0]}{one[1]}"], f"{name}: not the terminal's colours"
        else:
            assert not list(pale(app, LEAST.get(theme, 4.5))), f"{name} in {theme}"
    app.theme = DARK
    await stage.pilot.pause()


def beside_bars(app: ConsoleApp) -> Iterator[str]:
    """Yield text in the cells next to a scroll bar."""
    strips = strips_of(app)
    for viewport in app.screen.query(Viewport):
        bar = viewport.vertical_scrollbar.region if viewport.show_vertical_scrollbar else None
        if bar is None or not viewport.region.overlaps(app.screen.region) or not bar.area:
            continue
        for y in range(max(bar.y, 0), min(bar.bottom, len(strips))):
            cell = strips[y].crop(bar.x - 1, bar.x).text
            if cell.strip() and cell not in LINES:
                yield f"#{viewport.id} {viewport!r}: {strips[y].crop(bar.x - 12, bar.right).text!r}"
                break


async def resize(stage: Stage, cells: tuple[int, int]) -> None:
    """Resize the terminal and wait until everything is drawn at the new size."""
    await stage.pilot.resize_terminal(*cells)
    await stage.see(lambda: stage.app.screen._compositor.size == cells)


async def differences_between(stage: Stage, name: str, assert_frame: Callable[..., None]) -> AsyncIterator[str]:
    """Yield how the frames at the sizes in between differ; the terminal ends at its own size."""
    for size, cells in BETWEEN.items():
        await resize(stage, cells)
        if PICTURES:
            draw(stage.app, Path(PICTURES) / DARK / f"{name}-{size}.svg")
        try:
            assert_frame(stage.app, f"states/{name}-{size}")
        except AssertionError as difference:
            yield f"{name}-{size}: {difference}"
    await resize(stage, stage.size)


@pytest.mark.parametrize(
    ("size", "themes"),
    first_quick([("80x24", ()), ("160x45", (LIGHT,)), ("80x24", NAMES), ("160x45", NAMES)], 2),
    ids=["80x24", "160x45", "80x24 in every theme", "160x45 in every theme"],
)
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
async def test_states(
    walk: Walk,
    size: str,
    themes: tuple[str, ...],
    workspace: Any,
    opened: Any,
    monkeypatch: pytest.MonkeyPatch,
    assert_frame: Callable[..., None],
) -> None:
    stage = Stage(workspace, opened, monkeypatch, SIZES[size])
    other: list[str] = []
    chrome = ChromeLog()
    async with aclosing(walk(stage)) as states:
        async for name in states:
            other += [f"{name}-{size}: next to a scroll bar: {text}" for text in beside_bars(stage.app)]
            try:
                chrome.take(stage.app, name)
                assert_frame(stage.app, f"states/{name}-{size}")
            except AssertionError as difference:
                other.append(f"{name}-{size}: {difference}")
            if size == "160x45" and name in HELD_BETWEEN:
                other += [difference async for difference in differences_between(stage, name, assert_frame)]
            found = pairs(stage.app)
            if PICTURES or (themes and not found <= SEEN[themes]):
                await assert_alike(stage, name, NAMES if PICTURES else themes)
                SEEN[themes].update(found)
    assert not other, "\n".join(other)
    assert_snapshot(chrome.text(), f"chrome/{walk.__name__}-{size}")


@pytest.mark.slow
@pytest.mark.parametrize("walk", [branches], ids=["branches"])
async def test_states_that_begin_at_the_commonest_size(
    walk: Walk, workspace: Any, opened: Any, monkeypatch: pytest.MonkeyPatch, assert_frame: Callable[..., None]
) -> None:
    """Dialogs among them, which a resized terminal shows over panes that are drawn when they are back."""
    stage, other = Stage(workspace, opened, monkeypatch, BETWEEN["130x36"]), list[str]()
    async with aclosing(walk(stage)) as states:
        async for name in states:
            try:
                assert_frame(stage.app, f"states/{name}-130x36")
            except AssertionError as difference:
                other.append(f"{name}-130x36: {difference}")
    assert not other, "\n".join(other)
