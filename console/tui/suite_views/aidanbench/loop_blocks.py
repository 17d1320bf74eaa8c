"""Keeps a transcript in step with a loop as it is played, as `PassageDrawer` does with any other conversation.

Prompts, which repeat all earlier answers, and the judge's words are one line each until they are unfolded.
"""

from collections.abc import Sequence

from console.insight.conversation import Conversation
from console.insight.passage import Passage, PassageKind
from console.tui.render.conversation import passage_block
from console.tui.suite_views.aidanbench.loops import Round, Rounds
from console.tui.suite_views.aidanbench.rounds import answer_block, end_line, loop_state, round_blocks
from console.tui.widgets.block import Block
from console.tui.widgets.transcript import Transcript


class LoopBlocks:
    """Keeps a transcript in step with the conversation of a loop."""

    def __init__(self, transcript: Transcript, *, compact: bool = False) -> None:
        """Show nothing yet; `compact` is for panes of a few lines."""
        self.transcript = transcript
        self.compact = compact
        self.unfolded = False
        self._conversation: Conversation | None = None
        self._begin()

    def _begin(self) -> None:
        self._rounds = Rounds()
        self._settled: list[list[Block]] = []
        self._revision = -1
        self._state = ""
        self._shown = self._thought = ""

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    def show(self, conversation: Conversation | None, *, follow: bool) -> None:
        """Show a loop from its top, or from its end when following."""
        self._conversation = conversation
        self._begin()
        if conversation is None:
            self.transcript.show([], follow=False)
            return
        self.transcript.show(self._blocks(conversation), follow=follow)

    def update(self) -> None:
        """Take over what is new in the loop."""
        conversation = self._conversation
        if conversation is None:
            return
        live = self._written(conversation)
        state = loop_state(conversation.state, conversation.why)
        is_same = conversation.revision == self._revision and state == self._state
        if live is None or not is_same or live.reasoning != self._thought:
            self.transcript.show(self._blocks(conversation), keep_place=True)
            return
        text = live.answer
        if text.startswith(self._shown) and self._shown:
            self.transcript.append(f"round {live.turn} answer", text[len(self._shown) :])
        elif text != self._shown:
            self.transcript.replace(answer_block(live))
        self._shown = text

    def toggle(self) -> None:
        """Unfold or fold prompts and the judge's words; the round at the top of the view stays there."""
        if self._conversation is None:
            return
        top = self.transcript.block_at_top()
        self.unfolded = not self.unfolded
        self._begin()
        self.transcript.show(self._blocks(self._conversation), keep_place=True)
        if top is not None and not self.transcript.follow:
            self.transcript.scroll_to_block(" ".join(top.key.split(" ")[:2]))

    def _blocks(self, conversation: Conversation) -> list[Block]:
        """Make what changed anew; blocks of finished rounds stay the same, wrapped as they are."""
        self._state = loop_state(conversation.state, conversation.why)
        first = self._rounds.take(conversation.passages)
        del self._settled[min(first, max(len(self._rounds.rounds) - 1, 0)) :]
        for place in range(len(self._settled), len(self._rounds.rounds)):
            self._settled.append(self._draw(self._rounds.rounds[place], place))
        self._revision = conversation.revision
        blocks = [block for part in self._settled for block in part]
        live = self._written(conversation)
        self._shown, self._thought = (live.answer, live.reasoning) if live is not None else ("", "")
        if live is not None:
            place = len(self._rounds.rounds)
            place = next((at for at, earlier in enumerate(self._rounds.rounds) if earlier.turn == live.turn), place)
            blocks = [block for part in self._settled[:place] for block in part] + self._draw(live, place)
        return [*blocks, *self._verdict(conversation)]

    def _draw(self, loop_round: Round, place: int) -> list[Block]:
        return round_blocks(loop_round, state=self._state, compact=self.compact, unfolded=self.unfolded, earlier=place)

    def _verdict(self, conversation: Conversation) -> list[Block]:
        last = self._rounds.rounds[-1] if self._rounds.rounds else None
        if self.compact and last is not None and end_line(last) is not None:
            return []
        verdicts = [passage for passage in conversation.passages[-3:] if passage.kind is PassageKind.VERDICT]
        return [passage_block(verdicts[-1], "verdict", gap=False)] if verdicts else []

    def _written(self, conversation: Conversation) -> Round | None:
        """Return the round whose answer is being written, with its text so far."""
        tail: Sequence[Passage] = [passage for passage in conversation.tail() if passage.role == "model"]
        if not tail:
            return None
        turn = tail[0].turn
        begun = next((earlier for earlier in self._rounds.rounds if earlier.turn == turn), None)
        reply = "".join(passage.text for passage in tail if passage.kind is PassageKind.ASSISTANT)
        thought = "".join(passage.text for passage in tail if passage.kind is PassageKind.REASONING)
        troubles = begun.troubles if begun else []
        prompt = begun.prompt if begun else ""
        return Round(turn, prompt=prompt, reply=reply, streaming=True, reasoning=thought, troubles=troubles)
