"""Every official prompt, message list and tool list comes out identical, by digest."""

import gzip
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.conversation import prompts
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.official_wording import load_wording
from console.benchmarks.bfcl.data.tools import native_tools

CHECKOUT = Path(__file__).resolve().parents[3]
DIGESTS = CHECKOUT / ".." / "shared" / "conformance" / "bfcl" / "prompt-digests.jsonl.gz"
DATA = CHECKOUT / "data" / "bfcl"

pytestmark = [
    pytest.mark.skipif(not DIGESTS.is_file(), reason="no prompt digests beside the checkout"),
    pytest.mark.skipif(not (DATA / "suite.toml").is_file(), reason="official data not pulled (eval-console pull bfcl)"),
]


def _digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["each tenth", "all"])
def test_prompts_are_the_official_ones(every: int):
    dataset = Dataset(DATA)
    wording = load_wording(dataset)
    wrong: list[str] = []
    compared = 0
    with gzip.open(DIGESTS, "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, 0, None, every):
            expected = json.loads(line)
            entry = dataset.entry(expected["id"])
            docs, withheld = dataset.functions(entry)
            shown = prompts.with_hints(docs, entry, wording)
            messages = prompts.first_turn(entry, wording, prompt=prompts.system_prompt(shown, entry.config, wording))
            actual: dict[str, Any] = {
                "prompt_system": _digest(messages[0]["content"]),
                "prompt_first_turn": _digest(messages),
                "fc_first_turn": _digest(prompts.first_turn(entry, wording)),
                "fc_tools": _digest(native_tools(shown)),
            }
            offered = list(shown)
            for turn, added in withheld.items():
                offered += added
                actual.setdefault("holdout", {})[turn] = {
                    "prompt_user": _digest(prompts.added_functions(added, wording, "prompt")["content"]),
                    "fc_tools": _digest(native_tools(offered)),
                    "names": [doc["name"] for doc in added],
                }
            for name in expected.keys() & {
                "prompt_system",
                "prompt_first_turn",
                "fc_first_turn",
                "fc_tools",
                "holdout",
            }:
                compared += 1
                if actual.get(name) != expected[name]:
                    wrong.append(f"{entry.id}: {name}")
    assert compared > 30_000 // every
    assert wrong == []
