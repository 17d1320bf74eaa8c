"""Keys that come back over APIs other than chat completions: no file, screen or export holds a piece of one."""

import random
import string
from pathlib import Path
from typing import Any

import pytest
from server.api_server import EVENTS_BY_API, ApiServer, Said
from support.echoes import CUT_AT, pieces_in
from support.lookup_suite import results, write_suite
from support.quick_rows import first_quick

from console.cli import history
from console.core.outcome import Outcome
from console.exchange.exports.formats import own_exports

KEY = "".join(random.Random(12).choices(string.ascii_letters + string.digits, k=64))
HALF = "half of it " * 9
APIS = ("responses", "anthropic", "gemini", "ollama")
ANSWERS = {
    "content": Said(f"Your key is {KEY}, is it not?"),
    "content twice": Said(f"{KEY}{KEY}"),
    "content cut": Said(f"It begins with {KEY[:CUT_AT]} and ends with {KEY[CUT_AT - 15 :]}."),
    "reasoning": Said("Well.", reasoning=f"The key {KEY} was sent."),
    "name of a call": Said(calls=[(f"f_{KEY}", {})]),
    "argument": Said(calls=[("f", {"key": KEY})]),
    "name of an argument": Said(calls=[("f", {"deep": [{KEY: KEY}]})]),
    "escaped argument": Said(calls=[("f", {"key": f'"{KEY}\\/{KEY}"'})]),
}
ERRORS = {
    "reason of the end": Said("fine", end=f"because_of_{KEY}"),
    "error in a stream": Said(HALF, error_event={"type": "error", "error": {"message": f"died with {KEY}"}}),
    "error of no form": Said(HALF, error_event={"detail": f"died with {KEY}", KEY: KEY}),
    "error at the end of a long text": Said(HALF, error_event={"error": {"message": "x" * 380 + KEY, "code": 500}}),
    "refused": Said(
        status="400 Bad Request", error={"error": {"message": f"Incorrect key {KEY}", "code": KEY, "type": KEY}}
    ),
    "failed": Said(status="500 Internal Server Error", error={"error": {"message": "x" * 370 + KEY}}),
    "key as a field": Said(status="500 Internal Server Error", error={KEY: [KEY, {KEY: 1}]}),
    "redirect": Said(
        status="307 Temporary Redirect", headers={"location": f"http://127.0.0.1:9/{'x' * 150}/{KEY}?key={KEY}"}
    ),
    "cut in the key": Said(f"Your key is {KEY} and it is a long one", cut_after=9),
    "no end": Said(f"Your key is {KEY}", ends_without_last=True),
}
MODELS = """
[m]
provider = "{api}"
model_id = "m-1"
base_url = "{url}"
api_key_env = "ECHOED_KEY"
limits = {{ max_tries = 1, backoff_s = 0.01, max_wait_s = 1 }}
"""


@pytest.mark.parametrize("api", first_quick(APIS))
def test_no_piece_of_an_echoed_key_is_anywhere(
    console: Any, home: Path, monkeypatch: Any, api: str, record_property: Any
) -> None:
    monkeypatch.setenv("ECHOED_KEY", KEY)
    monkeypatch.setattr(history, "SAVED_FROM_BYTES", 1)
    shown: list[str] = []

    def run(*command: object) -> Any:
        ended = console(*command)
        shown.append(ended.out + ended.err)
        return ended

    # A good answer after each echo, so that the run goes on.
    script = [said for echo in (ANSWERS | ERRORS).values() for said in (Said("Fine."), echo)]
    data = write_suite(home / "data", len(script))
    with ApiServer([*script, Said("Fine.")], served=[f"served-{KEY}"]) as server:
        (home / "models.toml").write_text(MODELS.format(api=api, url=server.base_url))
        ended = run("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 1, "--json")
        asked = list(server.paths)
        assert KEY in str(server.heads), "the key was sent"
        run("doctor")
        run("models", "--served")
        server.script = [Said(status="401 Unauthorized", error={"error": {"message": f"{KEY} is no key"}})]
        run("run", "-m", "m", "-s", "lookups", "--data", data, "-n", 3)
    assert {path.partition("?")[0].rpartition("/")[2].rpartition(":")[2] for path in asked} <= set(EVENTS_BY_API)
    assert len(asked) == len(script), "every echo was played"
    record_property("trials", len(ANSWERS | ERRORS))
    folder = Path(ended.data["folder"])
    outcomes = {int(case.rpartition("_")[2]): verdict.outcome for case, (verdict, _, _) in results(folder).items()}
    for place, name in enumerate(ANSWERS | ERRORS):
        assert outcomes[2 * place] is Outcome.FAILED
        assert (outcomes[2 * place + 1] is Outcome.BROKEN) is (name in ERRORS), name
    for name, form in own_exports().items():
        out = home / f"out.{name}"
        run("export", folder.name, "--format", name, "-o", out)
        assert out.is_file() or not form.extension, f"nothing was exported as {name}"
    for command in (("show",), ("show", "--json"), ("review", "--all"), ("review", "--json"), ("failures",)):
        run(command[0], folder.name, *command[1:])
    for place in range(len(script)):
        run("show", f"{folder.name}#simple_python_{place}")
        run("show", f"{folder.name}#simple_python_{place}", "--json")
    for command in (("models", "--json"), ("runs", "--json"), ("leaderboard",)):
        run(*command)
    assert any("[redacted]" in text for text in shown)
    assert {place: pieces for place, text in enumerate(shown) if (pieces := pieces_in(text, KEY))} == {}
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "index.msgpack" for path in files)
    assert {str(path): pieces for path in files if (pieces := pieces_in(path.read_bytes(), KEY))} == {}
