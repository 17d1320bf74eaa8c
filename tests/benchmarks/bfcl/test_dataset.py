"""Reading datasets: damage is named by file and line, and selections say what they do not know."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.rules import categories
from console.benchmarks.bfcl.rules.variation import CONFIGS
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STARTER, tmp_path / "mine"))


def _edit(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("\n".join(change(path.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8")


def _line(**parts: object) -> str:
    return json.dumps(parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[0], rows[1][:-5], *rows[2:]], "not JSON"),
        (lambda rows: [rows[0], "[1, 2]", *rows[2:]], "damaged line"),
        (lambda rows: [rows[0], _line(id=7, question=[[]]), *rows[2:]], r"\$\.id"),
        (lambda rows: [rows[0], _line(id="a", question=[[{"role": "user"}]]), *rows[2:]], "content"),
        (lambda rows: [rows[0], _line(id="a", question=[[]], function=[{"name": "f"}]), *rows[2:]], "parameters"),
        (lambda rows: [rows[0], rows[0], *rows[2:]], "already occurs in line 1"),
        (lambda rows: [rows[0], _line(id="a", question=[]), *rows[2:]], "first turn"),
        (lambda rows: [rows[0], _line(id="a", question=[[]]), *rows[2:]], "first turn"),
        (lambda rows: [rows[0], rows[1].replace('"boolean"', '["boolean", "null"]'), *rows[2:]], r"type`"),
        (lambda rows: [rows[0], rows[1].replace('"required": [', '"required": [7, '), *rows[2:]], "required"),
        (lambda rows: [rows[0], rows[1].replace('"content": "', '"content": "\\ud800'), *rows[2:]], "surrogates"),
        (lambda rows: [rows[0], rows[1][:-1] + ', "x": NaN}', *rows[2:]], "JSON compliant"),
    ],
)
def test_a_damaged_line_is_named(folder: Path, change: Callable[[list[str]], list[str]], message: str):
    path = folder / "BFCL_v4_multiple.json"
    _edit(path, change)
    with pytest.raises(UsageError, match=message) as caught:
        Dataset(folder).entries("multiple")
    assert caught.value.where == f"{path}:2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1:], "no ground truth for 'multiple_0'"),
        (lambda rows: [_line(id="multiple_0", ground_truth={}), *rows[1:]], "ground_truth"),
        (lambda rows: [_line(id="multiple_0", ground_truth=["f(x=1)"]), *rows[1:]], "Expected `object`"),
        (lambda rows: [_line(id="multiple_0", ground_truth=[{"f": {}, "g": {}}]), *rows[1:]], "one key"),
        (lambda rows: [_line(id="multiple_0", ground_truth=[{"f": {"x": 1}}]), *rows[1:]], "Expected `array`"),
        (lambda rows: [_line(id="multiple_0", ground_truth=[{"f": {}}]), *rows[1:]], "not one of the available"),
    ],
)
def test_damaged_ground_truth_is_named(folder: Path, change: Callable[[list[str]], list[str]], message: str):
    path = folder / "possible_answer" / "BFCL_v4_multiple.json"
    _edit(path, change)
    with pytest.raises(UsageError, match=message) as caught:
        Dataset(folder).entries("multiple")
    assert caught.value.where.startswith(str(path))


@pytest.mark.parametrize(
    ("truth", "message"),
    [([["x"]], "matching regex"), ([[]] * 9, "turns, but ground truth for 9"), (["f()"], "Expected `array`")],
)
def test_damaged_ground_truth_of_turns_is_named(folder: Path, truth: object, message: str):
    path = folder / "possible_answer" / "BFCL_v4_multi_turn_base.json"
    _edit(path, lambda rows: [rows[0], _line(id=json.loads(rows[1])["id"], ground_truth=truth), *rows[2:]])
    with pytest.raises(UsageError, match=message) as caught:
        Dataset(folder).entries("multi_turn_base")
    assert caught.value.where == f"{path}:2"


def test_missing_ground_truth_is_named(folder: Path):
    (folder / "possible_answer" / "BFCL_v4_multiple.json").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        Dataset(folder).entries("multiple")


def test_bytes_that_are_no_text(folder: Path):
    (folder / "BFCL_v4_multiple.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(UsageError, match="UTF-8"):
        Dataset(folder).entries("multiple")


def test_a_category_is_there_when_its_file_is(folder: Path):
    (folder / "BFCL_v4_multiple.json").unlink()
    assert "multiple" not in Dataset(folder).categories
    with pytest.raises(UsageError, match="has no category 'multiple'"):
        _cases(folder, categories=("multiple",))


def _cases(folder: Path, mode: str = "prompt", **selection: object) -> list[str]:
    suite = BfclSuite(read_entry(folder))
    return [case.id for case in select_cases(suite, Selection(**selection), Setting(mode=mode))]  # pyright: ignore[reportArgumentType]


def test_selection_by_collection_category_and_id():
    assert len(_cases(STARTER, categories=("live",))) == 37
    assert _cases(STARTER, ids=("parallel_2", "parallel_1")) == ["parallel_1", "parallel_2"]
    assert _cases(STARTER, categories=("multiple",), limit=3) == ["multiple_0", "multiple_1", "multiple_2"]
    drawn = _cases(STARTER, categories=("multiple",), limit=3, seed=7)
    assert drawn == _cases(STARTER, categories=("multiple",), limit=3, seed=7)
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("selection", "hint"),
    [
        ({"categories": ("live_simpel",)}, "Did you mean live_simple?"),
        ({"ids": ("live_simple_1-1-1",)}, "Did you mean live_simple_1-1-0?"),
        ({"ids": ("livesimple_1",)}, "Did you mean live_simple_1-1-0?"),
        ({"categories": ("multiple",), "ids": ("multiple_99",)}, "Did you mean multiple_"),
    ],
)
def test_an_unknown_name_gets_the_nearest(selection: dict[str, object], hint: str):
    with pytest.raises(UsageError) as caught:
        _cases(STARTER, **selection)
    assert hint in caught.value.hint


def test_format_sensitivity_expands_to_all_variations(folder: Path):
    chosen = {"simple_python": ["simple_python_3", "simple_python_1"], "parallel": ["parallel_0"]}
    (folder / "BFCL_v4_format_sensitivity.json").write_text(json.dumps(chosen))
    dataset = Dataset(folder)
    entries = dataset.entries("format_sensitivity")
    assert len(entries) == 3 * len(CONFIGS) == dataset.count("format_sensitivity")
    assert list(entries)[26] == f"format_sensitivity_26:{CONFIGS[0]}:simple_python_3"
    assert entries[list(entries)[26]].ground_truth == dataset.entry("simple_python_3").ground_truth
    assert not any(name.startswith("format") for name in _cases(folder, mode="fc"))
    (folder / "BFCL_v4_format_sensitivity.json").write_text('{"simple_python": ["simple_python_99"]}')
    with pytest.raises(UsageError, match="simple_python_99"):
        Dataset(folder).entries("format_sensitivity")


def test_names_of_categories_and_ids():
    assert categories.category_of("live_multiple_121-46-0") == "live_multiple"
    assert categories.category_of("memory_kv_prereq_3-student-1") == "memory_kv_prereq"
    fs = f"format_sensitivity_7:{CONFIGS[0]}:live_simple_3-2-1"
    assert (categories.category_of(fs), categories.group_of(fs)) == ("format_sensitivity", "format_sensitivity")
    groups = [categories.group_of(name) for name in ("irrelevance", "live_relevance", "multi_turn_base", "memory_kv")]
    assert groups == ["non_live", "live", "multi_turn", "agentic"]
    ids = ["memory_kv_1-student-0", "multi_turn_base_2", "parallel_10", "parallel_9", "web_search_base_4"]
    ordered = ["web_search_base_4", "parallel_9", "parallel_10", "multi_turn_base_2", "memory_kv_1-student-0"]
    assert sorted(ids, key=categories.sort_key) == ordered
    assert categories.resolve(["memory", "simple_java"]) == [
        "memory_kv",
        "memory_rec_sum",
        "memory_vector",
        "simple_java",
    ]
    with pytest.raises(UsageError, match="'memori'"):
        categories.resolve(["memori"])
    assert len(categories.SCORING) == 22
