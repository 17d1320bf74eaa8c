"""One walk through every screen and every sheet over it, for tests of what must hold on all of them."""

from collections.abc import AsyncIterator

from shown import assert_until, still
from textual.pilot import Pilot

from console.store.runs import RunFolder
from console.tui.app import ConsoleApp
from console.tui.screens.place import Place

SHEETS = ("question_mark", "colon", "ctrl+t", "y", "slash")
"""Keys that open something over a place."""


async def everywhere(app: ConsoleApp, pilot: Pilot[int], run: RunFolder, other: RunFolder) -> AsyncIterator[str]:
    """Go through all screens of the app, with these two runs; yield a name whenever there is something new to see."""
    for name in ("home", "live", "review", "compare", "board", "library", "cases", "launch"):
        await _open(app, pilot, name, run, other)
        yield name
        if name in ("live", "review", "compare", "library", "cases"):
            await pilot.press("tab")
            await still(app, pilot)
            yield f"{name}, next pane"
        if name == "review":
            for view in range(4):
                await pilot.press("v")
                await still(app, pilot)
                yield f"review, view {view}"
        for key in SHEETS if name in ("home", "review", "library") else ("question_mark",):
            await pilot.press(key)
            await still(app, pilot)
            yield f"{name}, {key}"
            await pilot.press("escape")
            await still(app, pilot)
    await pilot.press("escape")


async def _open(app: ConsoleApp, pilot: Pilot[int], name: str, run: RunFolder, other: RunFolder) -> None:
    if name == "live":
        app.open_live(run)
    elif name == "review":
        app.open_review(run)
    elif name == "compare":
        app.open_compare(other, run)
    elif name == "board":
        await pilot.press("B")
    elif name == "library":
        await pilot.press("5")
    elif name == "cases":
        await pilot.press("g", "x", "j", "enter")
    elif name == "launch":
        await pilot.press("L")
    where = "library" if name == "cases" else name
    await assert_until(pilot, lambda: isinstance(app.screen, Place) and app.screen.where == where)
    await app.workers.wait_for_complete()
    await still(app, pilot)
