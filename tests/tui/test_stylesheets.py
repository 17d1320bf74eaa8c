"""Sheets of styles: each is read once, however many screens are opened."""

from collections import Counter
from typing import Any

import pytest
from textual.css import stylesheet


async def test_every_sheet_of_ours_is_read_once(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    parse = stylesheet.parse

    def counted(scope: str, css: str, read_from: tuple[str, str], **more: Any) -> Any:
        if "/console/tui/" in read_from[0]:
            read[read_from[1]] += 1
        return parse(scope, css, read_from, **more)

    monkeypatch.setattr(stylesheet, "parse", counted)
    async with opened((120, 40)) as (app, pilot):
        for key in ("5", "L", "escape", "1"):
            await pilot.press(key)
        assert app.current_mode == "home"
        assert {"HomeScreen.DEFAULT_CSS", "LibraryScreen.DEFAULT_CSS", "LaunchScreen.DEFAULT_CSS"} <= set(read)
        assert set(read.values()) == {1}
