"""The identity of a grader: what it does counts, not how its code is laid out."""

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
    name = f"checks_of_{tmp_path.name}"
    entry = SimpleNamespace(format="own", source={})

    def code(text: str, *others: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        suite: Any = SimpleNamespace(entry=entry, grader_sources=(name, *others), grading=lambda setting: {})
        return grader_of(suite, [], Setting(), {}, {}).code

    assert (code(PLAIN) == code(source, "no_such_module")) is is_alike  # the second name asks for another digest
