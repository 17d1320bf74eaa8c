"""Lookup of suite views by suite format, with error isolation for third-party views.

Built-in views are imported when a run is first shown. Third-party views are imported only for a run of their format,
by `load_view`, which may take seconds and belongs in a thread. When their code raises, the standard view is shown
instead.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from console.core.fault import UsageError
from console.core.outcome import Verdict
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.suites.benchmark import BUILT_IN
from console.suites.benchmarks import find_benchmark
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import CaseView, DrawContext, HintLabel, NoteBlock, ReviewedCase, SuiteView

T = TypeVar("T")


class GuardedView(SuiteView):
    """Wraps a third-party view and falls back to the standard one when it raises."""

    def __init__(self, format_name: str, view: SuiteView) -> None:
        """Copy the view's attributes, except `live`, which draws on every tick, and `note_blocks`.

        Raises:
            Exception: anything the view raises while its attributes are read.
        """
        self._name = format_name
        self._view = view
        self.lists_everything = bool(view.lists_everything)
        self.everything_label = str(view.everything_label)
        self.has_pass_rate = bool(view.has_pass_rate)
        self.has_conversation_pane = bool(view.has_conversation_pane)
        self.note_blocks = {}

    def case_name(self, rollout: Rollout) -> str:
        return _attempt(lambda: str(self._view.case_name(rollout)), lambda: super(GuardedView, self).case_name(rollout))

    def case_detail(self, rollout: Rollout) -> str:
        return _attempt(lambda: str(self._view.case_detail(rollout)), str)

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        by_id = {view.id: view for view in standard}
        offered = _attempt(lambda: list(self._view.case_views(standard)), lambda: list(standard))
        views = [view if view is by_id.get(view.id) else self._guard(view, by_id.get(view.id)) for view in offered]
        return views or standard

    def verdict_block(self, verdict: Verdict) -> Block | None:
        return _attempt(lambda: self._view.verdict_block(verdict), lambda: None)

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        return _attempt(lambda: dict(self._view.code_blocks(conversation)), dict[int, Block])

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        return _attempt(lambda: self._view.hint_label(verdict), lambda: super(GuardedView, self).hint_label(verdict))

    def _guard(self, view: CaseView, standard: CaseView | None) -> CaseView:
        """Return a view that, on failure, shows the error above the standard view of the same id, if any."""

        def draw(case: ReviewedCase, context: DrawContext) -> list[Block]:
            try:
                return list(view.draw(case, context))
            except Exception as error:  # third-party code may raise anything
                words = f"the view {view.name} of {self._name} failed: {type(error).__name__}: {error}"
                fault = Block("view fault", body=(one_line(words, 400, "$broken"),), indent=0)
                return [fault, *(standard.draw(case, context) if standard is not None else [])]

        def exists_for(case: ReviewedCase) -> bool:
            return _attempt(lambda: bool(view.exists_for(case)), lambda: True)

        def folds_same(case: ReviewedCase) -> bool:
            return _attempt(lambda: bool(view.folds_same(case)), lambda: False)

        name = one_line(str(view.name), 20).plain
        return replace(view, name=name, draw=draw, exists_for=exists_for, folds_same=folds_same)


def _attempt(call: Callable[[], T], fallback: Callable[[], T]) -> T:
    try:
        return call()
    except Exception:  # third-party code may raise anything
        return fallback()


STANDARD = SuiteView()
"""The view of suites without one of their own."""
_loaded: dict[str, SuiteView] = {}
"""Third-party views by format; `STANDARD` for a format whose view is missing or failed to load."""


def find_view(format_name: str) -> SuiteView:
    """Return the view for a suite format, a third-party one once loaded; an empty name is unknown."""
    return _own_view(format_name) or _loaded.get(format_name, STANDARD)


def load_view(format_name: str) -> str:
    """Load the third-party view for a format, if there is one; slow, so call it in a thread.

    Returns:
        Why it cannot be shown, in one sentence; empty on success, without a view, and on repeated calls.
    """
    if format_name in BUILT_IN or format_name in _loaded:
        return ""
    _loaded[format_name] = STANDARD
    try:
        benchmark = find_benchmark(format_name, "view")
        view = STANDARD if benchmark is None else benchmark.load("view")()
        if not isinstance(view, SuiteView):
            return f"the view of {format_name} is not a SuiteView"
        if benchmark is not None:
            _loaded[format_name] = GuardedView(format_name, view)
    except UsageError as error:
        return str(error)
    except Exception as error:  # third-party code may raise anything
        return f"the view of {format_name} cannot be loaded: {type(error).__name__}: {error}"
    return ""


def find_note_block(kind: str) -> NoteBlock | None:
    """Return the function that draws notes of a kind; None to show them as recorded."""
    return _own_note_block(kind) or _note_block_in(_loaded.values(), kind)


@cache
def _own_view(format_name: str) -> SuiteView | None:
    benchmark = find_benchmark(format_name, "view") if format_name in BUILT_IN else None
    return None if benchmark is None else benchmark.load("view")()


@cache
def _own_note_block(kind: str) -> NoteBlock | None:
    return _note_block_in((view for name in BUILT_IN if (view := _own_view(name)) is not None), kind)


def _note_block_in(views: Iterable[SuiteView], kind: str) -> NoteBlock | None:
    return next((view.note_blocks[kind] for view in views if kind in view.note_blocks), None)
