"""The default live view: rows of conversations, each drawn passage by passage."""

from collections.abc import Sequence

from textual.content import Content

from console.core.run import Manifest
from console.insight import run_number
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.passage import Passage, PassageKind
from console.insight.rollout import Rollout
from console.insight.sort_orders import SortOrder
from console.tui.render.block import Block
from console.tui.render.columns import Column
from console.tui.render.progress import watched_words
from console.tui.render.rollout_rows import CASES, case_cells
from console.tui.suite_views.conversation_blocks import passage_block
from console.tui.suite_views.registry import find_view
from console.tui.suite_views.suite_view import ConversationDrawer, LiveView
from console.tui.widgets.transcript import Transcript


class StandardLiveView:
    """A list of conversations with a pass rate."""

    rows_title: str = "Cases"
    columns: tuple[Column, ...] = CASES
    sort_orders: tuple[SortOrder, ...] = ()

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return the cells of a rollout: its activity, or how it ended."""
        return case_cells(rollout, now, live=live)

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        return PassageDrawer(transcript)

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return the case, its turn and its activity."""
        return watched_words(rollout)

    def average(self, overview: Overview, manifest: Manifest) -> Content:
        """Return the pass rate."""
        return Content.styled(run_number.pass_rate(overview.fold, manifest), "bold")

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return nothing, since cases have no score trend."""
        return Content.empty()

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        return []


STANDARD = StandardLiveView()


def live_view(manifest: Manifest) -> LiveView:
    """Return the live view of a run's suite, or the default."""
    return find_view(manifest.format).live or STANDARD


class PassageDrawer:
    """Draws one conversation in a transcript, incrementally."""

    def __init__(self, transcript: Transcript) -> None:
        self.compact = False
        """Omit empty lines between blocks."""
        self._transcript = transcript
        self._conversation: Conversation | None = None
        self._settled: list[Block] = []
        self._passages: list[Passage] = []
        """Passages of the settled blocks."""
        self._revision = -1
        self._streamed: dict[str, int] = {}
        """Characters drawn of each streaming passage."""

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    def show(self, conversation: Conversation | None, *, follow: bool) -> None:
        """Show a conversation from its top, or from its end when following."""
        self._conversation = conversation
        self._settled, self._passages, self._revision = [], [], -1
        if conversation is None:
            self._streamed = {}
            self._transcript.show([], follow=False)
            return
        self._settle(conversation)
        self._transcript.show([*self._settled, *self._tail(conversation)], follow=follow)

    def update(self) -> None:
        conversation = self._conversation
        if conversation is None:
            return
        if conversation.revision != self._revision:
            self._settle(conversation)
            self._transcript.show([*self._settled, *self._tail(conversation)], keep_place=True)
            return
        for place, passage in enumerate(conversation.tail()):
            key = _streaming_key(passage, place)
            drawn = self._streamed.get(key)
            if drawn is None:
                self._transcript.add(self._block(passage, key))
            elif len(passage.text) > drawn and passage.kind is PassageKind.THREAD:
                self._transcript.replace(self._as_before(self._block(passage, key)))
            elif len(passage.text) > drawn:
                self._transcript.append(key, passage.text[drawn:])
            self._streamed[key] = len(passage.text)

    def toggle(self) -> None:
        """Open the first folded block in view, or fold the one at the top of the text."""
        block = self._transcript.fold_target()
        if block is not None:
            self._transcript.toggle_fold(block.key)

    def _settle(self, conversation: Conversation) -> None:
        """Draw new passages; a thread may have grown, or another one may have become the main conversation."""
        passages = conversation.passages
        for place, passage in enumerate(passages):
            if place < len(self._passages) and self._passages[place] is passage:
                continue
            block = self._as_before(self._block(passage, _settled_key(passage, place)))
            self._settled[place : place + 1] = [block]
        del self._settled[len(passages) :]
        self._passages = list(passages)
        self._revision = conversation.revision

    def _as_before(self, block: Block) -> Block:
        """Return a block for a thread, unfolded if the previous one was."""
        if block.opened_by == "enter":
            block.folded = next((drawn.folded for drawn in self._transcript.blocks if drawn.key == block.key), True)
        return block

    def _tail(self, conversation: Conversation) -> list[Block]:
        keyed = [(_streaming_key(passage, place), passage) for place, passage in enumerate(conversation.tail())]
        self._streamed = {key: len(passage.text) for key, passage in keyed}
        return [self._as_before(self._block(passage, key)) for key, passage in keyed]

    def _block(self, passage: Passage, key: str) -> Block:
        return passage_block(passage, key, gap=not self.compact)


def _settled_key(passage: Passage, place: int) -> str:
    return f"thread {passage.n}" if passage.kind is PassageKind.THREAD else str(place)


def _streaming_key(passage: Passage, place: int) -> str:
    return f"live {passage.n} {passage.kind.value} {place}"
