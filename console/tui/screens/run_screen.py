"""`RunScreen`: a screen that shows one run; its `FeedPump` hands on what is new of the run."""

from textual.content import Content

from console.core.case import Key
from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.sanitize import literal
from console.tui.screens.base import BaseScreen
from console.tui.screens.feed_pump import FeedPump
from console.tui.services import Services


class RunScreen(BaseScreen):
    """A screen of one run; it may override `fed`, `ticked` and `awaits`."""

    DEFAULT_CSS = """
    RunScreen.-wide PaneTitle { display: none; }
    RunScreen RowList, RunScreen Transcript { scrollbar-gutter: stable; }
    """

    def __init__(self, services: Services, run: RunFolder) -> None:
        """Show a run; nothing is read before the screen is mounted."""
        super().__init__(services)
        self.run_folder = run
        self.pump = FeedPump(self, services)
        self.problem = Content.empty()
        """Why the run cannot be shown, if it cannot."""

    # Questions that a screen may answer in its own way ---------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Take over what is new; called with an empty change once, as soon as the feed is open."""

    def ticked(self) -> None:
        """Called after each pump while the screen is shown, whether anything is new or not."""

    def awaits(self, key: Key) -> bool:
        """Whether the beginning of an answer in this conversation is worth a turn of its own."""
        return self.is_current and self.pump.keeps_up

    # Feed ------------------------------------------------------------------------------------------------------------

    @property
    def shown_run(self) -> RunFolder | None:
        """The run that is shown."""
        return self.run_folder

    @property
    def feed(self) -> RunFeed | None:
        """What is shown: the run's feed, or a replay of it."""
        return self.pump.feed

    def on_mount(self) -> None:
        """Open the feed once the frame is painted."""
        self.call_after_refresh(self._open_feed)

    def _open_feed(self) -> None:
        try:
            self.pump.open(self.run_folder)
        except UsageError as error:
            self.problem = literal(str(error), style="$broken")
            self.services.refuse(error)
            self.fed(Changes())

    def on_unmount(self) -> None:
        """Close the feed."""
        self.pump.close()

    def on_screen_resume(self) -> None:
        """Catch up with what came while another screen was shown."""
        self.pump.deliver()
