"""A run on a server without a tool parser says so: calls written as text are counted, grouped and named."""

import json
from pathlib import Path

import pytest
from server.openai_server import OpenAIServer, Scripted


def as_text(request: dict) -> Scripted:
    """Answer with a call in the model's text, as a server without a tool parser passes it on."""
    name = request["tools"][0]["function"]["name"] if request.get("tools") else "none"
    return Scripted(f"<tool_call>{json.dumps({'name': name, 'arguments': {}})}</tool_call>")


@pytest.mark.parametrize(("count", "is_said"), [(5, True), (4, False)])
def test_failures_with_a_call_as_text_are_named(console, home: Path, count: int, is_said: bool) -> None:
    with OpenAIServer(as_text) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmode = "fc"\n')
        played = console("run", "-m", "m", "-s", "bfcl-starter", "--category", "simple_python", "-n", count,
                         "--name", "bare", "--json")  # fmt: skip
    assert played.data["summary"]["written"] == {"<tool_call>": count}
    words = f"no tool parser: {count} of {count} failures have a call written as text"
    assert (words in console("show", "bare").out) is is_said
    assert (words in console("export", "bare", "--format", "markdown", "-o", "-").out) is is_said
    groups = console("failures", "bare").out
    assert "call written as text" in groups


def test_an_answer_without_a_call_is_no_call_as_text(console, home: Path) -> None:
    with OpenAIServer(lambda request: Scripted("I would rather not.")) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmode = "fc"\n')
        played = console("run", "-m", "m", "-s", "bfcl-starter", "--category", "simple_python", "-n", 5, "--json")
    assert "written" not in played.data["summary"]
    assert "failed" in played.data["summary"]["tally"]
