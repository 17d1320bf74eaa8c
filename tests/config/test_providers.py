"""One table of providers: what implements each is there, and models.toml takes no other name."""

import pytest

from console.config.models import load_models
from console.core.provider import PROVIDERS
from console.llm.wires.provider_api import load


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_implements_a_provider_is_there(name) -> None:
    provider = PROVIDERS[name]
    assert callable(load(provider.endpoint or provider.client))
    if provider.api:
        api = load(provider.api)
        assert api.headers("key")
        assert api.events().feed(b"") == []
        assert api.assembly().reason is None
        assert provider.address.startswith("http")


def test_a_wrong_provider_is_refused_with_all_of_them(tmp_path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[m]\nmodel_id = "m"\nprovider = "nobody"\n')
    (mistake,) = load_models(path).mistakes
    assert "nobody" in mistake.message
    assert all(f'"{name}"' in mistake.hint for name in PROVIDERS)
