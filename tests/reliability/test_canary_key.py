"""A key planted everywhere a key can be, and echoed by a server wherever it can be: it is on no disk and no screen."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from server.faults import FAULTS
from server.http1 import Exchange
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, right, write_suite
from support.tmux_terminal import TmuxTerminal

from console.cli import history
from console.exchange.exports.formats import own_exports

SECRETS = {
    "environment": "canary+environment/8c1f",
    "inline": 'canary-inline-77aa\\x"y',
    "header": "canary header value 31",
    "parameter": "canary-parameter-5d",
}
MODELS = """
[env]
model_id = "m"
base_url = "{url}"
api_key_env = "PLANTED"
headers = {{ X-Tenant = "canary header value 31" }}
params = {{ tenant_key = "canary-parameter-5d" }}
limits = {{ max_tries = 2, backoff_s = 0.01 }}

[inline]
model_id = "m"
base_url = "{url}"
api_key = 'canary-inline-77aa\\x"y'
limits = {{ max_tries = 2, backoff_s = 0.01 }}
"""


def told(exchange: Exchange) -> str:
    """All secrets that reached the server, as it might quote them."""
    heads = " ".join(f"{name}: {value}" for name, value in exchange.headers.items())
    body = json.dumps(exchange.json)
    return f"{heads} {body} {quote(heads)} " + base64.b64encode(heads.encode()).decode()


def echo_refusal(exchange: Exchange) -> None:
    exchange.error("500 Internal Server Error", f"upstream said: {told(exchange)}")


def echo_page(exchange: Exchange) -> None:
    exchange.answer(f"<html>{told(exchange)}</html>".encode(), "text/html")


def echo_stream(exchange: Exchange) -> None:
    exchange.begin_events()
    exchange.event({"id": "c", "choices": [{"index": 0, "delta": {"content": "half an ans"}, "finish_reason": None}]})
    exchange.event({"error": {"message": f"died with {told(exchange)}", "code": 500}})
    exchange.finish()


ECHOES: dict[str, Callable[[Exchange], None]] = {"refusal": echo_refusal, "page": echo_page, "stream": echo_stream}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    for name, play in ECHOES.items():
        monkeypatch.setitem(FAULTS, f"echo_{name}", play)
    faults = ["", *(f"echo_{name}" for name in ECHOES)]

    def answer(request: dict[str, Any]) -> Scripted:
        return right(request, fault=faults[number_of(request) % len(faults)])

    with OpenAIServer(answer) as running:
        yield running


def spellings(secret: str) -> list[bytes]:
    core = base64.b64encode(secret.encode()).rstrip(b"=")[:-1]
    return [secret.encode(), quote(secret).encode(), quote(secret, safe="").encode(), core]


def secrets_in(data: bytes) -> list[str]:
    return [name for name, secret in SECRETS.items() if any(form in data for form in spellings(secret))]


def sweep(folder: Path) -> dict[str, list[str]]:
    """Every file below a folder that holds a secret."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "models.toml"]
    assert len(files) >= 8
    return {path.name: held for path in files if (held := secrets_in(path.read_bytes()))}


def test_no_secret_reaches_a_file_or_a_screen(console, home: Path, server: OpenAIServer, monkeypatch) -> None:
    monkeypatch.setenv("PLANTED", SECRETS["environment"])
    monkeypatch.setattr(history, "SAVED_FROM_BYTES", 1)
    (home / "models.toml").write_text(MODELS.format(url=server.base_url))
    data = write_suite(home / "data", 8)
    said: list[str] = []

    def run(*command: object) -> str:
        ended = console(*command)
        said.append(ended.out + ended.err)
        return ended.out

    names = [
        run("run", "-m", model, "-s", "lookups", "--data", data, "-c", 1, *flags).split("\n")[0].split()[0]
        for model, flags in (("env", ()), ("inline", ()))
    ]
    seen = b" ".join(str(head).encode() for head in server.heads)
    assert {"environment", "header"} <= set(secrets_in(seen)), "the secrets were sent, as they must be"
    for name in names:
        for form in own_exports():
            run("export", name, "--format", form, "-o", home / f"out-{name}.{form}")
            assert (home / f"out-{name}.{form}").is_file() or not own_exports()[form].extension, said[-1]
        for command in (("show", name), ("review", name, "--all"), ("review", name, "--json"), ("failures", name)):
            run(*command)
        run("show", f"{name}#simple_python_1")
    roles = ("--judge", "inline", "--embedding", "sim/embedding", "--dry-run")
    run("run", "-m", "sim/hasty", "-s", "aidan-starter", *roles)
    assert "is not served by" in said[-1]
    for command in (("models",), ("models", "--json"), ("doctor",), ("runs", "--json"), ("suites",)):
        run(*command)
    assert any("[redacted]" in text for text in said), "what the server quoted is shown, without the secrets"
    assert {index: held for index, text in enumerate(said) if (held := secrets_in(text.encode()))} == {}
    assert len([*home.rglob("index.msgpack")]) == 2, "what is kept of long runs is swept too"
    assert sweep(home) == {}


def test_no_secret_reaches_the_screen_or_a_detached_run(console, home: Path, server: OpenAIServer, monkeypatch) -> None:
    monkeypatch.setenv("PLANTED", SECRETS["environment"])
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    (home / "models.toml").write_text(MODELS.format(url=server.base_url))
    data = write_suite(home / "data", 4)
    assert console("run", "-m", "env", "-s", "lookups", "--data", data, "--detach").code == 0
    console("watch", "latest")
    app = TmuxTerminal(home, "--data", str(data), size=(160, 45), env={"PLANTED": SECRETS["environment"]})
    try:
        screens = [app.until("lookups")]
        app.press("3")
        screens.append(app.until("Review", "redacted"))
        app.press("n", "n")
        screens.append(app.until("Review"))
        app.press("1")
        screens.append(app.until("Try the demo"))
        app.press("q")
        screens.append(app.until("exit 0"))
    finally:
        app.close()
    assert [secrets_in(screen.encode()) for screen in screens] == [[]] * len(screens)
    assert sweep(home) == {}
