"""The parts of the interface that a suite may show in its own way. `SuiteView` itself shows what any suite has.

A view module overrides what its benchmark needs and nothing else; the screens ask the view and know no benchmark. A
package offers one by the entry point group `eval_console.views`, named like its suite format: a callable without
arguments that returns a `SuiteView`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from textual.content import Content

from console.core.comparison import Comparison
from console.core.outcome import Verdict
from console.insight.conversation import Conversation
from console.insight.judging import Judging
from console.insight.overview import Overview
from console.insight.passage import Passage
from console.insight.rollout import Rollout
from console.insight.sort_orders import SortOrder
from console.suites.suite import Report
from console.tui.render import diff
from console.tui.render.block import Block
from console.tui.render.columns import Column
from console.tui.widgets.transcript import Transcript

NoteBlock = Callable[[Passage, str, bool], Block]
"""Draws a note: the passage, the key of its block, whether an empty line follows."""


@dataclass(frozen=True, slots=True)
class ReviewedCase:
    """Everything a view of a case is drawn from."""

    rollout: Rollout
    conversation: Conversation
    comparison: Comparison | None
    """None while the suite is not there; `why` then says so."""
    why: str = ""
    attempts: Sequence[Conversation] = ()
    """All attempts when there are several, oldest first."""


@dataclass(frozen=True, slots=True)
class DrawContext:
    """What a view of a case needs besides the case: room, the reader's wishes, and the run around it."""

    width: int
    """Cells of the pane."""
    style: diff.Style
    suite_view: "SuiteView"
    with_conversation: bool = True
    """Whether the conversation follows the difference, because it has no pane of its own."""
    rollouts: Callable[[], Sequence[Rollout]] = tuple
    """All rollouts of the run, in its order."""
    report: Callable[[], Report | str] = str
    """The suite's numbers for the run so far, or why there are none."""
    judging: Callable[[], Judging | None] = lambda: None
    """What is known of the run's judge; None when no model judges."""


def _always(rollout: Rollout) -> bool:
    return True


def _never(case: ReviewedCase) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class CaseView:
    """One view of a case: a tab of Review."""

    id: str
    """`diff`, `talk`, `truth`, `tools`, `scores`, `raw`, `attempts`, or one of a suite's own."""
    name: str
    """What its tab is called."""
    draw: Callable[[ReviewedCase, DrawContext], list[Block]]
    exists_for: Callable[[Rollout], bool] = _always
    folds_same: Callable[[ReviewedCase], bool] = _never
    """Whether `x` folds what agrees, as `DrawContext.style` says, instead of the block at the top."""


class ConversationDrawer(Protocol):
    """Keeps a transcript in step with one conversation."""

    compact: bool
    """Whether what is not needed in a pane of a few lines is left out."""

    @property
    def conversation(self) -> Conversation | None: ...

    def show(self, conversation: Conversation | None, *, follow: bool) -> None:
        """Show a conversation from its top, or from its end when following."""
        ...

    def update(self) -> None:
        """Take over what is new in the conversation."""
        ...

    def toggle(self) -> None:
        """Unfold or fold what stands at the top of the text."""
        ...


class LiveView(Protocol):
    """A suite's own shape of Live: its rows, its conversations, its figures."""

    rows_title: str
    """What the rows are, such as `Loops`."""
    columns: tuple[Column, ...]
    sort_orders: tuple[SortOrder, ...]

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return the cells of a row as they are at a time, seconds since the epoch."""
        ...

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        """Return what draws a conversation of this suite into a transcript."""
        ...

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return what the watched conversation is and does, for its caption."""
        ...

    def average(self, overview: Overview) -> Content:
        """Return the number that stands in the progress line in place of a pass rate."""
        ...

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return the lines under the watched conversation; empty where there are none."""
        ...

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return lines about the whole run, above those that every run has."""
        ...


@dataclass(frozen=True, slots=True)
class HintLabel:
    """What the hint of a comparison is called."""

    name: str
    style: str


class SuiteView:
    """What any suite shows. A benchmark's own view overrides what it shows differently."""

    lists_everything: bool = False
    """Whether Review opens on all rollouts and not on failures: a run that is read, not searched."""
    everything_label: str = "everything"
    """What a list of all rollouts is called."""
    has_pass_rate: bool = True
    has_conversation_pane: bool = True
    """Whether the conversation stands beside the difference where there is room."""
    live: LiveView | None = None
    """Its own shape of Live; None: a list of conversations."""
    note_blocks: Mapping[str, NoteBlock] = MappingProxyType({})
    """How notes of these kinds are drawn, in every view and in Live."""

    def case_name(self, rollout: Rollout) -> str:
        """Return what a case is called in a list. May be foreign text."""
        return str(rollout.key)

    def case_detail(self, rollout: Rollout) -> str:
        """Return what stands beside a case in Review's list; empty: what tells it from others of its group."""
        return ""

    def case_views(self, standard: Sequence[CaseView]) -> Sequence[CaseView]:
        """Return the views of its cases in the order of their tabs: the standard ones, changed, fewer or more."""
        return standard

    def verdict_block(self, verdict: Verdict) -> Block | None:
        """Return the block of a verdict's particulars; None: they are shown as they were recorded."""
        return None

    def code_blocks(self, conversation: Conversation) -> Mapping[int, Block]:
        """Return the code that was run in each turn, by turn from 0; shown with the turns of the difference."""
        return {}

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        """Return what a comparison's hint is called."""
        if verdict is not None and not verdict.outcome.is_graded:
            return HintLabel("to do", "$undecided")
        return HintLabel("would pass", "$pass")
