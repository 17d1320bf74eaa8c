"""`RunScreen`: a screen of one run that receives its changes from a `FeedPump`."""

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
    """A screen of one run; subclasses may override `fed`, `ticked` and `awaits`."""

    DEFAULT_CSS = """
    RunScreen.-wide PaneTitle { display: none; }
    RunScreen RowList, RunScreen Transcript { scrollbar-gutter: stable; }
    """

    def __init__(self, services: Services, run: RunFolder) -> None:
        """Initialize the screen; the run is read after mounting."""
        super().__init__(services)
        self.run_folder = run
        self.pump = FeedPump(self, services)
        self.problem = Content.empty()
        """Reason why the run cannot be shown; empty if it can."""

    # For subclasses to override ---------------------------------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Process changes; called once with an empty change when the feed is opened."""

    def ticked(self) -> None:
        """Called after each poll while the screen is shown, with or without changes."""

    def awaits(self, key: Key) -> bool:
        """Return whether the first token of this conversation warrants an immediate poll."""
        return self.is_current and self.pump.keeps_up

    # Feed ------------------------------------------------------------------------------------------------------------

    @property
    def shown_run(self) -> RunFolder | None:
        return self.run_folder

    @property
    def feed(self) -> RunFeed | None:
        """The feed shown: the run's own or a replay of it."""
        return self.pump.feed

    def on_mount(self) -> None:
        """Open the feed after the first frame."""
        self.call_after_refresh(self._open_feed)

    def _open_feed(self) -> None:
        try:
            self.pump.open(self.run_folder)
        except UsageError as error:
            self.problem = literal(str(error), style="$broken")
            self.services.refuse(error)
            self.fed(Changes())

    def on_unmount(self) -> None:
        self.pump.close()

    def on_screen_resume(self) -> None:
        """Deliver changes collected while another screen was shown."""
        self.pump.deliver()
