"""The first line of a screen, mounted alone."""

import pytest
from support.pane_app import mounted
from support.screen_text import text_of
from textual.content import Content

from console.tui.widgets.top_line import TopLine

RUN = "gpt-x · dialogue-starter   2026-01-17T1302-dialogue-starter-26c66a"
COMPARED = "dialogue-starter, 115 cases, 460 rollouts in both"


@pytest.mark.parametrize(
    ("title", "width", "shown"),
    [
        (RUN, 100, RUN),
        (RUN, 60, "gpt-x · dialogue-starter   2026-0…6c66a"),
        (RUN, 50, "gpt-x · dialogue-starter"),
        (RUN, 38, "gpt-x · dial…rter"),
        (RUN, 26, "gpt-x"),
        (COMPARED, 80, COMPARED),
        (COMPARED, 60, "dialogue-starter, 115 cases"),
        (COMPARED, 49, "dialogue-starter, 115 cases"),
        (COMPARED, 40, "dial…ter, 115 cases"),
        (COMPARED, 36, "dialogu…starter"),
    ],
)
async def test_a_title_loses_its_last_parts_and_names_are_cut_in_the_middle(title: str, width: int, shown: str) -> None:
    line = TopLine("review", "Review")
    async with mounted(line, size=(width, 4)) as (app, pilot):
        line.tell(title=Content(title), status=Content("1 of 4"))
        await pilot.pause()
        first = text_of(app).split("\n")[0]
        assert first.rstrip().endswith("1 of 4")
        assert first.removesuffix("1 of 4   ").replace("console", "").strip() == f"Review   {shown}"


@pytest.mark.parametrize(("width", "tabs"), [(119, "Review   gpt"), (120, "1  2 [3 Review] 4  5 "), (140, "4 Compare")])
async def test_tabs_lose_their_names_before_the_suite_is_cut(width: int, tabs: str) -> None:
    line = TopLine("review", "Review")
    async with mounted(line, size=(width, 4)) as (app, pilot):
        line.tell(title=Content(RUN), status=Content("✓ 24  ✗ 5  ! 0  ? 0   .828 [.65 .92]"))
        await pilot.pause()
        first = text_of(app).split("\n")[0]
        assert "gpt-x · dialogue-starter" in first
        assert tabs in first


async def test_tabs_lose_their_names_before_the_number_of_cases_is_dropped() -> None:
    line = TopLine("compare", "Compare")
    async with mounted(line, size=(130, 4)) as (app, pilot):
        line.tell(title=Content(COMPARED), status=Content("simulated   same cases ✓   same prompts ✓"))
        await pilot.pause()
        assert f"4 Compare] 5    {COMPARED}" in text_of(app).split("\n")[0]
