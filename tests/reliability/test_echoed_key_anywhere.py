"""Keys echoed in each string of a reply, one at a time, of every API: no file or export holds a piece of one."""

import copy
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llm.test_whole_body_apis import body_of
from server import api_server
from server.api_server import EVENTS_BY_API, ApiServer, Said
from support.echoes import Leaks
from support.lookup_suite import write_suite
from support.quick_rows import first_quick

KEY = "".join(random.Random(13).choices(string.ascii_letters + string.digits, k=48))
TEXT = Said("The answer is 4.", reasoning="Let me think.")
CALL = Said(calls=[("look_up", {"number": 4})])
WORDS = {"responses": "responses", "anthropic": "messages", "gemini": "streamGenerateContent", "ollama": "chat",
         "openai": "chat/completions"}  # fmt: skip
WHOLE = {
    api: [[body_of(api, "It is 4.", thought="Hm.")], [body_of(api, call={"number": 4})]]
    for api in ("cohere", "bedrock")
}
ERRORS = ("400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "429 Too Many Requests",
          "500 Internal Server Error", "529 Overloaded")  # fmt: skip
HEADERS = ("x-request-id", "request-id", "server", "retry-after", "location", "content-encoding", "openai-version",
           "x-ratelimit-reset-requests", "set-cookie", "www-authenticate")  # fmt: skip
MODELS = """
[m]
provider = "{api}"
model_id = "m-1"
base_url = "{url}"
api_key_env = "ECHOED_KEY"
limits = {{ max_tries = 1, backoff_s = 0.01, max_wait_s = 1 }}
"""


def places(value: Any) -> Iterator[Callable[[Any], Any]]:
    """Yield functions that put the key into one string, or one name of a field, of a copy of a value."""
    if isinstance(value, str):
        yield lambda it: f"{it} {KEY}"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from (lambda it, n=number, put=put: [*it[:n], put(it[n]), *it[n + 1 :]] for put in places(item))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield lambda it, n=name: {f"{n}{KEY}" if other == n else other: each for other, each in it.items()}
            yield from (lambda it, n=name, put=put: it | {n: put(it[n])} for put in places(item))


def echoes(api: str) -> Iterator[Said]:
    replies = WHOLE[api] if api in WHOLE else [EVENTS_BY_API[WORDS[api]](said) for said in (TEXT, CALL)]
    for events in replies:
        yield from (Said(events=put(copy.deepcopy(events))) for put in places(events))
    for start in range(7 if api in WORDS else 0):  # deltas of seven characters end everywhere in the key
        text = f"{'-' * start}{KEY}"
        yield Said(text, reasoning=text, calls=[(text, {text: text})])
    yield from (Said(status=status, error={"error": {"message": f"no {KEY}", "type": KEY}}) for status in ERRORS)
    yield from (Said(status="400 Bad Request", error={"m": "x"}, headers={name: KEY}) for name in HEADERS)
    yield from (
        Said(status="302 Found", headers={"location": f"{at}{KEY}"}) for at in ("/", "http://", "//a/?k=", "\x7f")
    )


@pytest.mark.parametrize("api", first_quick([*WHOLE, *WORDS]))
def test_no_piece_of_a_key_that_is_echoed_anywhere_is_kept(
    console: Any, home: Path, monkeypatch: pytest.MonkeyPatch, api: str, record_property: Any
) -> None:
    monkeypatch.setenv("ECHOED_KEY", KEY)
    monkeypatch.setitem(EVENTS_BY_API, "converse", lambda said: [body_of("bedrock", said.text or "It is 4.")])
    monkeypatch.setattr(api_server, "SENT_AS_LINES", frozenset({"chat", "converse"}))
    fine = Said(events=WHOLE[api][0]) if api in WHOLE else Said("Fine.")
    script = [said for echo in echoes(api) for said in (fine, echo)]
    data, leaks = write_suite(home / "data", len(script)), Leaks(console, home, KEY)
    with ApiServer([*script, fine]) as server:
        (home / "models.toml").write_text(MODELS.format(api=api, url=server.base_url))
        leaks.run("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 1, "--json")
        assert KEY in str(server.heads), "the key was sent"
        assert len(server.paths) >= len(script), "every echo was played"
    record_property("trials", len(script) // 2)
    for form in ("json", "csv", "html", "inspect-json"):
        leaks.run("export", "latest", "--format", form, "-o", home / f"out.{form}")
    for verb, *words in (("show",), ("show", "--json"), ("review", "--all"), ("failures",)):
        leaks.run(verb, "latest", *words)
    leaks.assert_none()
