"""`ConversationList`: the rollouts of a run as rows, each with what it does and says now."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from console.insight import number_format
from console.insight.rollout import Slot
from console.tui.render.progress import is_starting
from console.tui.render.rollout_rows import row_key, slot_of
from console.tui.screens.live.watched_run import WatchedRun
from console.tui.suite_views.suite_view import LiveView
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList


class ConversationList(RowList):
    """Draws its rows from the run as it is at that moment."""

    def __init__(self, view: LiveView) -> None:
        """Draw rows as `view` says."""
        super().__init__(view.columns, id="running", classes="pane", empty=Content("reading the run …"))
        self.pane_title = PaneTitle("running", id="running-caption")
        self.view = view
        self._watched: WatchedRun | None = None

    @property
    def slot(self) -> Slot | None:
        """The rollout under the cursor."""
        return slot_of(self.cursor) if self.cursor is not None else None

    def take_view(self, view: LiveView) -> None:
        """Draw rows as another view says, with the names of its columns above them."""
        self.view = view
        self.set_columns(view.columns, names=True)

    def show_rollouts(self, run: WatchedRun, slots: Sequence[Slot]) -> None:
        """List these rollouts of a run."""
        self._watched = run
        keys = [row_key(slot) for slot in slots]
        if not keys or keys != self.keys:
            self.show(keys, draw=self._draw_rollout, empty=_empty_words(run))

    def touch_rollouts(self, slots: Iterable[Slot]) -> None:
        """Draw the rows of these rollouts again, because what they show has changed."""
        if keys := [row_key(slot) for slot in slots]:
            self.touch(*keys)

    def draw_title(self, run: WatchedRun, *, order: str, only_running: bool) -> None:
        """Say how many rows there are, and in which order.

        Args:
            run: the run.
            order: what the order is called.
            only_running: whether what has ended is not listed.
        """
        running, rollouts = (number_format.count(len(some)) for some in (run.overview.running, run.overview.rollouts))
        if only_running:
            left = Content.assemble("Running", (f"  {running}", "$muted"))
        else:
            left = Content.assemble(self.view.rows_title, (f"  {rollouts}, {running} running", "$muted"))
        self.pane_title.tell(left, Content.styled(f"o {order}", "$muted"))

    def _draw_rollout(self, key: str) -> tuple[Content, ...]:
        run = self._watched
        rollout = run.overview.rollouts.get(slot_of(key)) if run is not None else None
        if run is None or rollout is None:
            return ()
        return self.view.row_cells(rollout, run.now(), live=run.is_live)


def _empty_words(run: WatchedRun) -> Content:
    if not run.is_read:
        cases, read = number_format.plural(run.manifest.cases, "rollout"), len(run.overview.rollouts)
        return Content(f"reading {cases}, {number_format.count(read)} so far")
    if not run.is_live and is_starting(run.overview, run.manifest):
        return Content("The engine is starting …")
    return Content("Nothing has begun yet." if run.is_live else "Nothing was played in this run.")
