"""Expected beside actual: pairing, marks, the decisive row, the reason in words and the smallest change that passes."""

from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.core.comparison import Comparison, Mark
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"


@pytest.fixture(scope="module")
def suite() -> BfclSuite:
    return BfclSuite(read_entry(STARTER))


def _compared(suite: BfclSuite, case_id: str, output: Any, mode: str = "prompt") -> Comparison:
    setting = Setting(mode=mode)
    case = select_cases(suite, Selection(ids=(case_id,)), setting)[0]
    return suite.compare(case, output, suite.score(case, output, setting), setting)


def _marks(comparison: Comparison) -> list[tuple[str, str]]:
    return [(row.mark.value, row.name) for row in comparison.pairs[0].rows]


def test_a_right_answer_shows_every_row_as_same(suite: BfclSuite):
    shown = _compared(suite, "simple_python_0", "harbour.tide_height(harbour='SAINT MALO', date='2026/03/14', hour=16)")
    assert _marks(shown) == [("=", "harbour"), ("=", "date"), ("=", "hour"), ("·", "unit")]
    assert shown.pairs[0].rows[0].note == "after normalizing"
    assert shown.pairs[0].rows[2].note == ""
    assert shown.pairs[0].rows[3].optional
    assert shown.hint == ""


def test_the_row_at_which_the_grader_stopped_is_decisive(suite: BfclSuite):
    shown = _compared(
        suite,
        "simple_python_0",
        "harbour.tide_height(harbour='Brest', date='2026-03-14', hour='16', minute=5)",
    )
    assert shown.sentence == "wrong value: harbour"
    assert shown.rule.startswith("value_error:string")
    assert _marks(shown) == [("≠", "harbour"), ("=", "date"), ("~", "hour"), ("·", "unit"), ("+", "minute")]
    rows = {row.name: row for row in shown.pairs[0].rows}
    assert [name for name, row in rows.items() if row.decisive] == ["harbour"]
    assert rows["harbour"].expected == ("'Saint-Malo'", "'Saint Malo, France'")
    assert rows["hour"].note == "also differs: expected integer, got str"
    assert rows["minute"].note == "also differs: not in the function's parameters"
    assert shown.hint == "harbour='Saint-Malo', hour=16, without minute"


@pytest.mark.parametrize(
    ("output", "sentence", "hint"),
    [
        (
            "harbour.tide_height(date='2026-03-14', hour=16)",
            "missing argument: harbour",
            "harbour='Saint-Malo'",
        ),
        ("[]", "no call at all", "also calling harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16)"),
        (
            "tide(harbour='Saint-Malo', date='2026-03-14', hour=16)",
            "wrong function: tide",
            "calling harbour.tide_height",
        ),
        (
            "[harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16), noop()]",
            "extra call: noop",
            "leaving out noop()",
        ),
        (
            "harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16, unit='km')",
            "wrong value: unit",
            "unit='m'",
        ),
    ],
)
def test_words_and_hints(suite: BfclSuite, output: str, sentence: str, hint: str):
    shown = _compared(suite, "simple_python_0", output)
    assert (shown.sentence, shown.hint) == (sentence, hint)


def test_a_conversation_that_fills_a_memory_is_laid_beside_nothing(suite: BfclSuite):
    comparison = _compared(suite, "memory_kv_prereq_0-student-0", [["Noted."]])
    assert comparison.pairs == ()
    assert "fills the memory" in comparison.sentence


def test_an_unreadable_answer_is_shown_raw_with_the_form_that_would_pass(suite: BfclSuite):
    shown = _compared(suite, "multiple_7", "Half closed it is!")
    assert shown.sentence.startswith("could not parse the answer")
    assert shown.raw == "Half closed it is!"
    assert shown.hint == "an answer in the format [move_shutter(window='east', position=50)]"
    assert shown.pairs[0].mark is Mark.MISSING


def test_parallel_calls_are_paired_in_any_order(suite: BfclSuite):
    shown = _compared(
        suite, "parallel_0", "[set_lamp(room='kitchen', brightness=80), set_lamp(room='hall', brightness=35)]"
    )
    assert [(pair.mark.value, pair.rows[0].actual) for pair in shown.pairs] == [("≠", "'hall'"), ("=", "'kitchen'")]
    assert shown.sentence == "wrong value: brightness (call 1, set_lamp)"
    assert shown.hint == "brightness=30"


def test_a_missing_and_an_extra_parallel_call(suite: BfclSuite):
    fewer = _compared(suite, "parallel_0", "[set_lamp(room='kitchen', brightness=80)]")
    assert fewer.sentence == "missing call: set_lamp"
    assert fewer.hint == "also calling set_lamp(room='hall', brightness=30)"
    calls = ", ".join(
        f"set_lamp(room='{room}', brightness={n})" for room, n in (("hall", 30), ("kitchen", 80), ("x", 1))
    )
    more = _compared(suite, "parallel_0", f"[{calls}]")
    assert [pair.mark.value for pair in more.pairs] == ["=", "=", "+"]
    assert more.hint == "leaving out set_lamp(room='x', brightness=1)"


def test_dictionaries_show_the_alternatives_of_each_key(suite: BfclSuite):
    shown = _compared(
        suite,
        "simple_python_7",
        "heating.set_schedule(room='bathroom', slots=[{'from': '06:00', 'to': '08:00', 'celsius': 22}])",
    )
    slots = shown.pairs[0].rows[1]
    assert slots.mark is Mark.DIFFERS
    assert "'from': '06:00' | '6:00'" in slots.expected[0]
    assert slots.note == "different number of dictionaries"


def test_native_names_are_shown_as_they_were_sent(suite: BfclSuite):
    shown = _compared(suite, "simple_python_0", [{"harbour_tide_height": '{"harbour": "Saint-Malo"}'}], "fc")
    assert (shown.pairs[0].expected, shown.pairs[0].actual) == ("harbour_tide_height", "harbour_tide_height")
    assert shown.sentence == "missing argument: date"


def test_calls_where_none_belong_and_the_other_way_round(suite: BfclSuite):
    called = _compared(suite, "irrelevance_0", "[loan.monthly_rate(years=3)]")
    assert called.sentence == "called when it should not"
    assert (called.pairs[0].mark, called.pairs[0].actual) == (Mark.EXTRA, "loan.monthly_rate")
    silent = _compared(suite, "live_relevance_0-0-0", "Put on a jumper.")
    assert silent.sentence == "did not call when it should"
    assert silent.hint == "any call of an offered function"


@pytest.mark.parametrize("output", [None, 5, [], {}, [None], [[]], "10**5000", "f(x=10**5000)", [{"f": 3}], "\ud800"])
@pytest.mark.parametrize("mode", ["prompt", "fc"])
def test_no_output_whatever_raises(suite: BfclSuite, output: Any, mode: str):
    for case_id in ("simple_python_0", "parallel_0", "irrelevance_0", "live_relevance_0-0-0", "multiple_0"):
        assert _compared(suite, case_id, output, mode).sentence
