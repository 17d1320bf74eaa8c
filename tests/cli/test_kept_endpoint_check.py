"""The newest check of an endpoint is kept, and `run` says what is open before it needs native calls."""

from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted


@pytest.fixture
def mute(home: Path):
    """Serve a model that never calls a tool, for native and for prompted tools."""
    with OpenAIServer(lambda request: Scripted("No.")) as server:
        entry = f'model_id = "m"\nbase_url = "{server.base_url}"\n'
        other = f'model_id = "other"\nbase_url = "{server.base_url}"\n'
        (home / "models.toml").write_text(f'[native]\n{entry}mode = "fc"\n[plain]\n{other}mode = "prompt"\n')
        yield


def test_a_run_with_native_tools_says_what_is_open(console, mute: None) -> None:
    asked = ("-s", "bfcl-starter", "-n", 1, "--category", "simple_python", "--dry-run")
    assert "the endpoint of native was never checked" in console("run", "-m", "native", *asked).err
    assert "endpoint" not in console("run", "-m", "plain", *asked).err
    checked = console("doctor", "--try", "native")
    assert checked.err.startswith("checking the endpoint of native: up to 20 requests with 15,000 tokens, ")
    error = console("run", "-m", "native", *asked).err
    assert "never checked" not in error
    assert "the last check of native's endpoint (20" in error
    assert "a call (differs)" in error


def test_a_damaged_file_counts_as_no_check(console, mute: None, home: Path) -> None:
    console("doctor", "--try", "native")
    (kept,) = home.rglob("endpoints/*.json")
    kept.write_text("{")
    asked = ("-s", "bfcl-starter", "-n", 1, "--category", "simple_python", "--dry-run")
    assert "the endpoint of native was never checked" in console("run", "-m", "native", *asked).err


@pytest.mark.parametrize(("ident", "is_open"), [("fee", False), ("berth", True)])
def test_questions_without_tools_need_no_check(console, mute: None, ident: str, is_open: bool) -> None:
    ended = console("run", "-m", "native", "-s", "dialogue-starter", "--ids", ident, "--dry-run")
    assert ended.code == 0
    assert ("never checked" in ended.err) is is_open


def test_a_question_without_an_answer_is_no_difference(console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        return Scripted("No.", fault="cut_head" if request["messages"][0]["role"] == "system" else "")

    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[lossy]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmode = "fc"\n')
        tried = console("doctor", "--try", "lossy")
        assert "! roles: not checked: connect: " in tried.out
        asked = ("-s", "bfcl-starter", "-n", 1, "--category", "simple_python", "--dry-run")
        error = console("run", "-m", "lossy", *asked).err
    assert "roles (" not in error
    assert "and got no answer to: roles" in error
