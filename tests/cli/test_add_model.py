"""`models add`: from a server to a table of models.toml that plays, with the rest of the file as it was."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.pseudo_terminal import PseudoTerminal

ROOT = Path(__file__).resolve().parents[2]
OWN = '# mine\n[old]   # kept\nmodel_id = "x"\nbase_url = "http://127.0.0.1:1/v1"'
ROUTER_ROW = {
    "id": "maker/one",
    "context_length": 32768,
    "pricing": {"prompt": "0.0000004", "completion": "0.000001", "input_cache_read": "-1"},
}


@pytest.fixture
def models(home: Path) -> Path:
    path = home / "models.toml"
    path.write_text(OWN)  # without a line end
    return path


def test_a_model_is_listed_tried_and_added_and_plays(console: Any, models: Path) -> None:
    with OpenAIServer(models=("a-b/small", ROUTER_ROW)) as server:
        at = ("models", "add", "other", "--address", server.base_url)
        listed = console(*at, "--json").data["models"]
        assert listed[0] == {"id": "a-b/small", "context": None, "price_in": None, "price_out": None}
        assert listed[1] == {"id": "maker/one", "context": 32768, "price_in": 0.4, "price_out": 1.0}
        assert server.counts["chat"] == 0, "listing is free"
        added = console(*at, "--id", "maker/one", "--json").data
        assert [finding["text"] for finding in added["findings"]] == ["answers", "answers, with 1 call"]
        assert 0 < added["cost_usd"] < 0.01
        assert models.read_text() == f"{OWN}\n\n{added['entry']}\n"
        assert 'mode = "fc"' in added["entry"]
        assert "price = { in = 0.4, out = 1.0 }" in added["entry"]
        some = ("-s", "bfcl-starter", "-n", 2, "--category", "simple_python")
        played = console("run", "-m", added["name"], *some, "--json")
        assert played.data["summary"]["tally"]["failed"] == 2
        again = console(*at, "--id", "maker/one", "--no-try", "--json").data
        assert (again["name"], again["findings"]) == ("one-2", [])
        assert console(*at, "--id", "maker/one", "--name", "old", "--no-try").code == 2


def test_a_server_that_refuses_parameters_gets_an_entry_that_works(console: Any, models: Path) -> None:
    with OpenAIServer(lambda request: Scripted(fault="newer_model")) as server:
        added = console("models", "add", "other", "--address", server.base_url, "--id", "m", "--json").data
    assert 'omit = ["temperature"' in added["entry"]


def test_a_model_without_native_calls_gets_the_prompt(console: Any, models: Path) -> None:
    with OpenAIServer(lambda request: Scripted("yes")) as server:
        added = console("models", "add", "other", "--address", server.base_url, "--id", "m", "--json").data
    assert "mode =" not in added["entry"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("opnai",), "Did you mean openai?"),
        (("openai",), "OPENAI_API_KEY is not set"),
        (("azure", "--key-env", "HOME"), "needs --address"),
        (("other", "--address", "localhost"), "must begin with http"),
        (("other", "--address", "http://127.0.0.1:1/v1"), "cannot connect"),
        (("other", "more"), "unknown command"),
        (("--address", "http://127.0.0.1:1/v1"), "cannot connect"),
        (("--id", "gpt-x"), "--id needs a server"),
    ],
)
def test_what_is_missing_is_one_sentence_and_the_file_stays(
    console: Any, models: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ended = console("models", "add", *words)
    assert (ended.code, said in ended.err) == (2, True), ended.err
    assert models.read_text() == OWN


def test_a_refused_trial_adds_nothing(console: Any, models: Path) -> None:
    with OpenAIServer(lambda request: Scripted(fault="r401")) as server:
        ended = console("models", "add", "other", "--address", server.base_url, "--id", "m")
    assert (ended.code, "--no-try" in ended.err) == (2, True)
    assert models.read_text() == OWN


def test_every_key_of_a_server_is_named_and_a_set_one_is_seen(
    console: Any, models: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")
    (home / ".env").write_text("XAI_API_KEY=xai-1\n")
    keys = {server["name"]: server["key"] for server in console("models", "add", "--json").data["servers"]}
    assert keys["mistral"] == "MISTRAL_API_KEY is not set"
    assert keys["groq"] == "GROQ_API_KEY is set"
    assert keys["xai"] == "XAI_API_KEY is set in .env"


def test_on_a_terminal_each_part_is_asked_for(models: Path) -> None:
    """Eight lines at most, of which three are typed words."""
    with OpenAIServer(say_ok, models=("tiny-1", "tiny-2", "large-1", "\x1b[2Jlarge-2")) as server:
        command = [sys.executable, "-m", "console", "--models", str(models), "models", "add"]
        terminal = PseudoTerminal(command, (100, 40), {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"})
        answers = (
            ("this machine: ", "nowhere"), ("this machine: ", "any oth"),
            ("8000/v1: ", server.base_url), ("number: ", "large"), ("number: ", "1"),
            ("[Y/n] ", "y"),
        )  # fmt: skip
        try:
            for question, answer in answers:
                terminal.read_until(question.encode())
                terminal.send(f"{answer}\r".encode())
            assert terminal.wait() == 0
            assert b"\x1b[2J" not in terminal.output
        finally:
            terminal.close()
    assert models.read_text().startswith(f"{OWN}\n\n# any other address")
    assert 'model_id = "large-1"' in models.read_text()


def test_the_suggested_command_works(console: Any, models: Path) -> None:
    with OpenAIServer(models=("small",)) as server:
        listed = console("models", "add", "--address", server.base_url, "--key-env", "HOME")
        assert f"adds one to {models}" in listed.out
        command = re.search(r"`eval-console (.+) --id ID`", listed.out)
        assert command is not None
        added = console(*shlex.split(command[1]), "--id", "small", "--no-try", "--json")
        assert (added.code, added.data["file"]) == (0, str(models)), added.err


def test_the_file_of_a_checkout_is_not_written_from_elsewhere(
    console: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be under version control; a file of the current folder is used from then on, as is said."""
    root = tmp_path / "checkout"
    (root / "data").mkdir(parents=True)
    for name, text in (("pyproject.toml", ""), ("models.toml", OWN)):
        (root / name).write_text(text)
    monkeypatch.setattr("console.config.paths.checkout", lambda: root)
    with OpenAIServer(models=("small",)) as server:
        at = ("models", "add", "--address", server.base_url, "--id", "small", "--no-try")
        added = console(*at)
        assert f"Added to {home / 'models.toml'}" in added.out
        assert f"in place of {root / 'models.toml'}" in added.out
        assert (root / "models.toml").read_text() == OWN
        monkeypatch.chdir(root)
        assert console(*at, "--json").data["file"] == str(root / "models.toml")
