"""The export menu lists formats of installed packages, writes runs in them, and survives what their code does."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.screen_text import see

FACE = """
from console.authoring import Benchmark, ExportFormat

BENCHMARK = Benchmark("mapped", exports="eval_mapped:EXPORTS")
EXPORTS = (
    ExportFormat("mapped-list", "c", "[red]\\x1bwet", "rivers", "eval_mapped:listed", ".rivers"),
    ExportFormat("mapped-none", "n", "nothing", "fails", "eval_mapped:fail", ".none"),
)


def listed(document):
    return f"rivers of {len(document.items)} cases"


def fail(document):
    raise ZeroDivisionError("no rivers")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with two formats, installed as pip would; the letter of the first is the one of CSV."""
    site = tmp_path / "site"
    info = site / "eval_mapped-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: eval-mapped\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[eval_console.benchmarks]\nmapped = eval_mapped:BENCHMARK\n")
    (site / "eval_mapped.py").write_text(FACE)
    monkeypatch.syspath_prepend(str(site))
    yield site
    sys.modules.pop("eval_mapped", None)


async def test_formats_of_packages_are_listed_and_written(
    package: Path, workspace: Any, opened: Any, frame: Any
) -> None:
    run = workspace.run("a")
    async with opened() as (app, pilot):
        await pilot.press("down", "down", "E")
        await pilot.pause()
        assert all(name in frame(app) for name in ("CSV", "HTML page", "web pages", "+  more (1"))
        assert "JUnit" not in frame(app)
        await see(pilot, lambda: "nothing" in frame(app), "+")
        assert "a  [red]^[wet" in frame(app)  # c and m are taken
        assert "CSV" in frame(app)
        await see(pilot, lambda: (workspace.root / f"{run.name}.rivers").exists(), "a")
        assert (workspace.root / f"{run.name}.rivers").read_text().startswith("rivers of ")
        await see(pilot, lambda: "nothing" in frame(app), "E", "+")
        await see(pilot, lambda: "ZeroDivisionError: no rivers" in app.services.messages[-1].plain, "n")
        await see(pilot, lambda: (workspace.root / f"{run.name}.csv").exists(), "E", "c")


async def test_a_package_whose_formats_are_none_costs_only_itself(package: Path, workspace: Any, opened: Any) -> None:
    (package / "eval_mapped.py").write_text(FACE.replace("EXPORTS = (", "EXPORTS = 5\n_ = ("))
    run = workspace.run("a")
    async with opened() as (app, pilot):
        await see(pilot, lambda: app.services.messages != [], "down", "down", "E")
        assert "of an installed package failed" in app.services.messages[-1].plain
        await see(pilot, lambda: (workspace.root / f"{run.name}.csv").exists(), "c")
