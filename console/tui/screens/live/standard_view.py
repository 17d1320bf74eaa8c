"""The default live view: rows of conversations, each drawn passage by passage."""

from collections.abc import Sequence

from textual.content import Content

from console.core.run import Manifest
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.passage import Passage
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

    def average(self, overview: Overview) -> Content:
        """Return the pass rate."""
        tally = overview.fold.tally
        return Content.styled(number_format.score(tally.rate), "bold")

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return nothing, since cases have no score trend."""
        return Content.empty()

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return nothing beyond the general facts."""
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
        self._revision = -1
        self._streamed: dict[str, int] = {}
        """Characters drawn of each streaming passage."""

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    def show(self, conversation: Conversation | None, *, follow: bool) -> None:
        """Show a conversation from its top, or from its end when following."""
        self._conversation = conversation
        self._settled, self._revision = [], -1
        if conversation is None:
            self._streamed = {}
            self._transcript.show([], follow=False)
            return
        self._settle(conversation)
        self._transcript.show([*self._settled, *self._tail(conversation)], follow=follow)

    def update(self) -> None:
        """Draw changes in the conversation."""
        conversation = self._conversation
        if conversation is None:
            return
        if conversation.revision != self._revision:
            self._settle(conversation)
            self._transcript.show([*self._settled, *self._tail(conversation)], keep_place=True)
            return
        for passage in conversation.tail():
            key = _streaming_key(passage)
            drawn = self._streamed.get(key)
            if drawn is None:
                self._transcript.add(self._block(passage, key))
            elif len(passage.text) > drawn:
                self._transcript.append(key, passage.text[drawn:])
            self._streamed[key] = len(passage.text)

    def toggle(self) -> None:
        """Open the first folded block in view, or fold the one at the top of the text."""
        block = self._transcript.fold_target()
        if block is not None:
            self._transcript.toggle_fold(block.key)

    def _settle(self, conversation: Conversation) -> None:
        for place in range(len(self._settled), len(conversation.passages)):
            self._settled.append(self._block(conversation.passages[place], str(place)))
        self._revision = conversation.revision

    def _tail(self, conversation: Conversation) -> list[Block]:
        tail = conversation.tail()
        self._streamed = {_streaming_key(passage): len(passage.text) for passage in tail}
        return [self._block(passage, _streaming_key(passage)) for passage in tail]

    def _block(self, passage: Passage, key: str) -> Block:
        return passage_block(passage, key, gap=not self.compact)


def _streaming_key(passage: Passage) -> str:
    return f"live {passage.n} {passage.kind.value}"
