"""Plays one real turn of cave-bench without a model, to test whether code runs at this machine's confinement level.

In cave mode if its package is installed: agent, IPython, a cell that writes files, changes modes and times, and calls a
tool, then the grade. Otherwise in JSON mode, which only calls the tool.
"""

import importlib.util
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.case import Key, Setting
from console.core.chat import Message, Reply, ToolCall
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome
from console.sandbox.level import Level, read_level
from console.suites.stage import UnrecordedStage
from console.suites.suite import SuiteEntry

_MODULE = '''"""The scenario of a trial."""


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


tools = [add]
'''
_CELL = """import os, tempfile
path = os.path.join(tempfile.gettempdir(), "note.txt")
with open(path, "w") as file:
    file.write("x")
os.chmod(path, 0o600)
os.utime(path, (10**9, 10**9))
print(add(2, 3))"""
_SCENARIO = {
    "name": "trial",
    "module": "trial_module",
    "conversations": [
        {
            "id": "one",
            "turns": [
                {
                    "query": "Add 2 and 3.",
                    "expected_function_calls": [
                        {"name": "add", "arguments": [{"name": "a", "value": 2}, {"name": "b", "value": 3}]}
                    ],
                }
            ],
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Trial:
    """Outcome of a trial."""

    mode: str
    level: Level | None
    """Confinement level reached; None if no worker was started."""
    seconds: float
    failure: str
    """Reason for not passing the turn; empty if it passed."""
    fault: FaultKind | None = None
    """Kind of fault, if there is no verdict."""
    hint: str = ""


async def play_trial() -> Trial:
    """Play the turn at this machine's confinement level, however weak."""
    mode = "json" if importlib.util.find_spec("cave_agent") is None else "cave"
    setting = Setting(mode=mode, options={"i_trust_this_model": True, "cell_seconds": 10.0})
    stage, began = _TrialStage(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trial-") as name:
        folder = _write_scenario(name)
        suite = CaveBenchSuite(SuiteEntry(name="trial", format="cavebench", folder=folder, title="Trial"))
        case = next(iter(suite.cases((), setting)))
        try:
            output = await suite.play(case, stage, setting)
        except Fault as fault:
            return Trial(mode, stage.level, time.monotonic() - began, fault.message, fault.kind, fault.hint)
        verdict = suite.score(case, output, setting)
    failure = "" if verdict.outcome is Outcome.PASSED else "; ".join([*verdict.messages, *stage.errors])
    return Trial(mode, stage.level, time.monotonic() - began, failure)


def _write_scenario(name: str) -> Path:
    folder = Path(name).resolve()
    (folder / "trial_module.py").write_text(_MODULE, encoding="utf-8")
    (folder / "trial.json").write_text(json.dumps([_SCENARIO]), encoding="utf-8")
    return folder


class _TrialStage(UnrecordedStage):
    """A stage that gives the correct answer and keeps what the trial reports."""

    def __init__(self) -> None:
        super().__init__(Key("trial"))
        self.level: Level | None = None
        self.errors: list[str] = []

    async def ask(
        self, messages: Sequence[Message], *, tools: Sequence[dict[str, Any]] = (), step: int = 0, **_: Any
    ) -> Reply:
        """Write the cell, or the call, then an answer."""
        del messages
        if step > 0:
            return Reply("5")
        return Reply(None, (ToolCall("1", "add", '{"a": 2, "b": 3}'),)) if tools else Reply(f"```python\n{_CELL}\n```")

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        """Keep the confinement level and exceptions of cells."""
        del turn, step
        if kind == "sandbox":
            self.level = read_level(data)
        if kind == "cell" and data["error"]:
            self.errors.append(" ".join(str(data["output"]).split())[-300:])
