"""Lists of models as servers send them: with prices as OpenRouter, lengths as vLLM and llama.cpp, names as Gemini."""

from typing import Any

import pytest
from server.openai_server import OpenAIServer

from console.config.model import ModelConfig, Price
from console.llm.servers.model_list import ServedModel, list_models


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
async def test_rows_of_every_kind(provider: str) -> None:
    rows: list[str | dict[str, Any]] = [
        {"id": "plain"},
        {"id": "long", "max_model_len": 4096},
        {"name": "models/gemini-x", "inputTokenLimit": 1_000_000},
        {"id": "priced", "context_length": 7, "pricing": {"prompt": "0.000001", "completion": "0.000002"}},
        {"id": "odd", "context_length": "7", "pricing": {"prompt": "nan", "completion": -1}},
        {"id": "llama", "aliases": ["llama", "small"], "meta": {"n_ctx": 8192, "n_ctx_train": 131072}},
        {"id": "groq", "context_window": 131072, "root": "weights/path"},
        {"id": 7},
        {},
    ]
    with OpenAIServer(models=rows, list_key="models" if provider == "gemini" else "data") as server:
        served = await list_models(ModelConfig(name="x", model_id="m", provider=provider, base_url=server.base_url))
    assert served == [
        ServedModel("plain"),
        ServedModel("long", context=4096),
        ServedModel("gemini-x", context=1_000_000),
        ServedModel("priced", Price(1.0, 2.0), 7),
        ServedModel("odd"),
        ServedModel("llama", context=8192, aliases=("llama", "small")),
        ServedModel("groq", context=131072, aliases=("weights/path",)),
    ]
