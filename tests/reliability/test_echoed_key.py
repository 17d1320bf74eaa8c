"""Runs against a server that echoes the key wherever it can: no file, screen or export holds it, or a piece of it."""

import random
import string
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.echoes import ANSWERS, DECODED, ERRORS, Leaks, install, outcomes_of
from support.lookup_suite import number_of, right, write_suite
from support.quick_rows import first_quick

from console.cli import history
from console.core.outcome import Outcome

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

    leaks = Leaks(console, home, KEY)
    data = write_suite(home / "data", 2 * len(names))
    with OpenAIServer(answer, models=(f"served-{KEY}",)) as server:
        (home / "models.toml").write_text(MODELS.format(url=server.base_url))
        ended = leaks.run("run", "-m", model, "-s", "lookups", "--data", data, "-c", 8, "--json")
        assert {f"echo_{name}" for name in names} <= set(server.counts), "every echo was played"
        leaks.run("doctor")
        leaks.run("models", "--served")
        server.answer = lambda request: Scripted(fault="r404")
        leaks.run("run", "-m", model, "-s", "lookups", "--data", data, "-n", 3)
    record_property("trials", len(names))
    folder = Path(ended.data["folder"])
    outcomes = outcomes_of(folder)
    for place, name in enumerate(names):
        assert outcomes[2 * place] is Outcome.PASSED
        assert (outcomes[2 * place + 1] is Outcome.BROKEN) is (name in ERRORS), name
    leaks.read_everything(folder, [(f"simple_python_{2 * place + 1}",) for place in range(len(names))])
    leaks.assert_none()
