"""`doctor --drift`: the fingerprint of an endpoint is kept, recognized, and replaced once the endpoint has changed."""

import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted, last_text
from support.quick_rows import first_quick

from console.cli.exitcode import Exit


def answering(shift: float, *, with_logprobs: bool) -> Callable[[dict[str, Any]], Scripted]:
    def answer(request: dict[str, Any]) -> Scripted:
        draw = Random(last_text(request))
        if not (with_logprobs and request.get("logprobs")):
            return Scripted(f"{draw.random():.3f} {shift if draw.random() < 0.3 else ''}")
        top = {f"w{number}": -draw.random() * 5 - shift * draw.random() for number in range(5)}
        return Scripted(
            "w0", logprobs=[("w0", top["w0"], {name: math.floor(p * 1e4) / 1e4 for name, p in top.items()})]
        )

    return answer


@pytest.mark.parametrize("with_logprobs", first_quick([True, False]))
def test_the_command_keeps_recognizes_and_finds_a_change(console, home: Path, with_logprobs: bool) -> None:
    with OpenAIServer(answering(0.0, with_logprobs=with_logprobs)) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        first, again = console("doctor", "--drift", "m"), console("doctor", "--drift", "m")
        server.answer = answering(0.2, with_logprobs=with_logprobs)
        changed, after = console("doctor", "--drift", "m"), console("doctor", "--drift", "m", "--json")
        assert server.counts["chat"] <= 4 * 201
    by = "log probabilities" if with_logprobs else "answers"
    assert f"fingerprint kept: 40 questions by their {by}" in first.out
    assert (again.code, changed.code) == (Exit.OK, Exit.USAGE)
    assert "the same endpoint as on 20" in again.out
    assert "not the endpoint of 20" in changed.out
    assert after.data["findings"][0]["state"] == "good", "the new fingerprint was kept"


def test_an_endpoint_that_answers_nothing_is_said(console, home: Path) -> None:
    with OpenAIServer(lambda request: Scripted(fault="r401")) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ended = console("doctor", "--drift", "m")
    assert ended.code == Exit.USAGE
    assert "auth" in ended.out
    assert not list(home.rglob("*.drift.json"))


def test_empty_answers_are_no_fingerprint(console, home: Path) -> None:
    with OpenAIServer(lambda request: Scripted("", finish="length")) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ended = console("doctor", "--drift", "m")
    assert ended.code == Exit.USAGE
    assert "changes cannot be seen" in ended.out
    assert not list(home.rglob("*.drift.json"))
