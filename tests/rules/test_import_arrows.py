"""Which room may know which, read from the source: the arrows of docs/architecture.md."""

import ast
from functools import cache
from pathlib import Path

import pytest
from rules.trees import nodes_of

ROOT = Path(__file__).resolve().parents[2]
CONSOLE = ROOT / "console"
FLOORS = [
    {"core"},
    {"config"},
    {"llm", "sandbox", "store"},
    {"suites"},
    {"engine", "exchange", "insight", "testing"},
    {"cli", "tui"},
]
"""From the ground up; a room knows itself and the floors below, and never another room of its own floor."""
SIDEWAYS = {("exchange", "insight"), ("cli", "tui")}
"""Allowed on one floor: the official tables use our statistics, and the command line opens the app."""
ONLY = {
    "textual": {"tui"},
    "rich": {"tui"},
    "litellm": {"llm"},
    "openai": {"llm"},
    "aiohttp": {"llm"},
    "httpx": {"llm"},
}
SOURCES = sorted(CONSOLE.rglob("*.py"))


def _floor(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


OF_A_BENCHMARK = {"view": "tui", "view.py": "tui", "verbs": "cli", "doctor.py": "cli", "files": "exchange"}
"""The parts of a benchmark's folder that may know what this room knows; all others know what `suites` knows."""


def _room(path: Path) -> str:
    """Return the room whose arrows hold for a module."""
    room, *parts = path.relative_to(CONSOLE).parts
    return OF_A_BENCHMARK.get(parts[1], "suites") if room == "benchmarks" and len(parts) > 1 else room


@cache
def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _may_know(room: str, other: str) -> bool:
    return room == other or _floor(other) < _floor(room) or (room, other) in SIDEWAYS


def test_arrows_go_down():
    wrong = []
    for path in SOURCES:
        room = _room(path)
        if room in ("__init__.py", "__main__.py", "authoring.py"):
            continue
        others = {name.split(".")[1] for name in _imports(path) if name.startswith("console.")}
        others -= {"__version__", "benchmarks"}
        wrong += [f"{path.relative_to(ROOT)} knows {other}" for other in others if not _may_know(room, other)]
    assert wrong == []


def test_a_benchmark_is_known_by_its_face_only():
    wrong = []
    for path in SOURCES:
        parts = path.relative_to(CONSOLE).parts
        own = f"console.benchmarks.{parts[1]}" if parts[0] == "benchmarks" and len(parts) > 2 else ""
        imported = {name for name in _imports(path) if name.startswith("console.benchmarks")}
        wrong += [f"{path.relative_to(ROOT)} knows {name}" for name in imported if not (own and name.startswith(own))]
    assert wrong == []


@pytest.mark.parametrize("library", sorted(ONLY))
def test_libraries_stay_in_their_room(library):
    strangers = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if _room(path) not in ONLY[library] and any(name.split(".")[0] == library for name in _imports(path))
    ]
    assert strangers == []


LOCKS = {"core/ready_type.py": {"threading"}}
"""Pure code that is safe from several threads by a lock, which is no I/O."""
PURE = ["core", "insight", *(f"benchmarks/{path.parent.name}/rules" for path in CONSOLE.glob("benchmarks/*/rules"))]


@pytest.mark.parametrize("folder", PURE)
def test_pure_folders_do_no_io(folder):
    forbidden = {"asyncio", "socket", "subprocess", "threading", "os", "pathlib", "io", "shutil", "tempfile", "urllib"}
    for path in (CONSOLE / folder).rglob("*.py"):
        used = {name.split(".")[0] for name in _imports(path)} & forbidden
        used -= LOCKS.get(path.relative_to(CONSOLE).as_posix(), set())
        assert not used, f"{path.relative_to(ROOT)} imports {used}"
        calls = {
            node.func.id for node in nodes_of(path) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"open", "print", "input"}, path


def test_rules_of_a_benchmark_know_no_other_part_of_it():
    """Rules judge what they are given: they read no data, hold no conversation and start no worker."""
    for path in CONSOLE.glob("benchmarks/*/rules/**/*.py"):
        name = path.relative_to(CONSOLE).parts[1]
        own = [module.split(".") for module in _imports(path) if module.startswith(f"console.benchmarks.{name}.")]
        others = {parts[3] for parts in own} - {"rules", "options", "models"}
        assert not others, f"{path.relative_to(ROOT)} knows {others}"


def test_only_verbs_of_a_benchmark_read_arguments():
    for path in CONSOLE.glob("benchmarks/**/*.py"):
        assert "argparse" not in _imports(path) or "verbs" in path.parts, path


def test_suites_do_not_reach_for_the_network():
    """Judging is offline; only the files that pull data may fetch, through pip."""
    for path in [*(CONSOLE / "suites").rglob("*.py"), *(CONSOLE / "benchmarks").rglob("*.py")]:
        used = {name.split(".")[0] for name in _imports(path)} & {"socket", "http", "requests", "smtplib"}
        assert not used, f"{path.relative_to(ROOT)} imports {used}"
