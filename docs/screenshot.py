"""Draw the pictures of the README from the bundled example run: `python docs/screenshot.py`.

Runs the real app without a terminal, opens Review at a case with a wrong value, and saves what it draws as SVG.
"""

import asyncio
import re
from pathlib import Path

from console.config.paths import WorkspacePaths
from console.tui.app import ConsoleApp

ROOT = Path(__file__).resolve().parents[1]
RUN = "example-bfcl-starter"
CASE = "live_simple_2-2-0"
SIZE = (140, 30)
FONT_FROM_THE_NET = re.compile(r"@font-face\s*\{[^}]*\}\s*")
"""Left out, so that looking at the picture asks nobody for anything."""


async def draw() -> None:
    """Open the case and save the screen."""
    app = ConsoleApp(WorkspacePaths(runs=ROOT / "runs"))
    app.navigator.start_with("review", RUN, CASE)
    async with app.run_test(size=SIZE) as pilot:
        for _ in range(20):
            await pilot.pause(0.1)
        picture = app.export_screenshot(title="eval-console")
    (ROOT / "docs" / "review.svg").write_text(FONT_FROM_THE_NET.sub("", picture), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(draw())
