"""Every pane of every screen stands alone: it needs no screen, no app of ours and no sibling to be drawn."""

import importlib
import inspect
from collections.abc import Callable, Iterator

import pytest
from rules.package import MODULES
from support.pane_app import mounted
from textual.screen import Screen
from textual.widget import Widget

from console.tui.screens.grid.controller import GridController
from console.tui.screens.launch.choices import ChoiceList
from console.tui.screens.launch.form import Form
from console.tui.screens.leaderboard.controller import LeaderboardController
from console.tui.screens.library.controller import LibraryController
from console.tui.screens.live.standard_view import STANDARD

GIVEN: dict[str, Callable[[], object]] = {
    "controller": LeaderboardController,
    "form": Form,
    "go_to_end": lambda: lambda place: None,
    "library": LibraryController,
    "number": lambda: 0,
    "runs": lambda: GridController([], in_loop=lambda call: None, case_arrived=lambda: None),
    "view": lambda: STANDARD,
}
"""What a pane takes that must be made first, by the name of the parameter."""


def panes() -> Iterator[type[Widget]]:
    for name in MODULES:
        if name.startswith("console.tui.screens."):
            module = importlib.import_module(name)
            for pane in vars(module).values():
                is_ours = inspect.isclass(pane) and pane.__module__ == name and issubclass(pane, Widget)
                if is_ours and not issubclass(pane, Screen) and pane is not ChoiceList:
                    yield pane


@pytest.mark.parametrize("pane", [*panes()], ids=lambda pane: pane.__name__)
async def test_a_pane_stands_alone(pane: type[Widget]) -> None:
    needed = [
        name
        for name, parameter in inspect.signature(pane).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    unknown = [name for name in needed if name not in GIVEN]
    assert not unknown, f"say in GIVEN of {__file__} how to make what {pane.__name__} takes: {', '.join(unknown)}"
    async with mounted(pane(*(GIVEN[name]() for name in needed)), (80, 24)) as (app, pilot):
        await pilot.press("down", "enter", "end")
        await pilot.resize_terminal(160, 45)
        await pilot.pause()
        assert app.pane.is_attached
