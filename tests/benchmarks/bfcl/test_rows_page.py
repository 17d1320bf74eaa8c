"""What the page says of the registry's rows is what is made of them here, and their known faults are said in Review."""

import importlib.util
from pathlib import Path

from console.benchmarks.bfcl.models.decoding import find_setting
from console.benchmarks.bfcl.models.profile import profiles
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.suites.catalog import read_entry

ROOT = Path(__file__).resolve().parents[3]


def test_the_table_of_the_page_is_that_of_the_rows():
    spec = importlib.util.spec_from_file_location("make_bfcl_table", ROOT / "docs" / "make_bfcl_table.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    page = (ROOT / "docs" / "bfcl.md").read_text(encoding="utf-8")
    assert maker.with_table(page) == page, "run: python docs/make_bfcl_table.py"
    assert all(f"`{name}`" in page for name in profiles())


def test_review_says_what_is_broken_in_the_official_code_of_a_row():
    suite = BfclSuite(read_entry(ROOT / "data" / "bfcl-starter"))
    for category in ("simple_python", "multi_turn_base", "irrelevance"):
        case = next(iter(suite.cases((category,), Setting())))
        for name, words in (("gorilla-openfunctions-v2", "fails on every step"), ("gpt-4o-2024-11-20", "")):
            setting = find_setting(name)
            verdict = suite.score(case, "[]", setting)
            note = suite.compare(case, "[]", verdict, setting).note
            assert (words in note) if words else not note


def test_an_answer_that_cannot_be_read_is_not_said_to_need_another_family_s_form():
    suite = BfclSuite(read_entry(ROOT / "data" / "bfcl-starter"))
    case = next(iter(suite.cases(("simple_python",), Setting())))
    for name, words in (
        ("Qwen/Qwen3-8B-FC", "the decode family tool_call_tags"),
        ("gpt-4o-2024-11-20", "in the format ["),
    ):
        setting = find_setting(name)
        comparison = suite.compare(case, None, suite.score(case, None, setting), setting)
        assert words in comparison.hint
