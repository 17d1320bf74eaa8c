"""A run that goes out as an Inspect log and comes in again: the same totals, scores, calls and judges."""

from pathlib import Path

import pytest
from support.recorded_runs import Recorder

from console.core.chat import Reply, ToolCall, Usage
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.exchange.export_formats import export_file, export_format
from console.exchange.import_formats import ImportSettings, find_items
from console.exchange.run_reader import RunReader
from console.store.runs import RunFolder

TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"x": {}}}},
}


def played(root: Path) -> RunFolder:
    """Write a run with tools, a judge, named scores, repeats and a case that broke."""
    recorder = Recorder(root, cases=3, suite="sums")
    key = recorder.start("a")
    call = Reply(None, (ToolCall("c1", "add", '{"x": 1}'),), usage=Usage(5, 3))
    recorder.ask(key, "1+1?", call, tools=[TOOL])
    messages = [
        {"role": "user", "content": "1+1?"},
        call.message(),
        {"role": "tool", "content": "2", "tool_call_id": "c1"},
    ]
    recorder.ask(key, "", Reply("It is 2"), n=2, messages=messages)
    recorder.ask(key, "", Reply("GRADE 80"), n=3, role="judge", messages=[{"role": "user", "content": "How good?"}])
    scores = {"style": 0.75, "coherence": 80.0}
    recorder.write(
        Finished(at=recorder.tick(), key=key, verdict=Verdict(Outcome.PASSED, scores=scores), output="It is 2")
    )
    key = recorder.start("b")
    recorder.ask(key, "2+2?", Reply("5"))
    verdict = Verdict(Outcome.FAILED, "wrong", scores={"style": 0.25})
    recorder.write(Finished(at=recorder.tick(), key=key, verdict=verdict, output="5"))
    recorder.finish(recorder.start("c"), Outcome.BROKEN, "server", messages=("HTTP 500",))
    return recorder.close()


def test_what_goes_out_comes_back(tmp_path: Path):
    there = played(tmp_path / "there")
    export_file(there, export_format("eval"), tmp_path / "log.eval", None)
    (item,) = find_items(tmp_path / "log.eval")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    back = RunFolder(tmp_path / "back" / report.run)
    assert report.outcomes == {"passed": 1, "failed": 1, "broken": 1}
    assert [(total.score, total.reported, total.agrees) for total in report.totals] == [
        ("eval_console", 0.5, True),
        ("style", 0.5, True),
        ("coherence", 80.0, True),
    ]
    shown = [RunReader(folder) for folder in (there, back)]
    texts = [
        [
            (passage.kind.value, passage.role, passage.arguments or passage.text)
            for passage in reader.conversation(reader.side.rollouts["a", 0]).passages
            if passage.kind.value not in ("verdict", "score")
        ]
        for reader in shown
    ]
    assert texts[0] == texts[1]
    assert shown[1].side.rollouts["a", 0].scores == pytest.approx(
        {"eval_console": 1.0, "style": 0.75, "coherence": 80.0}
    )
