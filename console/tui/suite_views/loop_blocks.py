"""A loop as blocks of a `Transcript`: round by round its scores, the answer as it is written, and the verdict.

`LoopBlocks` keeps a transcript in step with the conversation of a loop, as `PassageDrawer` does with any other.
Prompts, which repeat all earlier answers, and the judge's words are one line each until they are unfolded.
"""

from collections.abc import Sequence

from textual.content import Content

from console.insight.conversation import Conversation
from console.insight.loops import Round, Rounds
from console.insight.passage import Passage, PassageKind
from console.tui.render.conversation import passage_block
from console.tui.sanitize import one_line
from console.tui.suite_views.loop_lines import end_line, head_line, loop_state, nearest_line, prompt_title, trouble_line
from console.tui.widgets.block import Block
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"
SHORT = 60
"""Characters of a judge's reply that need no folding."""


def round_blocks(
    loop_round: Round, *, state: str = "", compact: bool = False, unfolded: bool = False, earlier: int = 0
) -> list[Block]:
    """Return the blocks of one round.

    Args:
        loop_round: the round.
        state: what is being done, shown until there are scores.
        compact: leave out prompt, judge and empty lines, for a pane of a few lines.
        unfolded: whether prompt and judge are shown whole.
        earlier: how many earlier answers the prompt lists.
    """
    name = f"round {loop_round.turn}"
    title, aside = head_line(loop_round, state)
    blocks = [Block(name, title, aside, gap=False)]
    if loop_round.prompt and not compact:
        asked = Block(
            f"{name} prompt", prompt_title(loop_round, earlier), text=loop_round.prompt, style=MUTED, gap=False
        )
        asked.folded = not unfolded
        blocks.append(asked)
    if loop_round.reasoning and not compact:
        thought = Block(f"{name} reasoning", Content.styled("reasoning", MUTED), text=loop_round.reasoning, style=MUTED)
        thought.folded = not unfolded and bool(loop_round.answer)
        thought.gap = not thought.folded
        blocks.append(thought)
    body = tuple(map(trouble_line, loop_round.troubles))
    if body:
        blocks.append(Block(f"{name} tries", body=body, gap=False))
    blocks.append(answer_block(loop_round))
    blocks += _judge_blocks(loop_round, name, unfolded=unfolded) if not compact else []
    ended = [line for line in (nearest_line(loop_round), end_line(loop_round)) if line is not None]
    if ended:
        blocks.append(Block(f"{name} end", body=tuple(ended), indent=1, gap=False))
    blocks[-1].gap = not compact
    return blocks


def answer_block(loop_round: Round) -> Block:
    """Return the block of a round's answer, which grows while it is written."""
    body = (
        ()
        if loop_round.answer or loop_round.streaming
        else (Content.styled("(no answer)", MUTED),)
        if loop_round.is_decided
        else ()
    )
    return Block(f"round {loop_round.turn} answer", text=loop_round.answer, body=body, indent=1, gap=False)


def _judge_blocks(loop_round: Round, name: str, *, unfolded: bool) -> list[Block]:
    blocks: list[Block] = []
    if loop_round.is_decided and loop_round.beside:
        outside = Block(f"{name} beside", Content.styled("said outside the answer", MUTED), text=loop_round.beside)
        outside.folded, outside.gap = not unfolded, unfolded
        blocks.append(outside)
    judged = "\n\n".join(loop_round.judged)
    if judged and len(judged) <= SHORT and "\n" not in judged.strip():
        title = Content.assemble(("judge  ", MUTED), one_line(judged.strip(), SHORT, MUTED))
        blocks.append(Block(f"{name} judge", title, gap=False))
    elif judged:
        words = Content.assemble(("judge  ", MUTED), one_line(loop_round.judged[-1], 60, MUTED))
        title = words if not unfolded else Content.styled("judge", MUTED)
        block = Block(f"{name} judge", title, text=judged, style=MUTED, gap=unfolded)
        block.folded = not unfolded
        blocks.append(block)
    return blocks


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
        """What is shown."""
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
