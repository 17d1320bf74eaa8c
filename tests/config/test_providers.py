"""The providers of models: named once for the reader, once for types, once for clients, and all the same."""

from typing import get_args, get_type_hints

from console.config.model import ModelConfig
from console.config.models import load_models
from console.llm.providers import CLIENTS


def test_every_provider_has_a_client_and_no_other() -> None:
    assert set(CLIENTS) == set(get_args(get_type_hints(ModelConfig)["provider"]))


def test_a_wrong_provider_is_refused_with_all_of_them(tmp_path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[m]\nmodel_id = "m"\nprovider = "nobody"\n')
    (mistake,) = load_models(path).mistakes
    assert all(f'"{name}"' in mistake.hint for name in CLIENTS)
