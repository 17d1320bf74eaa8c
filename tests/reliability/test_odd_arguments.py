"""Calls whose arguments no strict JSON holds: they are the model's, so each is graded, and none is a fault."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import only_run, results, write_models
from support.quick_rows import first_quick

from console.core.outcome import Outcome

NUMBERS = ("NaN", "1e999", "-Infinity", "1" + "0" * 400, "1" + "0" * 30, '"\\ud800"', '{"1": [NaN]}', "[[1], {}]")
TEXTS = (
    *(f'{{"%s": {number}}}' for number in NUMBERS),
    *('{"\\ud800": 1, "\\ud801": 2}', '{"$foreign": {}}', "NaN"),
)
SOURCES = tuple(
    f"[NAME(x={value})]"
    for value in ("float('nan')", "1e999", "10**400", "'\\ud800'", "{1: 2}", "b'x'", "{1, 2}", "1j", "...", "9" * 4_000)
)
DATA = Path(__file__).resolve().parents[2] / "data"


def odd_calls() -> Any:
    texts, sources = itertools.cycle(TEXTS), itertools.cycle(SOURCES)

    def answer(request: dict[str, Any]) -> Scripted:
        if request["messages"][-1]["role"] == "tool":
            return Scripted("Done.")
        if not (tools := request.get("tools")):
            named = re.search(r'\\"name\\": ?\\"([\\w.]+)', json.dumps(request["messages"]))
            return Scripted(next(sources).replace("NAME", named[1] if named else "f"), finish="stop")
        tool = tools[0]["function"]
        name = next(iter(tool["parameters"]["properties"] or {}), "x")
        return Scripted(calls=[(tool["name"], next(texts).replace("%s", name))])

    return answer


@pytest.mark.parametrize(
    ("suite", "more"),
    first_quick(
        [
            ("bfcl-starter", ("--mode", "fc", "-n", 22)),
            ("dialogue-starter", ("--mode", "fc", "--judge", "sim/judge", "--user", "sim/user")),
            ("bfcl-starter", ("--mode", "prompt", "-n", 20)),
            ("cave-starter", ("--mode", "json", "--rollouts", 2)),
        ],
        2,
    ),
)
def test_odd_arguments_are_graded(console: Any, home: Path, suite: str, more: tuple[Any, ...]) -> None:
    with OpenAIServer(odd_calls()) as server:
        write_models(home, server)
        ended = console("run", "-m", "m", "-s", suite, "--data", DATA, "-c", 4, "--yes", *more)
    verdicts = {key: verdict for key, (verdict, _, _) in results(only_run(home / "runs")).items()}
    broken = {key: verdict.messages for key, verdict in verdicts.items() if verdict.outcome is Outcome.BROKEN}
    assert broken == {}, ended.err
    assert len(verdicts) >= 6
