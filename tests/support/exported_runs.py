"""A small run with everything that exports must carry: tools, a judge, named scores and a case that broke."""

from pathlib import Path

from support.recorded_runs import Recorder

from console.__main__ import main
from console.core.chat import Reply, ToolCall, Usage
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.store.runs import RunFolder

TOOL = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"x": {}}}},
}


def simulated_starter(root: Path, *options: str) -> RunFolder:
    """Play some cases of the bundled starter with a simulated model that gets some of them wrong."""
    data = Path(__file__).resolve().parents[2] / "data" / "bfcl-starter"
    command = ["run", "-m", "sim/hasty", "-s", "bfcl-starter", "--data", str(data), "--runs", str(root), "--quiet"]
    main([*command, "-n", "12", *options])
    (run,) = (RunFolder(path) for path in root.iterdir() if (path / "run.json").exists())
    return run


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
