"""Model-written code that forges reports to the engine: counted, cut short, and never more than a failed turn."""

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.memory_stage import MemoryStage, cell
from support.quick_rows import first_quick

from console.benchmarks.cavebench.conversation import play
from console.benchmarks.cavebench.conversation.worker_reports import ReportGuard
from console.benchmarks.cavebench.rules.record import BadRecord, CellJson, Question, SentMessage
from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.case import Case, Setting
from console.core.outcome import Outcome
from console.core.run import Selection
from console.suites.selection import select_cases
from console.suites.suite import SuiteEntry

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined"),
    pytest.mark.skipif(importlib.util.find_spec("cave_agent") is None, reason="cave-agent is not installed"),
]
CELL_S = 1.0
SPARE_S = 1.0
JOURNAL_BYTES = 1 << 20
MODULE = '''
def add(a: int, b: int = 1) -> int:
    """Add numbers."""
    return a + b

tools = [add]
'''
PORT = """
import gc, json, os, signal, threading, time
port = next(item for item in gc.get_objects() if type(item).__name__ == "Port")
signal.setitimer(signal.ITIMER_REAL, 0)
def raw(frame):
    data = json.dumps(frame).encode()
    port._control.sendall(len(data).to_bytes(4, "big") + data)
def report(**more):
    return {"code": "x", "output": "y", "length": 1, **more}
"""
NESTED = "deep = 1\nfor n in range(450): deep = {'a': deep}\n"
FLOODS = {
    "cells": "while True: port.ask('cell', report())",
    "cells with much output": "while True: port.ask('cell', report(output='y' * 150_000, length=150_000))",
    "a cell of ten megabytes": "port.ask('cell', report(output='y' * 10_000_000, length=10_000_000))",
    "a cell with much code": "port.ask('cell', report(code='y' * 1_000_000))",
    "a cell with many calls": "port.ask('cell', report(calls=[{'function': 'f', 'arguments': 'z' * 100}] * 50_000))",
    "a cell with many names": "port.ask('cell', report(reads=['n'] * 200_000))",
    "a cell with a long error": "port.ask('cell', report(error='E' * 100_000))",
    "a cell of negative length": "port.ask('cell', report(length=-5, output=''))",
    "cells from threads": "for n in range(8): threading.Thread(target=lambda: [raw({'ask': 'cell', 'data': report()}) "
    "for n in range(10**6)], daemon=True).start()\ntime.sleep(60)",
    "tellings": "while True: raw({'tell': 1})",
    "large tellings": "while True: port.tell('x', 'y' * 1_000_000)",
    "questions": "while True: port.ask('model', {'messages': [{'role': 'user', 'content': 'x'}]})",
    "a question of many megabytes": "port.ask('cell', report())\n"
    "port.ask('model', {'messages': [{'role': 'user', 'content': 'x' * 5_000_000}]})",
    "a question of many messages": "port.ask('cell', report())\n"
    "port.ask('model', {'messages': [{'role': 'user', 'content': 'x' * 100}] * 50_000})",
    "a record of ten megabytes": "raw({'result': {'response': 'x' * 10_000_000}})\ntime.sleep(60)",
    "a record of many snippets": "raw({'result': {'snippets': ['x'] * 2_000_000}})\ntime.sleep(60)",
    "much code in a record": "raw({'result': {'snippets': ['a = b\\n' * 10_000] * 9}})\ntime.sleep(60)",
    "a nested record": NESTED + "raw({'result': {'calls': [{'function': 'add', 'arguments': deep}]}})\ntime.sleep(60)",
    "a nested cell": NESTED
    + "port.ask('cell', report(calls=[{'function': 'add', 'arguments': deep}]))\ntime.sleep(60)",
    "numbers that are none": "port._control.sendall(b'\\0\\0\\0\\x0f{\"result\": NaN}')\ntime.sleep(60)",
    "a number beyond all": "port._control.sendall(b'\\0\\0\\0\\x11{\"result\": 1e999}')\ntime.sleep(60)",
    "half a character, raw": 'port._control.sendall(b\'\\0\\0\\0\\x0f{"ask": "\\xed\\xa0\\x80"}\')\ntime.sleep(60)',
    "more tokens than were paid for": "raw({'result': {'tokens': [2**62, 2**62, 2**63]}})\ntime.sleep(60)",
    "fewer tokens than none": "raw({'result': {'tokens': [0, 0, -1]}})\ntime.sleep(60)",
    "more steps than a turn has": "raw({'result': {'steps': 10**6}})\ntime.sleep(60)",
    "an error of many megabytes": "raw({'error': {'type': 'x' * 5_000_000, 'message': ''}})\ntime.sleep(60)",
    "frames of nothing": "port._control.sendall(bytes(4) * 10**7)",
    "a frame that never ends": "port._control.sendall((10**6).to_bytes(4, 'big') + b'x')\ntime.sleep(60)",
    "a frame that is too long": "port._control.sendall((10**9).to_bytes(4, 'big'))\ntime.sleep(60)",
    "a cell, and then silence": "port.ask('cell', report())\ntime.sleep(60)",
    "deep nesting": "data = b'[' * 5_000_000\n"
    "port._control.sendall(len(data).to_bytes(4, 'big') + data)\ntime.sleep(60)",
}
CLEVER = """
for n in range(10**6):
    port.ask('cell', report())
    port.ask('model', {'messages': [{'role': 'user', 'content': 'more'}]})
"""


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a silent worker be ended soon."""
    monkeypatch.setattr(play, "SPARE_S", SPARE_S)


def conversation(folder: Path) -> tuple[CaveBenchSuite, Case]:
    (folder / "mod.py").write_text(MODULE)
    expected = [{"name": "add", "arguments": [{"name": "a", "value": 1}]}]
    turns = [{"query": "x", "expected_function_calls": expected}, {"query": "y"}]
    scenario = [{"name": "s", "module": "mod", "conversations": [{"id": "c", "turns": turns}]}]
    (folder / "s.json").write_text(json.dumps(scenario))
    suite = CaveBenchSuite(SuiteEntry(name="cave", format="cavebench", folder=folder, title="cave"))
    return suite, select_cases(suite, Selection(), Setting(mode="cave"))[0]


def journal_bytes(stage: MemoryStage) -> int:
    return len(json.dumps(stage.notes)) + sum(len(str(result)) for _, result in stage.journal)


async def attacked(folder: Path, code: str, **options: Any) -> tuple[MemoryStage, Any, str | None]:
    """Play a conversation whose first cell is an attack; returns its stage, its output and why it failed."""
    suite, case = conversation(folder)
    setting = Setting(mode="cave", options={"cell_seconds": CELL_S, **options})
    stage = MemoryStage(lambda turn, step, messages: cell(PORT + code) if step == 0 else "done")
    began = time.monotonic()
    output = await suite.play(case, stage, setting)
    assert time.monotonic() - began < 60, "far less than its code would take"
    verdict = suite.score(case, output, setting)
    assert verdict.outcome is Outcome.FAILED
    assert journal_bytes(stage) < JOURNAL_BYTES
    return stage, output, verdict.reason


@pytest.mark.parametrize("code", first_quick(FLOODS.values(), 10), ids=FLOODS)
async def test_a_flood_ends_as_a_result_with_a_cause(tmp_path: Path, code: str) -> None:
    stage, output, reason = await attacked(tmp_path, code)
    assert reason is not None
    assert reason in ("sandbox_protocol", "sandbox_timeout", "sandbox_died", "hook_error")
    assert output["turns"][0].get("lost") or output["turns"][0]["trouble"]
    assert len(stage.asked) <= 2


HALVES = {
    "in a record": "call = {'function': '\\ud800', 'arguments': {'\\udc00': 1}}\n"
    "raw({'result': {'response': '\\ud800', 'calls': [call]}})",
    "in a cell": "port.ask('cell', report(code='\\ud800', output='\\ud800', error='\\ud800', reads=['\\ud800']))\n"
    "raw({'result': {}})",
    "in a question": "port.ask('cell', report())\n"
    "port.ask('model', {'messages': [{'role': 'user', 'content': '\\ud800'}]})\nraw({'result': {}})",
    "in an error": "raw({'error': {'type': 'E', 'message': '\\ud800'}})",
}


@pytest.mark.parametrize("code", HALVES.values(), ids=HALVES)
async def test_half_a_character_breaks_no_case(tmp_path: Path, code: str) -> None:
    """JSON can carry half a character and no file can, so it must not come as far as the journal."""
    stage, _, reason = await attacked(tmp_path, f"{code}\nos._exit(0)")
    assert reason in ("missing_function", "hook_error")
    msgspec.json.encode([stage.notes, [result for _, result in stage.journal]])


async def test_reports_in_good_order_end_with_the_steps_of_the_turn(tmp_path: Path) -> None:
    stage, output, reason = await attacked(tmp_path, CLEVER, max_steps=7)
    assert reason == "sandbox_protocol"
    assert len(stage.asked) == 7
    assert "the turn has no more steps" in output["turns"][0]["lost"]


async def test_an_honest_cell_with_many_calls_and_much_output_is_no_forgery(tmp_path: Path) -> None:
    """The program keeps to the bounds by itself: it shows the first calls, and the record of the turn has all."""
    suite, case = conversation(tmp_path)
    code = "for n in range(20_000): add(1)\nprint('x' * 400_000)"
    stage = MemoryStage(lambda turn, step, messages: cell(code) if step == 0 else "done")
    output = await suite.play(case, stage, Setting(mode="cave"))
    assert len(output["turns"][0]["calls"]) == 20_000
    shown = next(data for kind, _, data in stage.notes if kind == "cell")
    assert 100 < len(shown["calls"]) < 20_000
    assert shown["length"] == 400_001
    assert suite.score(case, output, Setting(mode="cave")).outcome is Outcome.PASSED


def question(size: int) -> Question:
    return Question([SentMessage("user", "x" * size)])


def test_the_order_of_reports() -> None:
    guard = ReportGuard(max_steps=2, max_output=1000)
    report = CellJson(code="x", output="y", length=1)
    with pytest.raises(BadRecord, match="no reply"):
        guard.cell(report)
    guard.question(question(1000))
    guard.reply("```python\nx\n```", 9)
    with pytest.raises(BadRecord, match="was not reported"):
        guard.question(question(1000))
    guard.cell(report)
    with pytest.raises(BadRecord, match="no reply"):
        guard.cell(report)
    with pytest.raises(BadRecord, match="longer than the conversation allows"):
        guard.question(question(1_000_000))
    guard.question(question(2000))
    guard.reply("done", 9)
    guard.cell(report)
    with pytest.raises(BadRecord, match="no more steps"):
        guard.question(question(10))
    guard.begin_turn()
    guard.question(question(3000))
    assert guard.step == 0
