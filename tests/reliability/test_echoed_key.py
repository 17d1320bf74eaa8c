"""Runs against a server that echoes the key wherever it can: no file, screen or export holds it, or a piece of it."""

import random
import string
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.echoes import ANSWERS, DECODED, ERRORS, install, pieces_in
from support.lookup_suite import number_of, results, right, write_suite
from support.quick_rows import first_quick

from console.cli import history
from console.core.outcome import Outcome
from console.exchange.exports.formats import own_exports

KEY = "".join(random.Random(11).choices(string.ascii_letters + string.digits, k=64))
MODELS = """
[streamed]
model_id = "m"
base_url = "{url}"
api_key_env = "ECHOED_KEY"
limits = {{ max_tries = 1, backoff_s = 0.01, max_wait_s = 1 }}

[plain]
model_id = "m"
base_url = "{url}"
api_key_env = "ECHOED_KEY"
params = {{ stream = false }}
limits = {{ max_tries = 1, backoff_s = 0.01, max_wait_s = 1 }}
"""


@pytest.mark.parametrize("model", first_quick(["streamed", "plain"]))
def test_no_piece_of_an_echoed_key_is_anywhere(console, home: Path, monkeypatch, model: str, record_property) -> None:
    install(monkeypatch)
    monkeypatch.setenv("ECHOED_KEY", KEY)
    monkeypatch.setattr(history, "SAVED_FROM_BYTES", 1)
    names = [*ANSWERS, *DECODED, *ERRORS]

    def answer(request: dict[str, Any]) -> Scripted:
        """Every second case is answered right, so that the run goes on."""
        number = number_of(request)
        return right(request) if number % 2 == 0 else right(request, fault=f"echo_{names[number // 2]}")

    shown: list[str] = []

    def run(*command: object) -> Any:
        ended = console(*command)
        shown.append(ended.out + ended.err)
        return ended

    data = write_suite(home / "data", 2 * len(names))
    with OpenAIServer(answer, models=(f"served-{KEY}",)) as server:
        (home / "models.toml").write_text(MODELS.format(url=server.base_url))
        ended = run("run", "-m", model, "-s", "lookups", "--data", data, "-c", 8, "--json")
        assert {f"echo_{name}" for name in names} <= set(server.counts), "every echo was played"
        run("doctor")
        run("models", "--served")
        server.answer = lambda request: Scripted(fault="r404")
        run("run", "-m", model, "-s", "lookups", "--data", data, "-n", 3)
    record_property("trials", len(names))
    folder = Path(ended.data["folder"])
    outcomes = {int(case.rpartition("_")[2]): verdict.outcome for case, (verdict, _, _) in results(folder).items()}
    for place, name in enumerate(names):
        assert outcomes[2 * place] is Outcome.PASSED
        assert (outcomes[2 * place + 1] is Outcome.BROKEN) is (name in ERRORS), name
    for name, form in own_exports().items():
        out = home / f"out.{name}"
        run("export", folder.name, "--format", name, "-o", out)
        assert out.is_file() or not form.extension, f"nothing was exported as {name}"
    for command in (("show",), ("show", "--json"), ("review", "--all"), ("review", "--json"), ("failures",)):
        run(command[0], folder.name, *command[1:])
    for place in range(len(names)):
        run("show", f"{folder.name}#simple_python_{2 * place + 1}")
    for command in (("models", "--json"), ("runs", "--json"), ("leaderboard",)):
        run(*command)
    assert any("[redacted]" in text for text in shown)
    assert {index: held for index, text in enumerate(shown) if (held := pieces_in(text, KEY))} == {}
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "index.msgpack" for path in files)
    assert {str(path): held for path in files if (held := pieces_in(path.read_bytes(), KEY))} == {}
