"""AidanBench's version of Live: a row per question, rounds as they are streamed, and score trends."""

from collections.abc import Sequence

from textual.content import Content

from console.benchmarks.aidanbench.view.endings import accepted_counts, ending_lines, length_lines
from console.benchmarks.aidanbench.view.loops import NOVELTY, SCORES, Round, Rounds, answer_so_far, rounds_left
from console.benchmarks.aidanbench.view.rounds import answer_block, end_line, loop_state, round_blocks
from console.core.run import Manifest
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout, Track
from console.insight.sort_orders import SortOrder
from console.tui.render.block import Block
from console.tui.render.columns import Column
from console.tui.render.lines import stacked
from console.tui.render.rollout_rows import last_words, spoken_cell, state_mark
from console.tui.sanitize import one_line
from console.tui.suite_views.conversation_blocks import passage_block
from console.tui.suite_views.suite_view import ConversationDrawer
from console.tui.symbols import MUTED, SYMBOLS, muted, spark
from console.tui.widgets.transcript import Transcript

MOST_ENDINGS = 5
"""Maximum number of listed reasons for ending."""

# Rows ----------------------------------------------------------------------------------------------------------------

SOON_ROUNDS = 3
"""A score expected to reach its threshold in fewer rounds is marked as falling."""
NOVELTY_WIDTH = 13
_OTHER_ROLES = frozenset({"judging", "embedding"})
"""States of a loop in which a model other than the evaluated one is working."""
LOOP_COLUMNS = (
    Column("", 1),
    Column("#", 3, right=True),
    Column("question", 20, 4),
    Column("round", 5, right=True),
    Column("coh", 4, right=True),
    Column("nov", 4, right=True),
    Column("novelty", NOVELTY_WIDTH),
    Column("says now", 10, 4, worth=11),
)


def _score_cell(track: Track | None, *, falls: bool = False) -> Content:
    """Return the last value, marked if it is too low or, with `falls`, if it soon will be."""
    if track is None or not track.values:
        return Content("")
    if track.last is None:
        return Content.styled("?", "$undecided")
    low = track.threshold is not None and track.last <= track.threshold
    left = rounds_left(track.values, track.threshold) if falls and not low else None
    if left is not None and left < SOON_ROUNDS:
        return Content.styled(f"▾{number_format.number(track.last)}", "bold $undecided")
    return Content.styled(
        f"{SYMBOLS.failed if low else ''}{number_format.number(track.last)}", "bold $fail" if low else ""
    )


def _now_cell(rollout: Rollout, now: float, live: bool) -> Content:
    """Return the activity of a loop: the tail of its answer while it runs, the reason for a wait, or why it ended."""
    if live and rollout.is_running and not rollout.why:
        word = rollout.state if rollout.state in _OTHER_ROLES else ""
        if word or not rollout.recent_text:
            spent = number_format.duration(max(now - rollout.since, 0)) if rollout.since and not word else ""
            return one_line(f"{word or rollout.state or 'begun'} {spent or f'round {rollout.turn + 1}'}", 60, MUTED)
        return one_line(last_words(answer_so_far(rollout.recent_text)), 200)
    return spoken_cell(rollout, now)


# Score trends --------------------------------------------------------------------------------------------------------

TREND_WIDTH = 24
_FAR = 30
"""Rounds beyond which an estimate is meaningless."""
_WITHIN = 1.5
"""Rounds below which the estimate is shown as `within a round`."""


def outlook_words(rollout: Rollout) -> Content:
    """Return which score of a running loop will reach its threshold first, and when; empty if none is falling."""
    scores = [(_left(track), name) for name, track in rollout.tracks.items() if name in SCORES]
    falling = sorted((left, name) for left, name in scores if left is not None)
    if not falling or not rollout.is_running:
        return Content.empty()
    left, name = falling[0]
    when = f"≈{number_format.plural(max(round(left), 1), 'round')} left"
    return Content.styled(f"{name.replace('llm_', 'judge ')} {when}", _urgency(left))


def _left(track: Track) -> float | None:
    """Return the estimated number of rounds until the score reaches its threshold; None if unknown."""
    if track.last is None or track.threshold is None or track.last <= track.threshold:
        return None
    left = rounds_left(track.values, track.threshold)
    return None if left is None or left > _FAR else left


def _urgency(left: float) -> str:
    return "$undecided" if left < 3 else MUTED


def _line(name: str, track: Track, *, goes_on: bool) -> Content:
    label = muted(f"{name.replace('llm_', 'judge ')} ".ljust(10))
    values = [value for value in track.values if value is not None]
    top = 100.0 if name not in (NOVELTY, "llm_novelty") else max([1.0, *values])
    drawn = spark(track.values, TREND_WIDTH, top)
    line = label.append_text(drawn.ljust(min(max(len(drawn), 13), TREND_WIDTH)), "$live").append("  ")
    return line.append(_standing(track)).append(_outlook(track) if goes_on else Content.empty())


def _standing(track: Track) -> Content:
    if track.last is None:
        return Content.styled("not known", "$undecided")
    now = number_format.number(track.last)
    if track.threshold is None:
        return Content.styled(now, "bold")
    limit = number_format.number(track.threshold)
    if track.last > track.threshold:
        return Content.assemble((f"{now}", "bold"), (f" > {limit}", MUTED))
    return Content.styled(f"{SYMBOLS.failed} {now} not over {limit}", "bold $fail")


