"""Review: why did this fail? Failures in groups, expected beside actual, and every other view of a case one key away.

Opens on the first failure nobody has tagged. The detail follows the cursor; what arrives moves nothing.
"""

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.tui.data.run_feed import Changes
from console.tui.keymap import bindings_for
from console.tui.sanitize import literal
from console.tui.screens.review.branching import Branching
from console.tui.screens.review.case_list import ROWS, Listing
from console.tui.screens.review.case_pane import CaseText, Showing
from console.tui.screens.review.copying import Copying
from console.tui.screens.review.retry import Again
from console.tui.screens.review.tagging import Sorting
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript

RELIST_PAUSE_S = 0.3
"""Shortest time between two drawings of the list while the run is read or played."""
RELIST_SHARE = 8
"""It is at least so many times as long as one drawing takes, so that listing a long run does not delay reading it."""


class ReviewScreen(Listing, Showing, Sorting, Copying, Again, Branching):
    """Steps through the failures of one run; see the module."""

    where: ClassVar[str] = "review"
    heading: ClassVar[str] = "Review"
    AUTO_FOCUS: ClassVar[str | None] = "#list"
    find_hint: ClassVar[str] = "words of any text, or reason: func: model: cat: tag: is: time> cost>  ! inverts"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("review")
    DEFAULT_CSS = """
    ReviewScreen {
        #review { height: 1fr; layout: vertical; }
        #list-side { height: 6fr; } #case-side { height: 13fr; }
        #head { height: auto; max-height: 4; }
        #detail { height: 1fr; } #talk, #talk-caption { display: none; }
        &.-wide {
            #review { layout: horizontal; }
            #list-side { width: 52; height: 1fr; } #case-side { width: 1fr; height: 1fr; }
            #head { max-height: 8; }
            &.-tall.-diff #talk { display: block; height: 1fr; }
            &.-tall.-diff.-loops #talk { display: none; }
        }
    }
    """

    _listed_at = _listing_s = 0.0
    _is_stale = False
    """Whether something came since the list was drawn."""

    # Composition -----------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out the list and the case."""
        with Container(id="review"):
            with Vertical(id="list-side"):
                yield PaneTitle("list", id="list-caption")
                yield RowList(ROWS, id="list", classes="pane", empty=Content("reading the run …"))
            with Vertical(id="case-side"):
                yield PaneTitle("", id="case-caption")
                yield Static(id="head", classes="pane")
                yield CaseText(id="detail", classes="pane", empty=Content("Nothing is listed."))
                yield Transcript(id="talk", classes="pane")

    def on_mount(self) -> None:
        """Show where one is before anything is read."""
        self.add_class("-diff")
        self.group_as_before()
        self.top_line.tell(title=literal(self.run_folder.name))

    # What is new -----------------------------------------------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Take over what is new; the list is drawn again now and then while the run is read."""
        feed = self.feed
        if feed is None:
            self.case_list.show([], empty=self.problem)
            return
        if not self._listed_at:
            self.read_notes()
            self.open_suite()
        if self.loops:
            self.triage.settle_on("")
        if changes.settled:
            self.triage.forget_order()
        self._is_stale = True
        if changes.settled or not self._listed_at or not changes.records:
            self._list_again()
        rollout = self.rollout
        if rollout is not None and rollout.key in changes.keys:
            self.show_case()

    def ticked(self) -> None:
        """Draw the list again, if it is time."""
        pause = max(RELIST_PAUSE_S, RELIST_SHARE * self._listing_s)
        if self._is_stale and time.monotonic() - self._listed_at > pause:
            self._list_again()

    def _list_again(self) -> None:
        self._listed_at, self._is_stale = time.monotonic(), False
        self.relist()
        self._listing_s = time.monotonic() - self._listed_at
        self.moved = self.moved or (self.feed is not None and self.feed.is_read)

    @on(RowList.RowChosen, "#list")
    def _chosen(self, event: RowList.RowChosen) -> None:
        self.detail.focus()

    # Finding and keys ------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow the list, or find in the text, whichever had the focus."""
        if self.find_session.origin is self.case_list or self.find_session.origin is None:
            self.narrow_to(text, done=done)
            return
        self.find_in_text(text, done=done)

    def key_words(self) -> Mapping[str, str]:
        """Name keys by what they do at this moment."""
        return {"fail.next": "next place found"} if self.is_finding else {}

    def go_back(self) -> bool:
        """Close the find bar, end finding, unzoom, then leave the text for the list."""
        if super().go_back():
            return True
        if self.is_finding:
            self.find_in_text("")
            return True
        if not self.case_list.has_focus:
            self.case_list.focus()
            return True
        return False
