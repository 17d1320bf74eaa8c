"""Statistics over a run's loops: reasons for ending, and numbers of accepted answers."""

from collections import Counter
from collections.abc import Iterable, Sequence

from textual.content import Content

from console.benchmarks.aidanbench.view.loops import NOVELTY
from console.core.outcome import Outcome
from console.insight import number_format
from console.insight.reasons import reason_words
from console.insight.rollout import Rollout
from console.tui.render import lines
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, bar, muted

NAME_WIDTH = 22
BAR_WIDTH = 20
_STEPS = 4
"""Number of bins in the distribution of lengths."""


def ending_lines(rollouts: Sequence[Rollout], width: int) -> list[Content]:
    """Return the reasons why loops ended, most frequent first, with counts and bars."""
    ended = [(rollout.reason, _kind(rollout.outcome)) for rollout in rollouts if rollout.outcome is not None]
    counts = Counter(ended).most_common()
    most = counts[0][1] if counts else 1
    endings: list[Content] = []
    for (reason, outcome), count in counts:
        style = OUTCOME_STYLES[outcome] if outcome in (Outcome.BROKEN, Outcome.UNDECIDED) else ""
        words = one_line(reason_words(reason, outcome), 40, style)
        label = lines.fit(words, min(NAME_WIDTH + 10, max(width - BAR_WIDTH - 10, 12)))
        endings.append(label.append_text(f" {count:>4}  ", "bold").append_text(bar(count / most, BAR_WIDTH), "$live"))
    return endings or [muted("none has ended yet")]


def _kind(outcome: Outcome) -> Outcome:
    """Treat passed and failed alike, since both are fully judged loops."""
    return Outcome.PASSED if outcome.is_graded else outcome


def length_lines(rollouts: Sequence[Rollout]) -> list[Content]:
    """Return the mean, median, best and distribution (`1-5 ███  6-10 █████`) of accepted answers over graded loops."""
    counts = accepted_counts(rollouts)
    if not counts:
        return [muted("nothing graded yet")]
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


def accepted_counts(rollouts: Iterable[Rollout]) -> list[int]:
    """Return the number of accepted answers in each graded loop."""
    return [accepted(rollout) for rollout in rollouts if rollout.outcome is not None and rollout.outcome.is_graded]


def accepted(rollout: Rollout) -> int:
    """Return the number of accepted answers in a loop."""
    score = rollout.scores.get("aidanbench_score")
    if score is not None:
        return round(score)
    track = rollout.tracks.get(NOVELTY)
    return len(track.values) if track is not None else 0
