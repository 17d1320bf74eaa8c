"""Code of others imports from one place, `console.authoring`, which hands on names and loads them one by one."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rules.package import MODULES, imports_of
from rules.trees import tree_of

import console.authoring as authoring

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {"console.authoring", "console.testing"}
PAGE = ROOT / "docs" / "extending.md"
PYTHON = re.compile(r"^```python.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def imported(code: str) -> set[str]:
    """Return the modules of ours from which code imports."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name for name in names if name.split(".")[0] == "console"}


def test_the_page_imports_from_public_places_only() -> None:
    found = imported("\n".join(PYTHON.findall(PAGE.read_text(encoding="utf-8"))))
    assert found == PUBLIC


def test_templates_import_from_public_places_only() -> None:
    templates = sorted((ROOT / "console").rglob("*.py.template"))
    assert templates
    for path in templates:
        assert imported(path.read_text(encoding="utf-8")) <= PUBLIC, path


def test_the_page_names_no_internal_module() -> None:
    named = set(re.findall(r"`(console\.[\w.]+)`", PAGE.read_text(encoding="utf-8")))
    assert named <= PUBLIC


@pytest.mark.parametrize("name", authoring.__all__)
def test_a_public_name_is_the_object_of_its_own_module(name: str) -> None:
    (module,) = [
        node.module
        for node in ast.walk(tree_of(MODULES["console.authoring"]))
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names} and node.module
    ]
    assert getattr(authoring, name) is getattr(sys.modules[module], name)


def test_what_type_checkers_see_is_what_is_listed() -> None:
    nodes = [node for node in ast.walk(tree_of(MODULES["console.authoring"])) if isinstance(node, ast.ImportFrom)]
    seen = {alias.name for node in nodes if node.module not in ("importlib", "typing") for alias in node.names}
    assert seen == set(authoring.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Sweet'"):
        authoring.Sweet  # noqa: B018  # pyright: ignore


def test_a_face_and_a_suite_load_no_screen_and_no_verb() -> None:
    code = (
        "import sys\nfrom console.authoring import Benchmark\nassert 'msgspec' not in sys.modules\n"
        "from console.authoring import Case, Chat, SimpleSuite, call, verdict\n"
        "assert not {'textual', 'argparse', 'console.exchange'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_our_own_modules_import_from_where_names_are_defined() -> None:
    assert [module for module in MODULES if "console.authoring" in imports_of(module)] == []
