"""Keys that come back over APIs other than chat completions: no file, screen or export holds a piece of one."""

import random
import string
from pathlib import Path
from typing import Any

import pytest
from server.api_server import EVENTS_BY_API, ApiServer, Said
from support.echoes import CUT_AT, Leaks, outcomes_of
from support.lookup_suite import write_suite
from support.quick_rows import first_quick

from console.cli import history
from console.core.outcome import Outcome

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
    leaks = Leaks(console, home, KEY)
    # A good answer after each echo, so that the run goes on.
    script = [said for echo in (ANSWERS | ERRORS).values() for said in (Said("Fine."), echo)]
    data = write_suite(home / "data", len(script))
    with ApiServer([*script, Said("Fine.")], served=[f"served-{KEY}"]) as server:
        (home / "models.toml").write_text(MODELS.format(api=api, url=server.base_url))
        ended = leaks.run("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 1, "--json")
        asked = list(server.paths)
        assert KEY in str(server.heads), "the key was sent"
        leaks.run("doctor")
        leaks.run("models", "--served")
        server.script = [Said(status="401 Unauthorized", error={"error": {"message": f"{KEY} is no key"}})]
        leaks.run("run", "-m", "m", "-s", "lookups", "--data", data, "-n", 3)
    assert {path.partition("?")[0].rpartition("/")[2].rpartition(":")[2] for path in asked} <= set(EVENTS_BY_API)
    assert len(asked) == len(script), "every echo was played"
    record_property("trials", len(ANSWERS | ERRORS))
    folder = Path(ended.data["folder"])
    outcomes = outcomes_of(folder)
    for place, name in enumerate(ANSWERS | ERRORS):
        assert outcomes[2 * place] is Outcome.FAILED
        assert (outcomes[2 * place + 1] is Outcome.BROKEN) is (name in ERRORS), name
    cases = [f"simple_python_{place}" for place in range(len(script))]
    leaks.read_everything(folder, [(case, *words) for case in cases for words in ((), ("--json",))])
    leaks.assert_none()
