"""Numbers as a reader sees them: rounded, with the interval that belongs to them, and never more than is known."""

from console.core.run import Summary, Tally
from console.core.statistics.intervals import Interval
from console.core.statistics.sample import sample_of_counts
from console.suites.headline import headline_of

_BARS = "▁▂▃▄▅▆▇█"
_EIGHTHS = "▏▎▍▌▋▊▉"


def score(interval: Interval | None) -> str:
    """Return a rate with half of its 95 % interval, such as `.821 ±.069`; `—` when nothing is graded."""
    if interval is None:
        return "—"
    if interval.low is None or interval.high is None:
        return rate(interval.value)
    return f"{rate(interval.value)} ±{rate((interval.high - interval.low) / 2)}"


def headline(*summaries: Summary) -> str:
    """Return the figure that runs of one suite are known by, taken together.

    That is their pass rate; of what nobody passes or fails, such as creativity loops, the mean of the suite's score.
    Several runs have no interval together: they may have played the same cases.
    """
    weighted = [(summary.scores[name], summary.tally.finished) for summary in summaries if (name := scored_by(summary))]
    if weighted:
        total = sum(value * finished for value, finished in weighted)
        return f"mean {number(total / max(sum(finished for _, finished in weighted), 1))}"
    if len(summaries) == 1:
        return score(summaries[0].tally.rate)
    pooled = sample_of_counts(*(summary.tally.counts for summary in summaries))
    return rate(pooled.mean) if pooled.cases else "—"


def scored_by(summary: Summary) -> str:
    """Return the score that a run is known by in place of passing; empty: passing."""
    return headline_of(summary.scores, summary.headline)


def rate(value: float) -> str:
    """Return a rate with three decimals and no leading zero."""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text.replace("-0.", "-.")


def number(value: float) -> str:
    """Return a score as short as it is readable: `87`, `.31`, `12.5`."""
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if abs(value) < 1:
        text = f"{value:.2f}"
        return "0" if float(text) == 0 else text.replace("0.", ".", 1)
    return f"{value:.1f}" if abs(value) < 1e6 else f"{value:.2e}"


def money(cost_usd: float | None, *, at_least: bool = False) -> str:
    """Return a sum of money, `≥` before a lower bound, `—` when nothing is known."""
    if cost_usd is None:
        return "—"
    sign = "≥" if at_least else ""
    if cost_usd == 0:
        return f"{sign}$0.00"
    if cost_usd < 0.01:
        return f"{sign}${cost_usd:.4f}".removesuffix("0")
    return f"{sign}${cost_usd:.3f}" if cost_usd < 0.1 else f"{sign}${cost_usd:,.2f}".replace(",", " ")


def spent(tally: Tally) -> str:
    """Return what a run cost: a lower bound when some rollouts' cost is unknown, words when all are."""
    if tally.cost_unknown and tally.cost_usd == 0:
        return "cost unknown"
    return money(tally.cost_usd, at_least=tally.cost_unknown > 0)


def count(value: float) -> str:
    """Return a count: thinly grouped below a hundred thousand, then `184 k`, `1.91 M`."""
    if value < 100_000:
        return f"{round(value):,}".replace(",", " ")
    if value < 1_000_000:
        return f"{value / 1000:.0f} k"
    return f"{value / 1_000_000:.2f} M"


def duration(seconds: float) -> str:
    """Return a measured time: `0.4 s`, `12 s`, `4:12`, `1:02:07`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def about(seconds: float | None) -> str:
    """Return an estimated time in words that claim no more than is known; empty when nothing is."""
    if seconds is None:
        return ""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {round(seconds / 10) * 10} s"
    minutes = seconds / 60
    if minutes < 90:
        return f"about {max(1, round(minutes))} min"
    return f"about {minutes / 60:.1f} h"


def sparkline(values: list[float | None], width: int, top: float | None = None) -> str:
    """Return the last values as bars, at most `width` of them; a space where a value is missing."""
    shown = values[-width:] if width > 0 else []
    present = [value for value in shown if value is not None]
    if not present:
        return ""
    highest = top if top is not None else max(max(present), 1e-9)
    return "".join(" " if value is None else _bar(value / highest if highest > 0 else 0.0) for value in shown)


def _bar(share: float) -> str:
    return _BARS[max(0, min(len(_BARS) - 1, int(share * len(_BARS))))]


def bar(share: float, width: int) -> str:
    """Return a horizontal bar of at most `width` cells, to an eighth of a cell; never empty for a share above 0."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest - 1] if rest else "")


def plural(value: int, word: str) -> str:
    """Return a count with its word: `1 case`, `5 000 cases`."""
    return f"{count(value)} {word}{'' if value == 1 else 's'}"
