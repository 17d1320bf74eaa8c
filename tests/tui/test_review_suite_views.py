"""Which view a run has, and what a faulty view of another package costs."""

from collections.abc import Sequence
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from console.benchmarks.aidanbench.view.review import AidanBenchView
from console.benchmarks.bfcl.view import BfclView
from console.benchmarks.cavebench.view import CaveBenchView
from console.core.case import Key
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.suite_views import registry
from console.tui.suite_views.suite_view import CaseView, DrawContext, ReviewedCase, SuiteView

GROUP = "eval_console.views"
STANDARD_VIEWS = (
    CaseView("diff", "Diff", lambda case, context: [Block("diff")]),
    CaseView("truth", "Truth", lambda case, context: []),
)


def _case() -> ReviewedCase:
    key = Key("c", 0, 1)
    return ReviewedCase(Rollout(key, 0), Conversation(key), None)


class Faulty(SuiteView):
    """A view that fails wherever it is asked."""

    def case_name(self, rollout: Rollout) -> str:
        raise RuntimeError("no name")

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
            raise ZeroDivisionError("no drawing")

        return [CaseView("diff", "Plot", draw), *standard[1:]]

    def code_blocks(self, conversation: Conversation) -> Any:
        return 3


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed views: `faulty`, one that is no view, and one that cannot be imported."""
    points = [
        EntryPoint("faulty", f"{__name__}:Faulty", GROUP),
        EntryPoint("number", "builtins:int", GROUP),
        EntryPoint("absent", "no_such_package:View", GROUP),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda: metadata.EntryPoints(points))
    monkeypatch.setattr(registry, "_loaded", {})


def test_a_view_is_found_by_the_format_of_the_suite() -> None:
    assert isinstance(registry.find_view("aidanbench"), AidanBenchView)
    assert isinstance(registry.find_view("cavebench"), CaveBenchView)
    assert isinstance(registry.find_view("bfcl"), BfclView)
    assert registry.find_view("mine") is registry.find_view("") is registry.STANDARD


def test_notes_of_code_are_drawn_by_the_suite_that_records_them() -> None:
    assert registry.find_note_block("cell") is not None
    assert registry.find_note_block("anything else") is None


@pytest.mark.usefixtures("offered")
def test_a_faulty_view_costs_only_what_it_was_to_draw() -> None:
    assert registry.load_view("faulty") == ""
    view = registry.find_view("faulty")
    case = _case()
    assert view.case_name(case.rollout) == "c"
    assert view.code_blocks(case.conversation) == {}
    plot, truth = view.case_views(STANDARD_VIEWS)
    assert plot.name == "Plot"
    assert truth is STANDARD_VIEWS[1]
    fault, standard = plot.draw(case, DrawContext(80, diff.Style(), view))
    assert fault.body[0].plain == "the view Plot of faulty failed: ZeroDivisionError: no drawing"
    assert standard.key == "diff"


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(("name", "words"), [("number", "is not a SuiteView"), ("absent", "No module named")])
def test_a_view_that_cannot_be_loaded_says_why_and_the_standard_stays(name: str, words: str) -> None:
    assert words in registry.load_view(name)
    assert registry.load_view(name) == "", "it is said once"
    assert registry.find_view(name) is registry.STANDARD
