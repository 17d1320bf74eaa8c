"""Suites of rows written by a test."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.outcome import Verdict
from console.suites.dialogue.suite import DialogueSuite
from console.suites.suite import SuiteEntry

SETTING = Setting(mode="fc")


def write_folder(
    folder: Path, rows: str | Sequence[dict[str, Any]], *, toml: str = "", name: str = "cases.jsonl"
) -> Path:
    """Write a suite's folder and return it; rows may be the text of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "suite.toml").write_text(f'format = "dialogue"\n{toml}', encoding="utf-8")
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def suite_in(folder: Path) -> DialogueSuite:
    """Open a folder."""
    return DialogueSuite(SuiteEntry(folder.name, "dialogue", folder, folder.name))


def cases_of(folder: Path, rows: str | Sequence[dict[str, Any]], **more: str) -> list[Case]:
    """Return the cases of rows."""
    return list(suite_in(write_folder(folder, rows, **more)).cases((), SETTING))


def judged(folder: Path, row: dict[str, Any], output: Any) -> tuple[Verdict, Comparison]:
    """Return the verdict on an output of a row's case, and its comparison."""
    suite = suite_in(write_folder(folder, [{"prompt": "?"} | row]))
    [case] = suite.cases((), SETTING)
    verdict = suite.score(case, output, SETTING)
    return verdict, suite.compare(case, output, verdict, SETTING)
