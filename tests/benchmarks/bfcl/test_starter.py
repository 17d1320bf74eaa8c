"""The bundled suite: every ground truth passes in both modes, and every official error is reachable."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.conversation.scripted_answers import scripted_answers_for
from console.benchmarks.bfcl.rules.entry import entry_of
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Case, Setting
from console.core.chat import Utterance
from console.core.outcome import Outcome
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"
MODES = ("prompt", "fc")

MAIN = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")
LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance")
AGENTIC = ("memory_kv", "memory_vector", "memory_rec_sum", "web_search_base", "web_search_no_snippet")
MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param")


@pytest.fixture(scope="module")
def suite() -> BfclSuite:
    return BfclSuite(read_entry(STARTER))


@pytest.fixture(scope="module")
def cases(suite: BfclSuite) -> list[Case]:
    return select_cases(suite, Selection(categories=(*MAIN, *LIVE)), Setting())


def _output(utterance: Utterance, mode: str) -> Any:
    """The official result form of an answer, as a model would give it."""
    if not utterance.calls:
        return utterance.content
    if mode == "fc":
        return [{name: json.dumps(arguments)} for name, arguments in utterance.calls]
    calls = (
        f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in utterance.calls
    )
    return f"[{', '.join(calls)}]"


def test_it_is_large_enough_and_has_every_category(suite: BfclSuite):
    counts = {category.name: category.cases for category in suite.categories()}
    assert list(counts) == [*MAIN, *LIVE, *MULTI_TURN, *AGENTIC]
    assert min(counts[name] for name in AGENTIC) >= 4
    assert sum(counts[name] for name in (*MAIN, *LIVE)) >= 60
    assert min(counts[name] for name in (*MAIN, *LIVE)) >= 5
    assert sum(counts[name] for name in MULTI_TURN) >= 6


@pytest.mark.parametrize("mode", MODES)
def test_every_ground_truth_passes_and_no_slip_does(suite: BfclSuite, cases: list[Case], mode: str):
    setting = Setting(mode=mode)
    for case in cases:
        answers = scripted_answers_for(entry_of(case), mode)
        verdict = suite.score(case, _output(answers.right, mode), setting)
        assert verdict.outcome is Outcome.PASSED, (case.id, verdict)
        for wrong in answers.wrong:
            assert suite.score(case, _output(wrong, mode), setting).outcome is Outcome.FAILED, (case.id, wrong)


REACHED = {
    "ast_decoder:decoder_failed": ("simple_python_0", "Four metres."),
    "simple_function_checker:wrong_count": ("simple_python_0", "[]"),
    "simple_function_checker:wrong_func_name": ("simple_python_0", "tide(harbour='Saint-Malo')"),
    "simple_function_checker:missing_required": ("simple_python_0", "harbour.tide_height(harbour='Saint-Malo')"),
    "simple_function_checker:unexpected_param": (
        "simple_python_0",
        "harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16, minute=0)",
    ),
    "simple_function_checker:missing_optional": (
        "live_multiple_5-5-0",
        "translate_phrase(phrase='where is the pharmacy', target='Welsh')",
    ),
    "type_error:simple": (
        "simple_python_0",
        "harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour='16')",
    ),
    "type_error:nested": ("simple_python_2", "scale_recipe(dish='lentil stew', servings=7, without=[1, 2])"),
    "value_error:string": (
        "simple_python_0",
        "harbour.tide_height(harbour='Brest', date='2026-03-14', hour=16)",
    ),
    "value_error:others": (
        "simple_python_0",
        "harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=4)",
    ),
    "value_error:list/tuple": ("simple_python_2", "scale_recipe(dish='lentil stew', servings=7, without=['celery'])"),
    "value_error:dict_key": (
        "simple_python_6",
        "parcel.quote(size={'length': 40, 'width': 30}, weight_kg=2.5, country='Portugal')",
    ),
    "value_error:dict_value": (
        "simple_python_6",
        "parcel.quote(size={'length': 40, 'width': 30, 'height': 16}, weight_kg=2.5, country='Portugal')",
    ),
    "value_error:list_dict_count": ("simple_python_7", "heating.set_schedule(room='bathroom', slots=[])"),
    "multiple_function_checker:wrong_count": ("multiple_0", "[]"),
    "parallel_function_checker_no_order:wrong_count": ("parallel_0", "[set_lamp(room='hall', brightness=30)]"),
    "parallel_function_checker_no_order:cannot_find_match": (
        "parallel_0",
        "[set_lamp(room='hall', brightness=30), set_lamp(room='hall', brightness=80)]",
    ),
    "irrelevance_error:decoder_success": ("irrelevance_0", "loan.monthly_rate(principal=1)"),
    "relevance_error:decoder_failed": ("live_relevance_0-0-0", "Shall I make it warmer?"),
    "checker:uncheckable": (
        "simple_python_1",
        "loan.monthly_rate(principal=10**5000, annual_interest=3.4, years=25)",
    ),
}


@pytest.mark.parametrize("error_type", REACHED)
def test_every_official_error_is_reachable(suite: BfclSuite, cases: list[Case], error_type: str):
    case_id, output = REACHED[error_type]
    case = next(case for case in cases if case.id == case_id)
    verdict = suite.score(case, output, Setting())
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, error_type)
    assert verdict.messages
    json.dumps(verdict.detail)


@pytest.mark.parametrize(
    ("output", "error_type"),
    [
        ([{"harbour_tide_height": "null"}], "ast_decoder:decoder_wrong_output_format"),
        ([{"harbour_tide_height": {"hour": 1}}], "ast_decoder:decoder_failed"),
        ([{"harbour.tide_height": "{}"}], "simple_function_checker:wrong_func_name"),
        ("It is four metres.", "ast_decoder:decoder_failed"),
        ([], "simple_function_checker:wrong_count"),
        (None, "ast_decoder:decoder_failed"),
    ],
)
def test_native_outputs_that_are_wrong(suite: BfclSuite, cases: list[Case], output: Any, error_type: str):
    case = next(case for case in cases if case.id == "simple_python_0")
    assert suite.score(case, output, Setting(mode="fc")).reason == error_type


def test_ids_belong_to_their_category_and_are_unique(cases: list[Case]):
    assert max(Counter(case.id for case in cases).values()) == 1
    assert all(case.id.startswith(f"{case.category}_") for case in cases)
