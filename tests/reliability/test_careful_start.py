"""A run starts carefully, but does not wait for a model that its first conversations do not need."""

import json
from pathlib import Path
from typing import Any

from server.openai_server import OpenAIServer, Scripted
from support.row_suite import write_folder


def answer(request: dict[str, Any]) -> Scripted:
    if request["model"] == "grader":
        return Scripted(json.dumps({"grades": [{"name": "rubric", "why": "so", "grade": 1}]}))
    return Scripted("yes", latency_s=1.0)


def test_a_judge_of_the_last_case_only_does_not_hold_the_others(console, home: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": f"r{n}", "prompt": f"Question {n}?", "regex": "yes"} for n in range(12)]
    rows.append({"id": "judged", "prompt": "Last?", "expect": [{"judge": "It says yes."}]})
    write_folder(home / "data" / "mine", rows)
    with OpenAIServer(answer, models=("m", "grader")) as server:
        tables = [f'[{name}]\nmodel_id = "{name}"\nbase_url = "{server.base_url}"\n' for name in ("m", "grader")]
        (home / "models.toml").write_text("\n".join(tables))
        chosen = ("-m", "m", "-s", "mine", "--judge", "grader", "-c", "8")
        ended = console("run", *chosen, "--data", home / "data", "--models", home / "models.toml", "--yes")
    assert ended.code == 0, ended.err
    assert server.most_in_flight > 3
    assert server.counts["chat"] == len(rows) + 1
