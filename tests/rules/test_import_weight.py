"""What is loaded when: running interpreters tell which modules the cheap ways in have pulled along."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"litellm", "openai", "numpy", "aiohttp", "httpx"}
NOT_FOR_VERBS = {*HEAVY, "textual", "asyncio"}
HOME = "console.tui.start, console.tui.app, console.tui.screens.home.screen"
REVIEW = "console.tui.screens.review.screen"
DECLARATION = re.compile(r"console\.benchmarks(\.\w+(\.benchmark)?)?")
"""Modules that only declare a benchmark; each benchmark adds two."""
NOT_FOR_FIRST_FRAME = {*HEAVY, "sqlite3", "html", "zipfile"}


def loaded_after(code: str, tmp_path: Path) -> set[str]:
    """Return the top-level modules loaded after running code in a fresh interpreter."""
    return {name.partition(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> set[str]:
    """Return all modules loaded after running code in a fresh interpreter."""
    tail = "\nimport sys, json; print('\\n' + json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_loads_nothing_but_the_parser(tmp_path):
    code = "from console.__main__ import main\nassert main(['--help']) == 0"
    looking_for_packages = "email"  # importlib.metadata loads it; the search alone takes as long as all of the help
    assert not loaded_after(code, tmp_path) & {*NOT_FOR_VERBS, "msgspec", "pydantic", looking_for_packages}


def test_listing_runs_loads_no_client_and_no_screen(tmp_path):
    code = f"from console.__main__ import main\nassert main(['runs', '--json', '--runs', {str(tmp_path)!r}]) == 0"
    assert not loaded_after(code, tmp_path) & {*NOT_FOR_VERBS, "pydantic"}


@pytest.mark.parametrize("verb", ["models", "failures --help", "review --help", "watch --help", "show --help"])
def test_reading_verbs_load_no_client(verb, tmp_path):
    code = f"from console.__main__ import main\nassert main({verb.split()!r}) == 0"
    assert not loaded_after(code, tmp_path) & NOT_FOR_VERBS


def test_running_a_simulation_loads_no_client(tmp_path):
    arguments = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--dry-run", "--json"]
    code = f"from console.__main__ import main\nassert main({arguments!r}) == 0"
    assert not loaded_after(code, tmp_path) & {"litellm", "openai", "textual"}


def test_playing_here_loads_no_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    arguments = ["run", "-m", "sim/hasty", "-s", "aidan-starter", "-n", "1", "--quiet", "--runs", str(tmp_path)]
    code = f"from console.__main__ import main\nassert main({arguments!r}) == 0"
    assert "ray" not in loaded_after(code, tmp_path)


@pytest.mark.parametrize(("screens", "most"), [(HOME, 130), (f"{HOME}, {REVIEW}", 201)], ids=["home", "review"])
def test_the_first_frame_waits_for_little(screens, most):
    loaded = modules_after(f"import console.__main__, {screens}")
    assert not {name.partition(".")[0] for name in loaded} & NOT_FOR_FIRST_FRAME
    own = sorted(name for name in loaded if name.startswith("console.") and not DECLARATION.fullmatch(name))
    assert len(own) <= most, f"import what only an action needs inside the action; loaded are {own}"


@pytest.mark.parametrize("room", ["core", "config", "store", "insight"])
def test_low_rooms_are_light(room, tmp_path):
    names = [path.stem for path in (ROOT / "console" / room).glob("*.py") if path.stem != "__init__"]
    code = "\n".join(f"import console.{room}.{name}" for name in names)
    assert not loaded_after(code, tmp_path) & {*HEAVY, "textual"}
