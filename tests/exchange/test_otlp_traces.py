"""OpenTelemetry traces that we write: one for each rollout, by the GenAI conventions, with the run's own totals."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.exported_runs import played
from support.otlp_lines import spans, values
from support.recorded_runs import Recorder

from console.core.chat import Reply, ToolCall, Usage
from console.core.outcome import Outcome
from console.core.record import Tried
from console.core.run import ModelFacts
from console.exchange.document_reader import read_document
from console.exchange.exports.otlp_traces import otlp_lines
from console.store.runs import RunFolder

Json = dict[str, Any]


def lines(run: RunFolder) -> list[Json]:
    document, _ = read_document(run, None, with_conversations=True)
    return [json.loads(line) for line in otlp_lines(document).decode("ascii").splitlines()]


@pytest.fixture
def traces(tmp_path: Path) -> list[list[Json]]:
    return [spans(line) for line in lines(played(tmp_path / "runs"))]


def test_each_rollout_is_a_trace_of_its_calls_below_one_root(traces: list[list[Json]]):
    assert [[span["name"].split()[0] for span in trace] for trace in traces] == [
        ["rollout", "chat", "chat", "chat", "execute_tool"],
        ["rollout", "chat"],
        ["rollout"],
    ]
    for trace in traces:
        root, *children = trace
        assert "parentSpanId" not in root
        assert {span["traceId"] for span in trace} == {root["traceId"]}
        assert all(span["parentSpanId"] == root["spanId"] for span in children)
        for span in trace:
            assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
            assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
            begins, ends = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
            assert int(root["startTimeUnixNano"]) <= begins <= ends <= int(root["endTimeUnixNano"])
    ids = [span["spanId"] for trace in traces for span in trace]
    assert len(set(ids)) == len(ids)
    assert len({trace[0]["traceId"] for trace in traces}) == 3


def test_the_same_run_gives_the_same_bytes(tmp_path: Path):
    assert lines(played(tmp_path / "a")) == lines(played(tmp_path / "b"))


def test_a_call_holds_request_reply_and_usage(traces: list[list[Json]]):
    first = values(traces[0][1])
    assert first["gen_ai.operation.name"] == "chat"
    assert (first["gen_ai.provider.name"], first["gen_ai.request.model"]) == ("openai", "gpt-x")
    assert (first["gen_ai.usage.input_tokens"], first["gen_ai.usage.output_tokens"]) == (5, 3)
    assert first["gen_ai.response.finish_reasons"] == ["stop"]
    (sent,) = json.loads(first["gen_ai.input.messages"])[-1:]
    assert sent == {"role": "user", "parts": [{"type": "text", "content": "1+1?"}]}
    (choice,) = json.loads(first["gen_ai.output.messages"])
    assert choice["parts"] == [{"type": "tool_call", "id": "c1", "name": "add", "arguments": {"x": 1}}]
    assert json.loads(first["gen_ai.tool.definitions"]) == [{"type": "function", "name": "add"}]
    second = json.loads(values(traces[0][2])["gen_ai.input.messages"])
    assert second[-1] == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "2"}],
    }
    assert [values(span)["eval_console.role"] for span in traces[0][1:4]] == ["model", "model", "judge"]


def test_a_tool_call_with_a_result_is_a_span(traces: list[list[Json]]):
    tool = values(traces[0][-1])
    assert tool["gen_ai.tool.name"] == "add"
    assert (tool["gen_ai.tool.call.arguments"], tool["gen_ai.tool.call.result"]) == ('{"x": 1}', "2")


def test_verdict_and_scores_are_evaluations(traces: list[list[Json]]):
    told = [[values(event) for event in trace[0]["events"]] for trace in traces]
    assert [
        [(event["gen_ai.evaluation.name"], event["gen_ai.evaluation.score.value"]) for event in events]
        for events in told
    ] == [[("passed", 1.0), ("style", 0.75), ("coherence", 80.0)], [("passed", 0.0), ("style", 0.25)], []]
    assert {event["name"] for trace in traces for event in trace[0]["events"]} == {"gen_ai.evaluation.result"}
    assert [values(trace[0])["eval_console.outcome"] for trace in traces] == ["passed", "failed", "broken"]
    assert values(traces[0][0])["eval_console.score.coherence"] == 80.0
    assert [trace[0].get("status") for trace in traces] == [None, None, {"code": 2, "message": "HTTP 500"}]
    assert values(traces[2][0])["error.type"] == "server"


def test_failed_tries_are_events_and_a_call_without_answer_a_failed_span(tmp_path: Path):
    recorder = Recorder(tmp_path, cases=1)
    key = recorder.start("a")
    recorder.write(Tried(at=recorder.tick(), key=key, n=1, kind="rate_limit", message="429", wait_s=0.5))
    recorder.ask(key, "?", Reply("!", usage=Usage(2, 1)))
    for wait in (1.0, None):
        recorder.write(Tried(at=recorder.tick(), key=key, n=2, kind="server", message="HTTP 500", wait_s=wait))
    recorder.finish(key, Outcome.BROKEN, "server", messages=("HTTP 500",))
    (line,) = lines(recorder.close())
    _, answered, failed = spans(line)
    assert [values(event)["error.type"] for event in answered["events"]] == ["rate_limit"]
    assert "status" not in answered
    assert int(answered["startTimeUnixNano"]) == int(answered["events"][0]["timeUnixNano"])
    assert failed["status"] == {"code": 2, "message": "HTTP 500"}
    assert values(failed)["error.type"] == "server"
    assert len(failed["events"]) == 2


def test_imported_runs_say_so(tmp_path: Path):
    recorder = Recorder(
        tmp_path, cases=1, model=ModelFacts("m", provider="imported"), versions={"imported": "inspect_ai 0.3"}
    )
    key = recorder.start("a")
    recorder.ask(key, "?", Reply("!"))
    recorder.finish(key, Outcome.PASSED)
    (line,) = lines(recorder.close())
    root, call = spans(line)
    assert values(root)["eval_console.imported"] == "inspect_ai 0.3"
    assert values(line["resourceSpans"][0]["resource"])["eval_console.imported"] == "inspect_ai 0.3"
    assert values(call)["gen_ai.provider.name"] == "imported"


HOSTILE = "\x1b]52;c;aGk=\x07\x7f </script>\u202e \x00 {not json"
"""Text that a terminal or a reader might obey."""
DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    "arguments", ["", "[1]", "NaN", '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', DEEP, f'{{"a": {DEEP}}}', HOSTILE]
)
def test_hostile_text_stays_text(tmp_path: Path, arguments: str):
    recorder = Recorder(tmp_path, cases=1)
    key = recorder.start(HOSTILE, title=HOSTILE)
    reply = Reply(HOSTILE, (ToolCall("c", HOSTILE, arguments),), model=HOSTILE, finish="length", reasoning=HOSTILE)
    recorder.ask(key, HOSTILE, reply, tools=[{"type": 7}, {"function": {"name": HOSTILE}}])
    recorder.finish(key, Outcome.UNDECIDED, HOSTILE, messages=(HOSTILE,))
    document, _ = read_document(recorder.close(), None, with_conversations=True)
    text = otlp_lines(document).decode("ascii")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    (line,) = map(json.loads, text.splitlines())
    root, call = spans(line)
    assert values(root)["eval_console.case"] == HOSTILE
    (choice,) = json.loads(values(call)["gen_ai.output.messages"])
    assert [part["type"] for part in choice["parts"]] == ["reasoning", "text", "tool_call"]
    assert choice["parts"][1]["content"] == HOSTILE
    assert choice["parts"][2]["arguments"] == ({"a": "\ufffd"} if "ud800" in arguments else arguments)
