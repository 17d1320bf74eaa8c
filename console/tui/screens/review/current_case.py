"""`CurrentCase`: Review's current case with its comparison and branches, ready to be drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.insight.failures import GroupBy
from console.insight.judging import judging_of
from console.tui.screens.review.case_loader import CaseLoader
from console.tui.screens.review.case_views import CaseViews
from console.tui.screens.review.cursor import CaseCursor
from console.tui.screens.review.triage import Triage
from console.tui.screens.review.views import ShownCase
from console.tui.suite_views.suite_view import ReviewedCase

if TYPE_CHECKING:
    from console.insight.deciding import Branch


class CurrentCase:
    """Loads the case under the cursor."""

    def __init__(self, cursor: CaseCursor, triage: Triage, loader: CaseLoader) -> None:
        self._cursor, self._triage, self._loader = cursor, triage, loader

    def load(self) -> ReviewedCase | None:
        """Return the current case with everything that its views need.

        Raises:
            UsageError: the journal can no longer be read.
        """
        run, rollout = self._cursor.run, self._cursor.rollout
        return self._loader.case(run, rollout) if run is not None and rollout is not None else None

    def for_drawing(self, views: CaseViews) -> ShownCase | None:
        """Return the current case and its chosen view, or None if nothing is listed.

        Raises:
            UsageError: the journal can no longer be read.
        """
        case, run, triage = self.load(), self._cursor.run, self._triage
        if case is None or run is None:
            return None
        manifest, overview = run.manifest, run.overview
        group = self._cursor.group if triage.by is GroupBy.REASON else None
        return ShownCase(
            case,
            annotation=self._cursor.annotation,
            model=manifest.model,
            simulated=manifest.model.simulated,
            alike=group.size if group is not None else 0,
            views=views.of_case(),
            view=views.current,
            style=views.style,
            suite_view=views.suite_view,
            words=next(iter(triage.narrow.words), ""),
            rollouts=lambda: overview.rollouts.all(),
            report=lambda: self._loader.report(run),
            judging=lambda: judging_of(manifest, overview.rollouts.all(), triage.annotations),
            apart=lambda: self._loader.scores_apart(run, triage.annotations),
            has_repeats=manifest.rollouts > 1,
            is_repeat=triage.shows_repeats,
        )

    def prefetch_neighbors(self) -> None:
        """Read and compare the cases next to the current one."""
        run, rollout = self._cursor.run, self._cursor.rollout
        if run is not None and rollout is not None:
            self._loader.prefetch(run, [neighbor.key for neighbor in self._triage.around(rollout)])

    @property
    def branches(self) -> "Sequence[Branch]":
        """Branches of the current case, newest first."""
        rollout = self._cursor.rollout
        return self._loader.branches(rollout.key.case) if rollout is not None else ()
