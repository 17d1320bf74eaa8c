"""The table of the official registry: what is in it, how a name is found, and that it says what the registry says."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.models.profile import Profile, find_profile, profiles
from console.core.fault import UsageError

CHECKOUT = Path(__file__).resolve().parents[3]
OFFICIAL = CHECKOUT / ".." / "shared" / "conformance" / "bfcl"
needs_registry = pytest.mark.skipif(not OFFICIAL.is_dir(), reason="no official registry beside the checkout")

SENT_BY_THE_HANDLER = {
    "Ling/ling-lite-v1.5",
    "X-Humanoid/Pelican1.0-VL-235B-A22B-FC",
    "X-Humanoid/Pelican1.0-VL-30B-A3B-FC",
    "command-a-reasoning-08-2025-FC",
}
"""Rows whose handler sends another name than the registry says; the recorded requests show which."""


def test_every_row_of_the_table_is_whole():
    rows = profiles()
    assert len(rows) == 175
    assert all(row.display_name and row.link.startswith("https://") and row.organization for row in rows.values())
    assert len({row.family for row in rows.values()}) == 22
    assert {name for name in rows if "_" in name} == set()  # a folder writes `/` as `_`, and must be read back
    for row in rows.values():
        assert bool(row.template) == (row.api == "completions"), row.name
        assert (row.input_price is None) == (row.output_price is None), row.name


def test_a_pair_differs_by_how_it_is_asked():
    native, prompted = find_profile("gpt-4o-2024-11-20-FC"), find_profile("gpt-4o-2024-11-20")
    assert native.model_id == prompted.model_id == "gpt-4o-2024-11-20"
    assert (native.family, native.is_fc, native.underscore_to_dot) == ("fc_json", True, True)
    assert (prompted.family, prompted.is_fc, prompted.underscore_to_dot) == ("prompt", False, False)
    assert (native.api, native.input_price, native.output_price) == ("responses", 2.5, 10.0)


@pytest.mark.parametrize(
    ("name", "nearest"), [("gpt-4o-2024-11-20-fc", "gpt-4o-2024-11-20-FC"), ("Qwen/Qwen3-8b", "Qwen/Qwen3-8B")]
)
def test_a_mistyped_name_is_answered_with_the_nearest(name: str, nearest: str):
    with pytest.raises(UsageError) as error:
        find_profile(name)
    assert nearest in str(error.value)


def test_a_name_like_no_other_is_answered_with_the_list():
    with pytest.raises(UsageError, match="bfcl models"):
        find_profile("?")


def test_the_table_is_read_only_when_asked_for():
    code = "import console.benchmarks.bfcl.suite, sys; print('console.benchmarks.bfcl.models.profile' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@needs_registry
def test_the_table_says_what_the_registry_says():
    registry: list[dict[str, Any]] = json.loads((OFFICIAL / "registry.json").read_text(encoding="utf-8"))
    assert list(profiles()) == [row["name"] for row in registry]
    for row in registry:
        profile = find_profile(row["name"])
        assert _facts(profile) == row | {"model_name": profile.model_id, "decode": profile.family}
        assert profile.family == row["decode"]
        if profile.name not in SENT_BY_THE_HANDLER:
            assert profile.model_id == row["model_name"]


def _facts(row: Profile) -> dict[str, Any]:
    return {
        "name": row.name,
        "model_name": row.model_id,
        "handler": row.handler,
        "is_fc": row.is_fc,
        "u2d": row.underscore_to_dot,
        "decode": row.family,
        "input_price": row.input_price,
        "output_price": row.output_price,
        "org": row.organization,
        "display_name": row.display_name,
        "license": row.licence,
        "url": row.link,
    }


@needs_registry
def test_the_name_that_is_sent_is_that_of_the_recorded_requests():
    sent: dict[str, set[str]] = {}
    for file in ("requests-public.jsonl.gz", "templates-public.jsonl.gz"):
        with gzip.open(OFFICIAL / file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                body = row["body"] if "body" in row else row["request"]
                in_path = row.get("path", "").partition("/models/")[2].partition(":generateContent")[0]
                in_path = in_path or row.get("path", "").partition("/model/")[2].removesuffix("/converse")
                sent.setdefault(row["model"], set()).add(body.get("model") or in_path)
    assert len(sent) > 150
    assert {name: {find_profile(name).model_id} for name in sent} == sent
