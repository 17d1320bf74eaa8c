"""The runs that an app follows: one feed for each, however many screens show it."""

from pathlib import Path

from console.store.runs import RunFolder
from console.tui.data.run_feed import RunFeed


class Feeds:
    """The open feeds of an app, one for each run however many screens show it."""

    def __init__(self) -> None:
        """Open none."""
        self._open: dict[Path, tuple[RunFeed, int]] = {}
        self.places: dict[Path, tuple[str, str]] = {}
        """Order and cursor of the list of each run that was watched, to be found again on coming back."""

    def open(self, folder: RunFolder) -> RunFeed:
        """Return the feed of a run, started; must be called in the app's loop.

        Raises:
            UsageError: the folder is not a run.
        """
        feed, users = self._open.get(folder.path, (None, 0))
        if feed is None:
            feed = RunFeed(folder)
            feed.start()
        self._open[folder.path] = feed, users + 1
        return feed

    def close(self, feed: RunFeed) -> None:
        """Let go of a feed; the last one to do so ends it."""
        _, users = self._open.pop(feed.folder.path, (feed, 1))
        if users > 1:
            self._open[feed.folder.path] = feed, users - 1
        else:
            feed.close()
