"""Before a run: is the judge served at all? Asked at the list of models, never by a paid call."""

import asyncio
import socket
from typing import Literal

import pytest
from server.openai_server import OpenAIServer

from console.config.model import Limits, ModelConfig
from console.engine.role_warnings import RoleWarnings, warnings_about_roles


def model(name: str, url: str, provider: Literal["openai", "litellm"] = "openai") -> ModelConfig:
    limits = Limits(timeout_s=2, max_tries=1)
    return ModelConfig(name=name, model_id=name, base_url=url, provider=provider, limits=limits)


def test_a_served_judge_raises_no_warning_and_nothing_is_paid() -> None:
    with OpenAIServer(models=("grader", "vectors")) as server:
        roles = {"model": model("tested", server.base_url), "judge": model("grader", server.base_url)}
        roles |= {"embedding": model("vectors", server.base_url)}
        assert warnings_about_roles([roles]) == []
        assert (server.counts["models"], server.counts["chat"], server.counts["embeddings"]) == (2, 0, 0)


def test_a_retired_judge_is_named_with_the_nearest_one() -> None:
    with OpenAIServer(models=("o1-mini-2", "other")) as server:
        [warning] = warnings_about_roles([{"judge": model("o1-mini", server.base_url)}] * 2)
    served = "it serves o1-mini-2 and 1 more; choose another judge"
    assert warning == f"the judge o1-mini is not served by {server.base_url}; {served}"


def test_models_of_several_runs_are_asked_for_once_each() -> None:
    with OpenAIServer(models=("o4-mini",)) as server:
        runs = [{"judge": model(name, server.base_url)} for name in ("o1-mini", "o4-mini", "o1-mini", "o3-mini")]
        warnings = warnings_about_roles(runs)
        assert server.counts["models"] == 3
    assert [warning.split()[2] for warning in warnings] == ["o1-mini", "o3-mini"]


async def test_an_engine_says_its_warnings_once_and_drops_them_when_the_role_answers() -> None:
    said: list[str] = []
    with OpenAIServer(models=("o4-mini",)) as server:
        models = {"judge": model("o1-mini", server.base_url), "embedding": model("vectors", server.base_url)}
        warnings = RoleWarnings(models, [], said.append)
        await warnings.check(asyncio.Event(), lambda: False)
        assert [text.split()[1] for text in said] == ["judge", "embedding"]
        warnings.clear("judge")
        assert "o1-mini" not in warnings.text
        assert "vectors" in warnings.text
        again = RoleWarnings(models, said, pytest.fail)
        await again.check(asyncio.Event(), lambda: False)
        assert "o1-mini" in again.text


async def test_a_run_that_is_stopped_does_not_wait_for_a_silent_server() -> None:
    heard, changed = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set()
        changed.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        warnings = RoleWarnings({"judge": model("grader", url)}, [], pytest.fail)
        await warnings.check(changed, heard.is_set)
        assert heard.is_set()
        assert warnings.text == ""


def test_a_dead_server_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    [warning] = warnings_about_roles([{"judge": model("grader", url)}])
    assert "may not answer" in warning
    assert "connect" in warning


def test_only_other_roles_with_a_server_are_asked() -> None:
    simulated = ModelConfig(name="sim/judge", model_id="judge", provider="simulated")
    with OpenAIServer(models=()) as server:
        assert warnings_about_roles([{"model": model("tested", server.base_url), "judge": simulated}]) == []
        assert server.counts["models"] == 0
