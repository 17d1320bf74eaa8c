"""The parts of the interface that a suite can customize, with defaults that suit any suite.

A benchmark's view module overrides only what it needs; the screens use the view and know no benchmark. Every benchmark,
including one of another package, declares its view in `Benchmark.view` (`suites/benchmark.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from console.core.comparison import Comparison
from console.core.outcome import Verdict
from console.core.run import Manifest
from console.insight.conversation import Conversation
from console.insight.judging import Judging
from console.insight.overview import Overview
from console.insight.passage import Passage
from console.insight.report import Section
from console.insight.rollout import Rollout
from console.insight.sort_orders import SortOrder
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.render.columns import Column
from console.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from console.insight.deciding import Branch

NoteBlock = Callable[[Passage, str, bool], Block]
"""Function that draws a note, from the passage, the block's key, and whether an empty line follows."""


@dataclass(frozen=True, slots=True)
class ReviewedCase:
    """The data that a case view is drawn from."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None
    """None while the suite is missing; the reason is in `why`."""
    why: str = ""
    attempts: Sequence[Conversation] = ()
    """All attempts, oldest first, if there are several."""
    branches: "Sequence[Branch]" = ()
    """Experiments on this case alone, newest first."""


@dataclass(frozen=True, slots=True)
class DrawContext:
    """Context for drawing a case view: width, display options, and the run."""

    width: int
    """Pane width in cells."""
    style: diff.Style
    suite_view: "SuiteView"
    with_conversation: bool = True
    """True to draw the conversation below the diff, for lack of a pane of its own."""
    with_verdict: bool = True
    """False to end a conversation without its verdict, which stands above the view."""
    rollouts: Callable[[], Sequence[Rollout]] = tuple
    """Returns all rollouts of the run, in run order."""
    report: Callable[[], Report | str] = str
    """Returns the suite's report on the run so far, or why there is none."""
    judging: Callable[[], Judging | None] = lambda: None
    """Returns the statistics on the run's judge; None if there is no judge."""
    token: int | None = None
    """Index of the token under the cursor, where log probabilities are shown; None to choose one."""
    apart: Callable[[], Section | None] = lambda: None
    """Returns the run's scores by corrected keys and by people's labels; None if there are none."""
    model: str = ""
    """Name of the run's model."""


def _always(case: ReviewedCase) -> bool:
    return True


def _never(case: ReviewedCase) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class CaseView:
    """One view of a case: a tab in Review."""

    id: str
    """`diff`, `talk`, `truth`, `tools`, `scores`, `tokens`, `raw`, `attempts`, or a suite's own."""
    name: str
    """Label of its tab."""
    draw: Callable[[ReviewedCase, DrawContext], list[Block]]
    exists_for: Callable[[ReviewedCase], bool] = _always
    folds_same: Callable[[ReviewedCase], bool] = _never
    """True if `x` toggles the folding of rows that agree (`DrawContext.style`) instead of folding the top block."""


class ConversationDrawer(Protocol):
    """Keeps a transcript in sync with one conversation."""

    compact: bool
    """True to omit details, for a pane of a few lines."""

    @property
    def conversation(self) -> Conversation | None: ...

    def show(self, conversation: Conversation | None, *, follow: bool) -> None:
        """Show a conversation from its top, or from its end when following."""
        ...

    def update(self) -> None: ...

    def toggle(self) -> None:
        """Fold or unfold the block at the top of the viewport."""
        ...


class LiveView(Protocol):
    """A suite's customization of Live: its rows, conversations and statistics."""

    rows_title: str
    """Heading of the rows, such as `Loops`."""
    columns: tuple[Column, ...]
    sort_orders: tuple[SortOrder, ...]

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return the cells of a row at the time `now`, in seconds since the epoch."""
        ...

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        """Return a drawer of this suite's conversations for a transcript."""
        ...

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return the name and state of the watched conversation, for its title."""
        ...

    def average(self, overview: Overview, manifest: Manifest) -> Content:
        """Return the number that replaces the pass rate in the progress line."""
        ...

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return the lines below the watched conversation; may be empty."""
        ...

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return lines about the whole run, shown above the standard ones."""
        ...


@dataclass(frozen=True, slots=True)
class HintLabel:
    """Label of a comparison's hint."""

    name: str
    style: str


class SuiteView:
    """The default view. A benchmark's view overrides what it shows differently."""

    lists_everything: bool = False
    """True if Review opens on all rollouts instead of the failures."""
    everything_label: str = "cases"
    """Label of the list of all rollouts."""
    has_pass_rate: bool = True
    has_conversation_pane: bool = True
    """True if the conversation is shown next to the diff where there is room."""
    live: LiveView | None = None
    """Customization of Live; None for the default list of conversations."""
    note_blocks: Mapping[str, NoteBlock] = MappingProxyType({})
    """Drawing functions for notes, by kind, used in every view and in Live."""

    def case_name(self, rollout: Rollout) -> str:
        """Return the name of a case in a list. May be untrusted text."""
        return str(rollout.key)

    def case_detail(self, rollout: Rollout) -> str:
        """Return the text next to a case in Review's list; empty to show what distinguishes it within its group."""
        return ""

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Return the case views in tab order: the standard ones with any changes, removals or additions."""
        return standard

    def verdict_block(self, verdict: Verdict) -> Block | None:
        """Return a block with a verdict's details; None to show them as recorded."""
        return None

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        """Return the code executed in each turn, by turn from 0; shown with the turns of the diff."""
        return {}

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        if verdict is not None and not verdict.outcome.is_graded:
            return HintLabel("to do", "$undecided")
        return HintLabel("would pass", "$pass")
