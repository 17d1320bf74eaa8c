"""`FailureList`: the last failures of a run, latest first."""

from textual.content import Content

from console.insight import number_format
from console.insight.overview import Overview
from console.tui.render.rollout_rows import FAILURES, failure_cells, row_key, slot_of
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList

SHOWN_FAILURES = 200


class FailureList(RowList):
    """One row for each rollout that failed, broke or could not be decided."""

    def __init__(self) -> None:
        """Start without failures."""
        super().__init__(
            FAILURES, id="failures", classes="pane", quiet=True, newest_first=True, empty=Content("No failure so far.")
        )
        self.pane_title = PaneTitle("failures", id="failures-caption")
        self._overview = Overview()

    def show_failures(self, overview: Overview) -> None:
        """List the last failures of a run."""
        self._overview = overview
        latest = [rollout.slot for rollout in reversed(overview.failures) if rollout.is_failure]
        keys = [row_key(slot) for slot in dict.fromkeys(latest)][:SHOWN_FAILURES]
        if keys != self.keys:
            self.show(keys, draw=self._draw_failure)

    def draw_title(self, overview: Overview) -> None:
        """Say how many failures there are in all."""
        tally = overview.fold.tally
        count = tally.failed + tally.broken + tally.undecided
        self.pane_title.tell(
            Content.assemble("Failures", (f"  {number_format.count(count)}, latest first", "$muted")),
            Content.styled("enter reviews" if count else "", "$muted"),
        )

    def _draw_failure(self, key: str) -> tuple[Content, ...]:
        rollout = self._overview.rollouts.get(slot_of(key))
        return failure_cells(rollout) if rollout is not None and rollout.outcome is not None else ()
