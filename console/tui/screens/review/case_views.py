"""`CaseViews`: the views of Review's current case, and the layout of its diff."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from console.core.fault import UsageError
from console.tui.render import diff
from console.tui.screens.review.views import STANDARD_VIEWS
from console.tui.suite_views.registry import STANDARD
from console.tui.suite_views.suite_view import CaseView, ReviewedCase, SuiteView


class CaseViews:
    """Remembers the chosen view, also for cases to which it does not apply."""

    def __init__(self, case: Callable[[], ReviewedCase | None], changed: Callable[[], None]) -> None:
        """Start with the first standard view.

        Args:
            case: returns the current case; raises UsageError if the journal can no longer be read.
            changed: called when the case is to be drawn again.
        """
        self.suite_view: SuiteView = STANDARD
        self.style = diff.Style()
        self._case, self._changed = case, changed
        self._id = STANDARD_VIEWS[0].id

    def of_case(self) -> Sequence[CaseView]:
        try:
            case = self._case()
        except UsageError:  # drawing the case reports it
            return []
        views = self.suite_view.case_views(STANDARD_VIEWS)
        return [view for view in views if case is not None and view.exists_for(case)]

    @property
    def current(self) -> CaseView:
        """The chosen view, or the first one if the suite does not have it."""
        views = self.suite_view.case_views(STANDARD_VIEWS)
        return next((view for view in views if view.id == self._id), views[0])

    def show(self, view_id: str) -> None:
        self._id = view_id
        self._changed()

    def show_at(self, place: int) -> None:
        views = self.of_case()
        if place < len(views):
            self.show(views[place].id)

    def toggle(self, view_id: str) -> None:
        if any(view.id == view_id for view in self.of_case()):
            self.show(STANDARD_VIEWS[0].id if self._id == view_id else view_id)

    def step(self, by: int) -> None:
        ids = [view.id for view in self.of_case()]
        if ids:
            place = ids.index(self._id) if self._id in ids else 0
            self.show(ids[(place + by) % len(ids)])

    def restyle(self, **changes: Any) -> None:
        self.style = replace(self.style, **changes)
        self._changed()
