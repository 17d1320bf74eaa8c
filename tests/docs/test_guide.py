"""The guide's commands work in the order of the page, and the page of models.toml names every key that is read."""

import importlib.util
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from docs.test_extending import LIMIT_S, ROOT, run_blocks, shell

from console.config import table
from console.config.model import Limits, Price
from console.core.provider import PROVIDERS

__all__ = ["shell"]
MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S)
def test_every_block_of_the_guide_works(shell: "subprocess.Popen[str]", tmp_path: Path) -> None:
    run_blocks(shell, tmp_path, ROOT / "docs" / "guide.md")


def rows(heading: str) -> set[str]:
    """Return the first cells of the table below a heading."""
    section = MODELS.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


def test_the_page_of_models_has_every_key_and_no_other() -> None:
    parts: dict[str, Iterable[str]] = {
        "Keys": table._KEYS,
        "Prices": Price.__struct_encode_fields__,
        "Limits": Limits.__struct_encode_fields__,
        "Providers": PROVIDERS,
    }
    for heading, names in parts.items():
        wrong = sorted(rows(heading) ^ set(names))
        assert not wrong, f"add these to the table {heading!r} of docs/models.md, or take them out of it: {wrong}"
    assert all(f"`{key}`" in MODELS for key in table._ENDPOINT_KEYS)


def test_the_tables_of_the_page_of_models_are_those_of_the_types() -> None:
    spec = importlib.util.spec_from_file_location("make_models_page", ROOT / "docs" / "make_models_page.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert maker.page(MODELS) == MODELS, "run: python docs/make_models_page.py"
