"""The lists of the BFCL command: what they hold and in which order, and what is said where nothing is to be listed."""

import json
from pathlib import Path

import pytest

from console.benchmarks.bfcl.data.pull import OFFICIAL
from console.benchmarks.bfcl.models.profile import profiles
from console.cli.exitcode import Exit

FOLDERS = ("Qwen_Qwen3-8B-FC", "gpt-4o-2024-11-20", "mine")


@pytest.fixture
def results(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("BFCL_PROJECT_ROOT", raising=False)
    for folder in FOLDERS:
        (home / "result" / folder / "non_live").mkdir(parents=True)
    (home / "result" / "notes.txt").write_text("no folder")
    return home / "result"


def test_models_are_the_names_of_the_registry_in_its_order(console):
    lines = console("bfcl", "models").out.splitlines()
    assert lines == list(profiles())
    rows = console("bfcl", "models", "--json").data["models"]
    assert [row["name"] for row in rows] == lines
    assert rows[1]["family"] == "prompt"


def test_categories_stand_below_their_collection(console):
    lines = [line.split() for line in console("bfcl", "test-categories").out.splitlines()]
    assert lines[1] == ["all", "simple_python"]
    heads = [line[0] for line in lines[1:] if len(line) == 2]
    assert heads == ["all", "all_scoring", "multi_turn", "single_turn", "live", "non_live", "non_python", "python",
                     "memory", "web_search", "agentic"]  # fmt: skip
    assert json.loads(console("bfcl", "test-categories", "--json").out)["collections"]["memory"][0] == "memory_kv"


def test_results_are_listed_by_registry_name_and_unknown_ones_are_said_to_be(console, results):
    ended = console("bfcl", "results")
    names = [line.split()[0] for line in ended.out.splitlines()[1:]]
    listed = {path.name: path.name.replace("_", "/") for path in results.iterdir() if path.is_dir()}
    assert names == list(listed.values())
    assert ended.err == "Unknown model name: mine\n"
    assert console("bfcl", "results", "--result-dir", "elsewhere").code == Exit.OK


def test_scores_show_the_main_columns_of_the_summary(console, home, monkeypatch):
    monkeypatch.delenv("BFCL_PROJECT_ROOT", raising=False)
    ended = console("bfcl", "scores")
    assert ended.code == Exit.USAGE
    assert "bfcl evaluate" in ended.err
    (home / "score").mkdir()
    table = home / "score" / "data_overall.csv"
    row = [f"c{number}" for number in range(36)]
    table.write_text(",".join(row) + "\n" + ",".join(str(number) for number in range(36)))
    shown = console("bfcl", "scores").out.splitlines()
    assert shown[0].split()[:4] == ["Rank", "Model", "Overall", "Acc"]
    assert shown[1].split() == ["0", "2", "1", "8", "13", "18", "30", "31"]
    table.write_text("a,b\n1,2\n")
    assert "2 columns, not 36" in console("bfcl", "scores").err


def test_the_version_is_that_of_the_official_release(console):
    assert console("bfcl", "version").out.startswith(f"bfcl version: {OFFICIAL.version}\n")
    assert console("bfcl", "version", "--json").data["bfcl"] == OFFICIAL.version


def test_a_phase_must_be_named(console):
    ended = console("bfcl")
    assert ended.code == Exit.USAGE
    assert "generate, evaluate, models" in ended.err
