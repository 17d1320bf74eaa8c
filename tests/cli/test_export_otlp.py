"""OpenTelemetry traces by command line: their tokens and outcomes are those of the run."""

import json
from pathlib import Path
from typing import Any

from support.otlp_lines import spans, values


def test_tokens_of_the_calls_sum_up_to_those_of_the_rollouts(console: Any, home: Path):
    ended = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "--category", "simple_python", "--json", "--quiet")
    assert ended.code == 0, ended.err
    assert console("export", ended.data["run"], "--format", "otlp", "-o", "traces.jsonl").code == 0
    found = [json.loads(line) for line in (home / "traces.jsonl").read_text().splitlines()]
    rows = json.loads(console("export", ended.data["run"], "--format", "json").out)["rollouts"]
    assert len(found) == len(rows)
    for line, row in zip(found, rows, strict=True):
        root, *calls = spans(line)
        for kind in ("input_tokens", "output_tokens"):
            total = sum(values(call).get(f"gen_ai.usage.{kind}", 0) for call in calls)
            assert total == row[kind] == values(root)[f"eval_console.{kind}"]
        assert values(root)["eval_console.outcome"] == row["outcome"]
        assert all(values(span)["eval_console.simulated"] is True for span in (root, *calls))
        assert values(line["resourceSpans"][0]["resource"])["eval_console.simulated"] is True
