"""Suites of rows written by a test."""

import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
from support.recorded_runs import Recorder

from console.benchmarks.dialogue.suite import DialogueSuite
from console.core.case import Case, Key, Setting
from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall, Usage, Utterance
from console.core.comparison import Comparison
from console.core.media import kept_apart
from console.core.outcome import Verdict
from console.core.record import Asked, Finished, Noted, Scored
from console.core.request import Thread
from console.store.runs import RunFolder
from console.suites.code_run import RUN_CODE, CodeResult, TestResult
from console.suites.stage import UnrecordedStage
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


CASE = Key("case")


class ScriptedStage(UnrecordedStage):
    """A stage whose model gives the scripted right answers, or a wrong one wherever there is one."""

    def __init__(self, right: bool, key: Key = CASE) -> None:
        super().__init__(key)
        self.right = right
        self.notes: list[tuple[str, Any]] = []

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        answers: ScriptedAnswers = more["scripted"]()
        is_model = more.get("role", "model") == "model"
        utterance = answers.wrong[0] if is_model and not self.right and answers.wrong else answers.right
        if is_model and not self.right and utterance.calls:
            utterance = Utterance("I would rather not.")
        return _reply(utterance)

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self.notes.append((kind, data))


def _reply(utterance: Utterance) -> Reply:
    calls = tuple(ToolCall(f"c{n}", name, json.dumps(data)) for n, (name, data) in enumerate(utterance.calls))
    return Reply(utterance.content, calls, usage=Usage(120, 14), latency_s=0.8, simulated=True)


class RecordingStage(ScriptedStage):
    """Writes what is asked, scored and noted as an engine would; each model answer is right or wrong as told.

    Code passes the first of two tests, wherever it should run.
    """

    def __init__(self, recorder: Recorder, key: Key, right: bool) -> None:
        super().__init__(right, key)
        self._recorder, self._count = recorder, 0
        self._threads: dict[str, Thread] = defaultdict(Thread)

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        reply = await super().ask(messages, **more)
        role = more.get("role", "model")
        apart, contents = kept_apart(messages)
        for reference, data in contents.items():
            self._recorder.folder.keep_file(reference, data)
        prefix, new, changed = self._threads[role].condense(cast(Any, list(apart)), more.get("tools", ()))
        self._count += 1
        where = {name: more.get(name, 0) for name in ("turn", "step")}
        at = self._recorder.tick()
        self._recorder.write(
            Asked(at, self.key, self._count, "", reply, role, prefix=prefix, messages=new, tools=changed, **where)
        )
        return reply

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        if kind != RUN_CODE:
            return await super().perform(kind, request, action)
        failed = TestResult("test_third", False, expected='["1", "2", "Fizz"]', got='["0", "1", "2"]', line=2)
        return msgspec.to_builtins(CodeResult(False, [TestResult("test_first", True), failed]))

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        self._recorder.write(Scored(self._recorder.tick(0.0), self.key, name, value, threshold, turn, role))

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self._recorder.write(Noted(self._recorder.tick(0.0), self.key, kind, data, turn, step))


async def recorded_rows(
    runs: Path, folder: Path, wrong: Collection[str], *, name: str, vary: dict[str, dict[str, str]] | None = None
) -> RunFolder:
    """Write the run of a suite's rows, with wrong answers in the cases that are named."""
    suite = suite_in(folder)
    setting = Setting("fc", {"vary": vary} if vary else {})
    cases = list(suite.cases((), setting))
    recorder = Recorder(runs, cases=len(cases), name=name, suite=folder.name, format="dialogue", setting=setting)
    for case in cases:
        key = recorder.start(case.id, case.category, case.title, **case.data)
        output = await suite.play(case, RecordingStage(recorder, key, case.id not in wrong), setting)
        verdict = suite.score(case, output, setting)
        at = recorder.tick(0.1)
        recorder.write(Finished(at, key, verdict, output, seconds=1.9, input_tokens=240, output_tokens=28, calls=2))
    return recorder.close()
