"""Suites of rows written by a test."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from console.core.case import Case, Key, Setting
from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall, Utterance
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


class ScriptedStage:
    """A stage whose model gives the scripted right answers, or a wrong one wherever there is one."""

    def __init__(self, right: bool) -> None:
        self.key, self.right = Key("case"), right
        self.notes: list[tuple[str, Any]] = []

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        answers: ScriptedAnswers = more["scripted"]()
        is_model = more.get("role", "model") == "model"
        utterance = answers.wrong[0] if is_model and not self.right and answers.wrong else answers.right
        if is_model and not self.right and utterance.calls:
            utterance = Utterance("I would rather not.")
        calls = tuple(ToolCall(f"c{n}", name, json.dumps(data)) for n, (name, data) in enumerate(utterance.calls))
        return Reply(utterance.content, calls)

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        raise AssertionError("nothing is embedded")

    async def perform(self, kind: str, request: Any, action: Any) -> Any:
        raise AssertionError("nothing else is done")

    def output_of(self, case_id: str) -> Any:
        raise AssertionError("nothing builds on another case")

    def score(self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0) -> None: ...

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self.notes.append((kind, data))
