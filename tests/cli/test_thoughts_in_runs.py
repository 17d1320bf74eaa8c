"""A tool loop of a run sends the model's thoughts back, and a replay of the run makes the same requests."""

import json
from pathlib import Path
from typing import Any

from server.api_server import ApiServer, Said

Json = dict[str, Any]
CALL = {"index": 0, "id": "a1", "type": "function", "function": {"name": "find", "arguments": '{"metres": 14}'}}
EVENTS: list[Json] = [
    {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm"}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]


def test_a_recorded_loop_is_replayed_with_its_thoughts(console, home: Path) -> None:
    folder = home / "data" / "berths"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('format = "dialogue"\n')
    tool = {"name": "find", "description": "finds", "parameters": {"type": "object", "properties": {}}}
    row = {"id": "a", "prompt": "Berth?", "tools": [tool], "tool_results": [{"tool": "find", "result": "C7"}],
           "expect": [{"calls": [{"find": {"metres": 14}}]}, {"contains": "C7"}]}  # fmt: skip
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n")
    with ApiServer([Said(events=EVENTS), Said("C7.")]) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmode = "fc"\n')
        played = console("run", "-m", "m", "-s", "berths", "--data", home / "data", "--name", "r", "--json")
        assert server.requests[-1]["messages"][1]["reasoning_content"] == "Hm"
        asked = len(server.requests)
        again = console("regrade", "r", "--data", home / "data", "--json")
        assert len(server.requests) == asked
    assert (played.code, again.code) == (0, 0), played.err + again.err
    assert "Hm" in console("show", "r#a").out
