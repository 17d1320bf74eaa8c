"""A misconfigured server looks like a weak model: a run warns about it, and `doctor --try` names it and the remedy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

Json = dict[str, Any]
Answer = Callable[[Json], Scripted]


def call(request: Json) -> tuple[str, Json]:
    return request["tools"][0]["function"]["name"], {"number": 7}


def saying(text: str, **more: Any) -> Answer:
    return lambda request: Scripted(text, **more)


def calling(change: Callable[[str], str]) -> Answer:
    """Answer with a call whose arguments are changed on the way."""

    def answer(request: Json) -> Scripted:
        if not request.get("tools"):
            return Scripted("Hello.")
        name, arguments = call(request)
        return Scripted(calls=[(name, change(json.dumps(arguments)))])

    return answer


def dropping(request: Json) -> Scripted:
    """Answer as a server whose template leaves the tools out."""
    sent = len(json.dumps(request["messages"])) // 4
    return Scripted("I have no tools.", usage={"prompt_tokens": sent, "completion_tokens": 5})


SYMPTOMS: dict[str, tuple[Answer, str]] = {
    "thoughts in the text": (saying("<think>Seven… yes.</think>\n\nIt is 7."), "--reasoning-parser"),
    "thoughts without an answer": (saying("", reasoning="It is 7."), "--reasoning-parser"),
    "special tokens in the text": (calling(lambda text: f"{text}<|tool_call_end|>"), "--tool-call-parser"),
    "arguments encoded twice": (calling(json.dumps), "No call can be graded"),
    "arguments sent twice": (calling(lambda text: text + text), "read once"),
}


def models(home: Path, server: OpenAIServer) -> None:
    (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmode = "fc"\n')


def play(console: Any, home: Path, answer: Answer, *more: object) -> str:
    """Play two native cases and return the report."""
    with OpenAIServer(answer) as server:
        models(home, server)
        category = more or ("--category", "simple_python")
        console("run", "-m", "m", "-s", "bfcl-starter", *category, "-n", 2, "--name", "r", "--quiet")
    return console("show", "r").out


@pytest.mark.parametrize("name", SYMPTOMS)
def test_a_run_warns_and_doctor_finds_it(console, home: Path, name: str) -> None:
    answer, remedy = SYMPTOMS[name]
    assert f"2 rollouts had {name}" in play(console, home, answer)
    for form in ("markdown", "html"):
        assert name in console("export", "r", "--format", form, "-o", "-").out
    assert name in console("show", "r#simple_python_0").out
    with OpenAIServer(answer) as server:
        models(home, server)
        findings = console("doctor", "--try", "m", "--json").data["findings"]
    found = next(item for item in findings if item["name"] == "thoughts and tokens")
    assert (found["state"], name in found["text"], remedy in found["hint"]) == ("bad", True, True)


def test_two_different_arguments_of_one_call_break_the_case(console, home: Path) -> None:
    answer = calling(lambda text: f"{{}}{text}")
    shown = play(console, home, answer)
    assert "2 broken" in shown
    assert "failed" not in shown
    assert "unreadable answer from the server" in shown
    with OpenAIServer(answer) as server:
        models(home, server)
        findings = console("doctor", "--try", "m", "--json").data["findings"]
    # the first question of all has tools already, and is not answered
    assert any("bad_answer: a call has two different arguments" in item["text"] for item in findings)


def test_text_that_ends_with_a_special_token(console, home: Path) -> None:
    assert "2 rollouts had special tokens in the text" in play(console, home, saying("It is 7.<|im_end|>"))


@pytest.mark.parametrize("text", ["The answer is 7.", "Use <b>bold</b> | text </s> of HTML.", "1 <|> 2"])
def test_plain_answers_are_no_symptom(console, home: Path, text: str) -> None:
    shown = play(console, home, saying(text))
    assert " had " not in shown


def test_a_server_that_drops_tools(console, home: Path) -> None:
    shown = " ".join(play(console, home, dropping).split())
    assert "the server does not pass the tools to the model: no reply has a call, and in 2 rollouts" in shown
    with OpenAIServer(dropping) as server:
        models(home, server)
        findings = console("doctor", "--try", "m", "--json").data["findings"]
    found = next(item for item in findings if item["name"] == "a call")
    assert found["state"] == "bad"
    assert "the server drops the tools: the prompt has" in found["text"]
    assert "template" in found["hint"]


def test_a_run_without_any_call_is_not_silent(console, home: Path) -> None:
    usage = {"prompt_tokens": 39_000, "completion_tokens": 5}
    shown = " ".join(play(console, home, saying("I cannot.", usage=usage)).split())
    assert "no reply has a call, although 2 rollouts offered tools" in shown


def test_calls_or_right_refusals_are_no_sign_of_dropped_tools(console, home: Path) -> None:
    assert "offered tools" not in play(console, home, calling(str))
    assert "offered tools" not in play(console, home, saying("No."), "--category", "irrelevance", "--name", "other")


def test_thoughts_that_the_prompt_asks_for_are_no_symptom(console, home: Path) -> None:
    folder = home / "data" / "asked"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('format = "dialogue"\n')
    row = {"id": "a", "prompt": "Think in <think> tags. Capital of Portugal?", "contains": "Lisbon"}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n")
    with OpenAIServer(saying("<think>Portugal</think> Lisbon")) as server:
        models(home, server)
        console("run", "-m", "m", "-s", "asked", "--data", home / "data", "--name", "r", "--quiet")
    assert "thoughts" not in console("show", "r").out


def test_doctor_says_what_its_entry_changes(console, home: Path) -> None:
    def answer(request: Json) -> Scripted:
        return Scripted(fault="newer_model") if "temperature" in request else Scripted("Yes.")

    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\ntemperature = 0.3\n')
        tried = " ".join(console("doctor", "--try", "m").out.split())
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        other = " ".join(console("doctor", "--try", "m").out.split())
    assert "It leaves out temperature = 0.3, which changes what is measured." in tried
    assert "The server's default replaces the temperature of suites." in other