def _outlook(track: Track) -> Content:
    left = _left(track)
    if left is None:
        return Content.empty()
    words = "at the threshold within a round" if left < _WITHIN else f"at this pace about {round(left)} rounds left"
    return Content.styled(f"   {words}", _urgency(left))


# Streamed rounds -----------------------------------------------------------------------------------------------------


class LoopBlocks:
    """Keeps a transcript in sync with the conversation of a loop, as `PassageDrawer` does with any other.

    Prompts, which repeat all earlier answers, and the judge's replies are folded.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.compact = False
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
        self._conversation = conversation
        self._begin()
        if conversation is None:
            self.transcript.show([], follow=False)
            return
        self.transcript.show(self._blocks(conversation), follow=follow)

    def update(self) -> None:
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
        """Fold or unfold prompts and the judge's replies, keeping the round at the top."""
        if self._conversation is None:
            return
        top = self.transcript.block_at_top()
        self.unfolded = not self.unfolded
        self._begin()
        self.transcript.show(self._blocks(self._conversation), keep_place=True)
        if top is not None and not self.transcript.follow:
            self.transcript.scroll_to_block(" ".join(top.key.split(" ")[:2]))

    def _blocks(self, conversation: Conversation) -> list[Block]:
        """Return all blocks, redrawing only changed rounds; other blocks are reused with their wrapping."""
        self._state = loop_state(conversation.state, conversation.why)
        first = self._rounds.add(conversation.passages)
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
        """Return the round whose answer is being streamed, with its text so far."""
        tail: Sequence[Passage] = [passage for passage in conversation.tail() if passage.role == "model"]
        if not tail:
            return None
        turn = tail[0].turn
        begun = next((earlier for earlier in self._rounds.rounds if earlier.turn == turn), None)
        reply = "".join(passage.text for passage in tail if passage.kind is PassageKind.ASSISTANT)
        thought = "".join(passage.text for passage in tail if passage.kind is PassageKind.REASONING)
        failed_tries = begun.failed_tries if begun else []
        prompt = begun.prompt if begun else ""
        return Round(turn, prompt=prompt, reply=reply, streaming=True, reasoning=thought, failed_tries=failed_tries)


# The view ------------------------------------------------------------------------------------------------------------


class LoopLiveView:
    """Rows, conversations and statistics of a run of loops."""

    rows_title: str = "Loops"
    columns: tuple[Column, ...] = LOOP_COLUMNS

    def __init__(self) -> None:
        self.sort_orders = (SortOrder("closest to stopping", _distance_to_end, goes_to_first=True),)

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return question, round, latest scores, novelty sparkline, and current activity."""
        novelty = rollout.tracks.get(NOVELTY, Track())
        return (
            state_mark(rollout, live=live),
            muted(str(rollout.order + 1)),
            one_line(rollout.title or str(rollout.key), 200),
            Content(str(len(novelty.values)) if novelty.values else ""),
            _score_cell(rollout.tracks.get("coherence")),
            _score_cell(novelty, falls=live and rollout.is_running),
            Content.styled(spark(novelty.values, NOVELTY_WIDTH, 1.0), "$live"),
            _now_cell(rollout, now, live),
        )

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        return LoopBlocks(transcript)

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return the question, the round, and why the loop ended or which score may end it."""
        if rollout is None:
            return Content("")
        again = f" #{rollout.key.rollout + 1}" if rollout.key.rollout else ""
        name = one_line(f"{rollout.order + 1}  {rollout.title or rollout.key}", 40, "bold").append(again)
        where = muted(f"round {rollout.turn + 1}" if rollout.turn else "")
        if rollout.outcome is not None:
            spent = number_format.duration(rollout.seconds) if rollout.seconds else ""
            ending = reason_words(rollout.reason) if rollout.reason else rollout.ending
            return stacked([name, where, one_line(ending, 60, MUTED), Content(spent)])
        return stacked([name, where, one_line(rollout.why or rollout.state, 60, MUTED), outlook_words(rollout)])

    def average(self, overview: Overview, manifest: Manifest) -> Content:
        """Return the mean number of accepted answers over graded loops."""
        del manifest
        lengths = accepted_counts(overview.rollouts.values())
        if not lengths:
            return Content.empty()
        return Content.styled(f"mean {number_format.number(sum(lengths) / len(lengths))} answers", "bold")

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return one line per score, with the estimated number of rounds left."""
        if rollout is None:
            return Content.empty()
        trends = [
            _line(name, rollout.tracks[name], goes_on=live and rollout.is_running)
            for name in SCORES
            if name in rollout.tracks
        ]
        return Content("\n").join(trends)

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return the reasons for ending and the distribution of lengths."""
        return [*ending_lines(rollouts, width)[:MOST_ENDINGS], *length_lines(rollouts)]


def _distance_to_end(rollout: Rollout) -> tuple[bool, float]:
    """Return the sort key by distance to the nearest threshold, ended loops last."""
    gaps = [
        (track.last - track.threshold) / (100.0 if track.threshold > 1 else 1.0)
        for track in rollout.tracks.values()
        if track.last is not None and track.threshold is not None
    ]
    return not rollout.is_running, min(gaps, default=1.0)
