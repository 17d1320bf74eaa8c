"""The identity of a grader: what it does counts, not how its code is laid out."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from console.core.case import Setting
from console.suites.grading import grader_of

PLAIN = '''"""Checks."""


def check(answer: str) -> bool:
    """Return whether it is right."""
    return answer == "yes"  # the key
'''

PRINT_CODE = """
from types import SimpleNamespace
from console.core.case import Setting
from console.suites.grading import grader_of
entry = SimpleNamespace(format="own", source={})
suite = SimpleNamespace(entry=entry, grader_sources=("kept_checks",), grading=lambda setting: {})
print(grader_of(suite, [], Setting(), {}, {}).code)
"""


@pytest.mark.parametrize(
    ("source", "is_alike"),
    [
        ("def check(answer: str) -> bool:\n    return (\n        answer == 'yes')\n", True),
        (PLAIN.replace("Checks", "Other words"), True),
        (PLAIN.replace('"yes"', '"no"'), False),
        (PLAIN.replace("==", "!="), False),
    ],
)
def test_layout_comments_and_docstrings_do_not_count(
    source: str, is_alike: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    name = f"checks_of_{tmp_path.name}"
    entry = SimpleNamespace(format="own", source={})

    def code(text: str, *others: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        suite: Any = SimpleNamespace(entry=entry, grader_sources=(name, *others), grading=lambda setting: {})
        return grader_of(suite, [], Setting(), {}, {}).code

    assert (code(PLAIN) == code(source, "no_such_module")) is is_alike  # the second name asks for another digest


def test_what_the_state_folder_keeps_decides_nothing(tmp_path: Path) -> None:
    """A change is noticed in the next process, and a damaged or useless folder gives the same digest as none."""
    checks, state = tmp_path / "kept_checks.py", tmp_path / "state"

    def code(text: str) -> str:
        checks.write_text(text)
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(state),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        }
        return subprocess.check_output([sys.executable, "-c", PRINT_CODE], env=environment, text=True).strip()

    right = code(PLAIN)
    (kept,) = state.rglob("*.json")
    assert code(PLAIN) == right
    wrong = code(PLAIN.replace('"yes"', '"no!"'))
    assert wrong != right
    assert code(PLAIN) == right
    kept.write_bytes(kept.read_bytes()[:-9])
    assert code(PLAIN) == right
    state.rename(tmp_path / "old")
    state.write_text("no folder")
    assert code(PLAIN) == right
