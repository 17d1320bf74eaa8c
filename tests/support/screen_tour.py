"""One walk through every screen, every view and every sheet over them, for tests of what must hold on all of them."""

from collections.abc import AsyncIterator

from support.screen_text import assert_until, settle, wait_until_unchanged
from textual.pilot import Pilot

from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.screens.base import BaseScreen

PLACES = ("home", "live", "review", "compare", "grid", "board", "trends", "search", "library", "cases", "launch")
KEYS = {
    "grid": ("+", "enter"),
    "board": ("B",),
    "trends": ("H",),
    "search": ("S", "enter"),
    "library": ("5",),
    "cases": ("g", "x", "j", "enter"),
    "launch": ("L",),
}
"""What opens a place from the one before it."""
SHEETS = ("question_mark", "colon", "ctrl+t", "y", "slash")
"""Keys that open something over a place."""
STEPS = {
    "home": ("end", "home"),
    "live": ("tab", "w", "w", "w", "i", "x"),
    "review": ("tab", *"vvvvvvvv", *"iasp", "d", "x", "n"),
    "compare": ("tab", "s", "v"),
    "grid": ("down",),
    "board": ("down",),
    "trends": ("down",),
    "search": ("slash", *"pass", "enter", "down"),
    "library": ("tab", "down", "x"),
    "cases": ("tab",),
}
"""Keys that show something else of a place: the next pane, other views, the wall, what is folded."""


async def tour_screens(app: ConsoleApp, pilot: Pilot[int], *runs: RunFolder) -> AsyncIterator[str]:
    """Go through all screens of the app, with these three runs; yield a name whenever there is something new to see."""
    for name in PLACES:
        await go(app, pilot, name, *runs)
        yield name
        for number, key in enumerate(STEPS.get(name, ())):
            await pilot.press(key)
            await wait_until_unchanged(app, pilot)
            yield f"{name}, {number}: {key}"
        for key in SHEETS if name in ("home", "review") else ("question_mark",):
            place = app.screen
            await pilot.press(key)
            await wait_until_unchanged(app, pilot)
            yield f"{name}, {key}"
            stays = key == "question_mark" and app.screen is place  # on a wide terminal help is beside the place
            await pilot.press(key if stays else "escape")
            await wait_until_unchanged(app, pilot)
    await pilot.press("escape")


async def go(app: ConsoleApp, pilot: Pilot[int], name: str, *runs: RunFolder) -> None:
    """Go to one screen, and wait until everything on it is read."""
    if name == "live":
        app.navigator.open_live(runs[0])
    elif name == "review":
        app.navigator.open_review(runs[0])
    elif name == "compare":
        app.navigator.open_compare(runs[1], runs[0])
    else:
        await pilot.press(*KEYS.get(name, ()))
    where = "library" if name == "cases" else name
    await assert_until(pilot, lambda: isinstance(app.screen, BaseScreen) and app.screen.where == where)
    await settle(app, pilot)
    await wait_until_unchanged(app, pilot)
