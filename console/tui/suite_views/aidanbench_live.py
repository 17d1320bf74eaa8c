"""AidanBench's loops as they are played: rounds as they are written, a row for each question, where its scores stand.

`LoopLiveView` is its shape of Live. `LoopBlocks` keeps a transcript in step with the conversation of a loop, as
`PassageDrawer` does with any other; prompts, which repeat all earlier answers, and the judge's words are one line each
until they are unfolded.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from textual.content import Content

from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.loops import NOVELTY, SCORES, Measure, Round, Rounds, answer_so_far, rounds_left
from console.insight.overview import Overview
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout, Track
from console.insight.sort_orders import SortOrder
from console.tui.render import lines
from console.tui.render.columns import Column
from console.tui.render.conversation import passage_block
from console.tui.render.lines import stacked
from console.tui.render.rollout_rows import last_words, spoken_cell, state_mark
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS, bar, spark
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import ConversationDrawer
from console.tui.widgets.block import Block
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"
GAUGE_WIDTH = 10
FIRST_WORDS = 60
"""Cells of the nearest answer that are shown."""
_SHORT = {"coherence": "coh", "novelty": "nov", "llm_novelty": "llm"}


def gauge(measure: Measure, width: int = GAUGE_WIDTH) -> Content:
    """Return a bar of the value on its scale, with a tick where the threshold is."""
    value, threshold = measure.value or 0.0, measure.threshold
    top = 100.0 if max(value, threshold or 0.0) > 1 else 1.0
    empty = "." if SYMBOLS.is_ascii else "░"
    drawn = bar(max(value, 0.0) / top, width)[:width].ljust(width, empty)
    shown = Content.styled(drawn, "$live" if measure.passes else "$fail")
    if threshold is None:
        return shown
    place = min(int(threshold / top * width), width - 1)
    tick = Content.styled("|" if SYMBOLS.is_ascii else "│", "bold" if measure.passes else "bold $fail")
    return shown[:place].append(tick).append(shown[place + 1 :])


def gauges(loop_round: Round, width: int = GAUGE_WIDTH) -> Content:
    """Return all scores of a round on one line: `coh 66 ███│░░  nov .24 ██│░░`."""
    parts: list[Content] = []
    for name in SCORES:
        measure = loop_round.measures.get(name)
        if measure is not None:
            parts.append(Content.assemble((f"{_SHORT[name]} ", MUTED), _value(measure), " ", gauge(measure, width)))
    return Content("  ").join(parts)


def _value(measure: Measure) -> Content:
    if measure.value is None:
        return Content.styled("  ?", "$undecided")
    low = "" if measure.passes else SYMBOLS.failed
    return Content.styled(
        f"{low}{number_format.number(measure.value)}".rjust(3), "bold" if measure.passes else "bold $fail"
    )


def head_line(loop_round: Round, state: str = "") -> tuple[Content, Content]:
    """Return the title of a round, and what stands at the right end of it: its scores, or what is going on."""
    style = "bold $fail" if loop_round.is_decided and loop_round.accepted is False else "bold"
    title = Content.styled(f"round {loop_round.turn + 1}", style)
    if loop_round.measures:
        return title, gauges(loop_round, GAUGE_WIDTH if len(loop_round.measures) < len(SCORES) else GAUGE_WIDTH // 2)
    return title, one_line(state, 60, "$live")


def nearest_line(loop_round: Round) -> Content | None:
    """Return which earlier answer is nearest, how alike, and its first words."""
    if loop_round.nearest is None:
        return None
    alike = f", {number_format.number(loop_round.similarity)} alike" if loop_round.similarity is not None else ""
    words = f"nearest earlier answer: round {loop_round.nearest + 1}{alike}  "
    return Content.assemble((words, MUTED), one_line(loop_round.nearest_answer, FIRST_WORDS, f"italic {MUTED}"))


def end_line(loop_round: Round) -> Content | None:
    """Return why the loop ended with this round; None when it goes on or nobody knows yet."""
    if not loop_round.is_decided or loop_round.accepted:
        return None
    words = one_line(reason_words(loop_round.reason), 200)
    if loop_round.accepted is None:
        return Content.assemble((f"{SYMBOLS.undecided} undecided: ", "bold $undecided"), words)
    official = one_line(f"  {loop_round.reason}", 80, MUTED)
    return Content.assemble((f"{SYMBOLS.stopped} not accepted: ", "bold $fail"), words.stylize("bold"), official)


def trouble_line(passage: Passage) -> Content:
    """Return one failed try."""
    assert passage.kind is PassageKind.TRY
    then = f", again in {passage.threshold:.0f} s" if passage.threshold is not None else ", given up"
    words = one_line(reason_words(passage.head), 80, "$broken")
    return Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), words, (then, MUTED), "  ").append(
        one_line(passage.text, 300, MUTED)
    )


def loop_state(state: str, why: str) -> str:
    """Return in words what a loop is doing."""
    return why or {"asking": "asking", "streaming": "writing", "": ""}.get(state, state)


def prompt_title(loop_round: Round, earlier: int) -> Content:
    """Return what the folded prompt of a round is called."""
    words = f"asked again, with {number_format.plural(earlier, 'earlier answer')}" if earlier else "asked"
    return Content.styled(words, MUTED)


NAME_WIDTH = 22
BAR_WIDTH = 20
_STEPS = 4
"""Bars of the distribution of lengths."""


def ending_lines(rollouts: Sequence[Rollout], width: int) -> list[Content]:
    """Return how often each reason ended a loop, most frequent first, with a bar."""
    ended = [(rollout.reason, _kind(rollout.outcome)) for rollout in rollouts if rollout.outcome is not None]
    counts = Counter(ended).most_common()
    most = counts[0][1] if counts else 1
    endings: list[Content] = []
    for (reason, outcome), count in counts:
        style = OUTCOME_STYLES[outcome] if outcome in (Outcome.BROKEN, Outcome.UNDECIDED) else ""
        words = one_line(reason_words(reason, outcome), 40, style)
        label = lines.fit(words, min(NAME_WIDTH + 10, max(width - BAR_WIDTH - 10, 12)))
        endings.append(label.append_text(f" {count:>4}  ", "bold").append_text(bar(count / most, BAR_WIDTH), "$live"))
    return endings or [Content.styled("none has ended yet", MUTED)]


def _kind(outcome: Outcome) -> Outcome:
    """A loop that was judged to its end is one kind, whether its first answer was accepted or not."""
    return Outcome.PASSED if outcome.is_graded else outcome


def length_lines(rollouts: Sequence[Rollout]) -> list[Content]:
    """Return the distribution of accepted answers over graded loops: `1-5 ███  6-10 █████`, on one line."""
    counts = _lengths(rollouts)
    if not counts:
        return [Content.styled("nothing graded yet", MUTED)]
    ordered = sorted(counts)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    mean = sum(ordered) / len(ordered)
    words = f"mean {number_format.number(mean)}   median {number_format.number(middle)}   best {ordered[-1]}"
    size = max(-(-max(ordered[-1], 1) // _STEPS), 1)
    bins = Counter(max(count - 1, 0) // size for count in ordered)
    most = max(bins.values())
    shown: list[Content] = []
    for place in range(max(bins) + 1):
        first, last = place * size + (place > 0), (place + 1) * size
        share, label = bins[place] / most, f"{first}-{last}" if first < last else f"{last}"
        shown.append(
            Content.assemble((f"{label} ", MUTED), (bar(share, 6) or SYMBOLS.not_run, "$live"), f" {bins[place]}")
        )
    return [Content(words), Content("   ").join(shown)]


def _lengths(rollouts: Iterable[Rollout]) -> list[int]:
    return [accepted(rollout) for rollout in rollouts if rollout.outcome is not None and rollout.outcome.is_graded]


def accepted(rollout: Rollout) -> int:
    """Return how many answers of a loop were accepted."""
    score = rollout.scores.get("aidanbench_score")
    if score is not None:
        return round(score)
    track = rollout.tracks.get(NOVELTY)
    return len(track.values) if track is not None else 0


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


SOON_ROUNDS = 3
"""A score that at its pace meets its threshold in fewer rounds is marked as falling."""
NOVELTY_WIDTH = 13
_OTHER_ROLES = frozenset({"judging", "embedding"})
"""What other models than the examined one do."""

LOOP_COLUMNS = (
    Column("", 1),
    Column("#", 3, right=True),
    Column("question", 20, 4),
    Column("round", 5, right=True),
    Column("coh", 4, right=True),
    Column("nov", 4, right=True),
    Column("novelty", NOVELTY_WIDTH),
    Column("says now", 10, 4),
)


def loop_cells(rollout: Rollout, now: float, *, live: bool = True) -> tuple[Content, ...]:
    """Return the cells of LOOP_COLUMNS as they are at a time."""
    novelty = rollout.tracks.get("novelty", Track())
    return (
        state_mark(rollout, live=live),
        Content.styled(str(rollout.order + 1), MUTED),
        one_line(rollout.title or str(rollout.key), 200),
        Content(str(len(novelty.values)) if novelty.values else ""),
        _score_cell(rollout.tracks.get("coherence")),
        _score_cell(novelty, falls=live and rollout.is_running),
        Content.styled(spark(novelty.values, NOVELTY_WIDTH, 1.0), "$live"),
        _now_cell(rollout, now, live),
    )


def _score_cell(track: Track | None, *, falls: bool = False) -> Content:
    """Return the last value; marked when it is too low, and if `falls` matters, when it will soon be."""
    if track is None or not track.values:
        return Content("")
    if track.last is None:
        return Content.styled("?", "$undecided")
    low = track.threshold is not None and track.last <= track.threshold
    left = rounds_left(track.values, track.threshold) if falls and not low else None
    if left is not None and left < SOON_ROUNDS:
        return Content.styled(
            f"{'v' if SYMBOLS.is_ascii else '▾'}{number_format.number(track.last)}", "bold $undecided"
        )
    return Content.styled(
        f"{SYMBOLS.failed if low else ''}{number_format.number(track.last)}", "bold $fail" if low else ""
    )


def _now_cell(rollout: Rollout, now: float, live: bool) -> Content:
    """Return what a loop does in words, else its own words; once it has ended, why."""
    if live and rollout.is_running and not rollout.why:
        word = rollout.state if rollout.state in _OTHER_ROLES else ""
        if word or not rollout.says:
            spent = number_format.duration(max(now - rollout.since, 0)) if rollout.since and not word else ""
            return one_line(f"{word or rollout.state or 'begun'} {spent or f'round {rollout.turn + 1}'}", 60, MUTED)
        return one_line(last_words(answer_so_far(rollout.says)), 200)
    return spoken_cell(rollout, now)


TREND_WIDTH = 24
_FAR = 30
"""Rounds beyond which an estimate says nothing."""
_WITHIN = 1.5


def trend_lines(rollout: Rollout | None, *, live: bool) -> Content:
    """Return one line for every score of a loop; only one that is being played has an outlook."""
    if rollout is None:
        return Content.empty()
    trends = [
        _line(name, rollout.tracks[name], goes_on=live and rollout.is_running)
        for name in SCORES
        if name in rollout.tracks
    ]
    return Content("\n").join(trends)


def outlook_words(rollout: Rollout) -> Content:
    """Return in a few words which score of a running loop will meet its threshold first, and when; empty if none."""
    scores = [(_left(track), name) for name, track in rollout.tracks.items() if name in SCORES]
    falling = sorted((left, name) for left, name in scores if left is not None)
    if not falling or not rollout.is_running:
        return Content.empty()
    left, name = falling[0]
    about = "~" if SYMBOLS.is_ascii else "≈"
    when = f"{about}{number_format.plural(max(round(left), 1), 'round')} left"
    return Content.styled(f"{name.replace('llm_', 'judge ')} {when}", _urgency(left))


def _left(track: Track) -> float | None:
    """Return how many rounds are left if the score goes on falling as it does; None when nobody can tell."""
    if track.last is None or track.threshold is None or track.last <= track.threshold:
        return None
    left = rounds_left(track.values, track.threshold)
    return None if left is None or left > _FAR else left


def _urgency(left: float) -> str:
    return "$undecided" if left < 3 else MUTED


def _line(name: str, track: Track, *, goes_on: bool) -> Content:
    label = Content.styled(f"{name.replace('llm_', 'judge ')} ".ljust(10), MUTED)
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


MOST_ENDINGS = 5
"""Reasons for the end of a loop that are listed."""


class LoopLiveView:
    """Rows, conversations and figures of a run of loops."""

    rows_title: str = "Loops"
    columns: tuple[Column, ...] = LOOP_COLUMNS

    def __init__(self) -> None:
        """Sort by how near a loop is to its end, besides the usual orders."""
        self.sort_orders = (SortOrder("closest to stopping", _distance_to_end, goes_to_first=True),)

    def row_cells(self, rollout: Rollout, now: float, *, live: bool) -> tuple[Content, ...]:
        """Return question, round, last scores, the course of novelty, and what the loop does."""
        return loop_cells(rollout, now, live=live)

    def conversation_drawer(self, transcript: Transcript) -> ConversationDrawer:
        """Return what draws a loop round by round."""
        return LoopBlocks(transcript)

    def watched_words(self, rollout: Rollout | None) -> Content:
        """Return the question, the round, and why the loop ended or which score will end it."""
        if rollout is None:
            return Content("")
        again = f" #{rollout.key.rollout + 1}" if rollout.key.rollout else ""
        name = one_line(f"{rollout.order + 1}  {rollout.title or rollout.key}", 40, "bold").append(again)
        where = Content.styled(f"round {rollout.turn + 1}" if rollout.turn else "", MUTED)
        if rollout.outcome is not None:
            spent = number_format.duration(rollout.seconds) if rollout.seconds else ""
            ending = reason_words(rollout.reason) if rollout.reason else rollout.ending
            return stacked([name, where, one_line(ending, 60, MUTED), Content(spent)])
        return stacked([name, where, one_line(rollout.why or rollout.state, 60, MUTED), outlook_words(rollout)])

    def average(self, overview: Overview) -> Content:
        """Return how many answers were accepted in a loop on average: of graded loops, as in `length_lines`."""
        lengths = _lengths(overview.rollouts.values())
        if not lengths:
            return Content.empty()
        return Content.styled(f"mean {number_format.number(sum(lengths) / len(lengths))} answers", "bold")

    def trend(self, rollout: Rollout | None, *, live: bool) -> Content:
        """Return one line for every score, with about how long the loop can go on."""
        return trend_lines(rollout, live=live)

    def facts(self, rollouts: Sequence[Rollout], width: int) -> list[Content]:
        """Return why loops ended and how many answers they have."""
        return [*ending_lines(rollouts, width)[:MOST_ENDINGS], *length_lines(rollouts)]


def _distance_to_end(rollout: Rollout) -> tuple[bool, float]:
    """Return how near a loop is to its nearest threshold, ended ones last."""
    gaps = [
        (track.last - track.threshold) / (100.0 if track.threshold > 1 else 1.0)
        for track in rollout.tracks.values()
        if track.last is not None and track.threshold is not None
    ]
    return not rollout.is_running, min(gaps, default=1.0)
