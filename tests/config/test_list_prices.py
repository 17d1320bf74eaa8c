"""Prices and context lengths that nobody has to type: from litellm's list, unless models.toml has them."""

from pathlib import Path

import pytest

from console.config.models import facts, load_models
from console.core.price import Price

LISTED = """\
[openai]
model_id = "gpt-4o-mini"
[claude]
provider = "anthropic"
model_id = "claude-sonnet-4-5-20250929"
[gemini]
provider = "gemini"
model_id = "gemini-2.5-flash"
[mistral]
base_url = "https://api.mistral.ai/v1"
model_id = "mistral-large-latest"
[bedrock]
provider = "bedrock"
model_id = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
[azure]
base_url = "https://mine.openai.azure.com/openai/v1"
model_id = "gpt-4o"
[vertex]
provider = "litellm"
model_id = "vertex_ai/gemini-2.5-pro"
"""
UNLISTED = """\
[mine]
base_url = "http://localhost:8000/v1"
model_id = "gpt-4o-mini"
[proxy]
base_url = "https://llm.example.com/v1"
model_id = "gpt-4o-mini"
[behind]
provider = "litellm"
base_url = "https://llm.example.com/v1"
model_id = "openai/gpt-4o-mini"
[nobody]
model_id = "no-such-model"
[asks]
provider = "litellm"
model_id = "perplexity/sonar"
[foreign]
model_id = "mistral/mistral-large-latest"
"""


def test_models_of_known_services_have_the_price_of_the_list(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(LISTED)
    models = [model for model in load_models(path).models.values() if model.line]
    assert len(models) == 7
    for model in models:
        assert 0 < (model.price.input or 0) < (model.price.output or 0), model.name
        assert (model.context or 0) > 100_000
        assert facts(model).price_source.startswith("litellm 1.")
    assert models[0].price.rates[:3] == (0.15, 0.6, 0.075)


def test_a_price_that_is_not_known_is_none_and_never_zero(tmp_path: Path) -> None:
    """Other servers may cost anything; calls of one model cost more than their tokens."""
    path = tmp_path / "models.toml"
    path.write_text(UNLISTED)
    models = [model for model in load_models(path).models.values() if model.line]
    assert [model.price for model in models] == [Price()] * 6
    assert {model.price_source for model in models} == {""}


def test_the_file_wins(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[openai]\nmodel_id = "gpt-4o-mini"\nprice = { in = 9, out = 9 }\ncontext = 77\n')
    model = load_models(path).models["openai"]
    assert (model.price, model.context, model.price_source) == (Price(9, 9), 77, "")


def test_without_the_list_prices_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.config.list_prices._list", dict)
    path = tmp_path / "models.toml"
    path.write_text(LISTED)
    assert all(model.price == Price() for model in load_models(path).models.values() if model.line)
