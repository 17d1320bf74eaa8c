"""The title of a list on a line of its own."""

import pytest
from support.pane_app import mounted
from support.screen_text import text_of
from textual.widgets import Static

from console.tui.widgets.titles import ListTitle

TODAY = "17   today 17 runs · $16.30 · 1.20 M tokens"
KEYS = "/ filter   s newest first"


@pytest.mark.parametrize(
    ("spare", "keys"), [(2, KEYS), (1, "s newest first"), (-9, "s newest first")], ids=["fits", "one short", "shorter"]
)
async def test_keys_are_left_out_before_a_number_is_cut(spare: int, keys: str) -> None:
    title = ListTitle(Static())
    width = len(f"RUNS  {TODAY}{KEYS}") + spare + 2
    async with mounted(title, size=(width, 4)) as (app, pilot):
        title.show("Runs", TODAY, KEYS)
        await pilot.pause()
        first = text_of(app).split("\n")[0]
        assert first.strip().split("tokens")[1].strip() == keys
        assert first.strip().startswith(f"RUNS  {TODAY}")
