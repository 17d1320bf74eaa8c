"""Traces of verifiers v1 that we write: a graph of messages with its calls, rewards and errors, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.exported_runs import played
from support.recorded_runs import Recorder

from console.core.chat import Reply
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.exchange.exports.verifiers_traces import export_run
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.run_reader import RunReader
from console.store.runs import RunFolder


@pytest.fixture
def traces(tmp_path: Path) -> list[dict[str, Any]]:
    (path,) = export_run(played(tmp_path / "runs"), tmp_path / "out", None)
    return [trace for line in path.read_text().splitlines() for trace in json.loads(line)["traces"]]


def test_each_message_is_a_node_once_and_each_reply_is_sampled(traces: list[dict[str, Any]]):
    with_tools = traces[0]
    shape = [(node.get("parent"), node["message"]["role"], node["sampled"]) for node in with_tools["nodes"]]
    assert shape[-4:] == [
        (None, "user", False),
        (len(shape) - 4, "assistant", False),
        (len(shape) - 3, "tool", False),
        (len(shape) - 2, "assistant", True),
    ]
    assert all("judge" not in json.dumps(node) and "How good?" not in json.dumps(node) for node in with_tools["nodes"])
    calling = next(node["message"] for node in with_tools["nodes"] if node["message"].get("tool_calls"))
    assert calling["tool_calls"] == [{"id": "c1", "name": "add", "arguments": '{"x": 1}'}]
    assert with_tools["tools"][0]["name"] == "add"
    assert [call["node"] for call in with_tools["calls"]][-1] == len(shape) - 1


def test_passing_is_the_reward_and_what_broke_has_none(traces: list[dict[str, Any]]):
    rewards = [trace["rewards"]["passed"] for trace in traces]
    assert rewards == [{"score": 1.0, "weight": 1.0}, {"score": 0.0, "weight": 1.0}, None]
    assert traces[0]["metrics"] == {"style": 0.75, "coherence": 80.0}
    assert traces[2]["errors"] == [{"type": "broken", "message": "HTTP 500"}]
    assert [trace["ok"] for trace in traces] == [True, True, False]


def test_the_traces_come_in_again(traces: list[dict[str, Any]], tmp_path: Path):
    (item,) = find_items(tmp_path / "out")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    assert report.outcomes == {"passed": 1, "failed": 1, "broken": 1}
    back = RunReader(RunFolder(tmp_path / "back" / report.run)).side.rollouts
    assert [slot[0] for slot in back] == ["a", "b", "c"]
    assert back["a", 0].scores == {"reward": 1.0, "passed": 1.0, "style": 0.75, "coherence": 80.0}


def test_the_score_that_a_run_is_known_by_is_the_reward(tmp_path: Path):
    recorder = Recorder(tmp_path, cases=2, headline="style")
    for case, style in (("a", 0.75), ("b", 0.25)):
        key = recorder.start(case)
        recorder.ask(key, "1+1?", Reply("2"))
        verdict = Verdict(Outcome.PASSED, scores={"style": style})
        recorder.write(Finished(at=recorder.tick(), key=key, verdict=verdict, output="2"))
    lines = export_run(recorder.close(), tmp_path / "out", None)[0].read_text().splitlines()
    traces = [trace for line in lines for trace in json.loads(line)["traces"]]
    assert [trace["rewards"] for trace in traces] == [
        {"style": {"score": score, "weight": 1.0}} for score in (0.75, 0.25)
    ]
