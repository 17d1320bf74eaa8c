"""Before a run: is the judge served at all? Asked at the list of models, never by a paid call."""

import socket
import sys
from pathlib import Path

from console.config.model import Limits, ModelConfig
from console.engine.preflight import doubts_about_roles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from server.openai_server import OpenAIServer


def model(name: str, url: str, provider: str = "openai") -> ModelConfig:
    limits = Limits(timeout_s=2, max_tries=1)
    return ModelConfig.model_validate(
        {"name": name, "model_id": name, "base_url": url, "provider": provider, "limits": limits}
    )


def test_a_served_judge_raises_no_doubt_and_nothing_is_paid() -> None:
    with OpenAIServer(models=("grader", "vectors")) as server:
        roles = {"model": model("tested", server.base_url), "judge": model("grader", server.base_url)}
        roles |= {"embedding": model("vectors", server.base_url)}
        assert doubts_about_roles(roles) == []
        assert (server.counts["models"], server.counts["chat"], server.counts["embeddings"]) == (2, 0, 0)


def test_a_retired_judge_is_named_with_the_nearest_one() -> None:
    with OpenAIServer(models=("o1-mini-2", "other")) as server:
        [doubt] = doubts_about_roles({"judge": model("o1-mini", server.base_url)})
    assert "the judge o1-mini is not among the models" in doubt
    assert "did you mean o1-mini-2?" in doubt


def test_a_dead_server_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    [doubt] = doubts_about_roles({"judge": model("grader", url)})
    assert "may not answer" in doubt
    assert "connect" in doubt


def test_only_other_roles_with_a_server_are_asked() -> None:
    simulated = ModelConfig(name="sim/judge", model_id="judge", provider="simulated")
    with OpenAIServer(models=()) as server:
        assert doubts_about_roles({"model": model("tested", server.base_url), "judge": simulated}) == []
        assert server.counts["models"] == 0
