"""Numbers as displayed: rounded, with their interval."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from console.core.looks import Look
from console.core.names import first_few
from console.core.outcome import Outcome
from console.core.price import dollars
from console.core.run import SIMULATED, Tally
from console.core.statistics.intervals import Interval
from console.insight.rollout import SETUP
from console.suites.suite import Metric

_FINE = 0.04
"""Width of an interval below which its bounds have three decimals."""
_BARS = "▁▂▃▄▅▆▇█"
_EIGHTHS = "▏▎▍▌▋▊▉"
_KINDS = ("rate", "count", "mean", "score")
"""Values of `Metric.unit` that are not shown."""


Show = Callable[[float], str]
"""Formats one number."""


def score(interval: Interval | None) -> str:
    """Return a rate with its 95 % interval, such as `.821 [.74 .88]`; `—` if nothing is graded."""
    return "—" if interval is None else with_interval(interval.value, interval.low, interval.high)


def with_interval(value: float, low: float | None, high: float | None, show: Show | None = None) -> str:
    """Format a number (a rate without `show`) with its interval, which has the same form in all rows of a column."""
    text = (show or rate)(value)
    return f"{text} {bounds(low, high, show)}".rstrip()


def bounds(low: float | None, high: float | None, show: Show | None = None) -> str:
    """Format an interval, such as `[.74 .88]`; empty if there is none."""
    if low is None or high is None:
        return ""
    write = show or _rate_bound(low, high)
    return f"[{write(low)} {write(high)}]"


def _rate_bound(low: float, high: float) -> Show:
    """Return the format of rate bounds: two decimals where a third is not needed."""
    decimals = 3 if high - low < _FINE else 2
    return lambda value: _without_zero(f"{value:.{decimals}f}")


def look_score(
    look: Look | None,
    headline: str,
    *,
    brief: bool = False,
    with_categories: bool = True,
    unit: str = "",
    mark: str = "",
) -> str:
    """Return the headline over the first rollouts of a run, such as `.741 (first 200 of 1,000)`; `–` before a look.

    Args:
        look: the newest look.
        headline: name of the score; empty for the pass rate.
        brief: omit the number of planned rollouts and the categories.
        with_categories: name the categories seen so far, if others are missing.
        unit: unit of the score.
        mark: appended to the number.
    """
    if look is None or look.value is None:
        return "–"
    first = f"first {count(look.rollouts)}"
    if not brief:
        first += f" of {count(look.planned)}{only_words(look) if with_categories else ''}"
    return f"{score_value(look.value, headline, unit)}{mark} ({first})"


def only_words(look: Look) -> str:
    """Return the categories seen by a look if it lacks others, such as `: only simple, multiple`."""
    return f": only {first_few(look.only)}" if look.only else ""


def score_value(value: float, headline: str, unit: str = "") -> str:
    """Format a headline without an interval: a rate, or the mean of a score."""
    return f"mean {number(value, unit)}" if headline else rate(value)


def rate(value: float) -> str:
    """Return a rate with three decimals and no leading zero."""
    return _without_zero(f"{value:.3f}")


def _without_zero(text: str) -> str:
    return text[1:] if text.startswith("0.") else text.replace("-0.", "-.")


def metric_value(value: float | None, unit: str) -> str:
    """Format a number of a report: `82.05%` for a rate, else significant digits; `N/A` for None."""
    if value is None:
        return "N/A"
    if unit not in _KINDS:
        return number(value, unit)
    return f"{value:.2%}" if unit == "rate" else f"{value:g}" if value == int(value) else f"{value:.4f}"


def metric_bounds(metric: Metric) -> str:
    """Format the interval of a number of a report, such as `[74.1% 88.0%]`; empty if there is none."""
    if metric.unit == "rate":
        return bounds(metric.low, metric.high, lambda bound: f"{bound:.1%}")
    return bounds(metric.low, metric.high, number if metric.unit in _KINDS else _measured)


def signed(value: float, show: Show) -> str:
    """Format a difference with its sign; a value displayed as zero has none."""
    size = show(abs(value))
    if not any(digit in size for digit in "123456789"):
        return size
    return f"{'+' if value > 0 else '−'}{size}"


def p_text(p: float) -> str:
    """Format a p value: `p = .032`, `p < .001`."""
    text = p_digits(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def p_digits(p: float) -> str:
    """Format a p value for a column: `.032`, `<.001`, `1`."""
    if p >= 0.995:
        return "1"
    if p < 0.001:
        return "<.001"
    return _without_zero(f"{p:.2f}" if p >= 0.095 else f"{p:.3f}")


def number(value: float, unit: str = "") -> str:
    """Format a score briefly: `87`, `.31`, `12.5`, `12.5 s`, `40%`, and if it is small with a unit `.0042 s`."""
    if unit:
        return f"{_measured(value)}{'' if unit == '%' else ' '}{unit}"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if abs(value) < 1:
        text = f"{value:.2f}"
        return "0" if float(text) == 0 else text.replace("0.", ".", 1)
    return f"{value:.1f}" if abs(value) < 1e6 else f"{value:.2e}"


def plain_number(value: float) -> str:
    """Format an amount or a time of a table, which may be small: `12.50`, `.0042`."""
    return _measured(value) if 0 < value < 0.1 else f"{value:.2f}"


def _measured(value: float) -> str:
    """Format a number that has a unit, which may be small."""
    if 1e-6 <= abs(value) < 0.1:
        return f"{float(f'{value:.2g}'):.10f}".rstrip("0").replace("0.", ".", 1)
    return number(value)


def money(cost_usd: float | None, *, at_least: bool = False) -> str:
    """Format an amount; `≥` marks a lower bound, `—` an unknown amount."""
    if cost_usd is None:
        return "—"
    return f"{'≥' if at_least else ''}{dollars(cost_usd)}"


def cost_of(cost_usd: float | None, simulated_note: str, *, at_least: bool = False) -> str:
    """Format what a part of a run cost, as `money` does; `simulated` if nothing was paid because its model is."""
    is_simulated = simulated_note == SIMULATED and cost_usd == 0 and not at_least
    return SIMULATED if is_simulated else money(cost_usd, at_least=at_least)


def is_free(tally: Tally, simulated_note: str) -> bool:
    """Return whether a run cost nothing because its model is simulated; a simulated judge does not make it free."""
    return simulated_note == SIMULATED and not tally.cost_usd and not tally.cost_unknown


def spent_amount(tally: Tally) -> str:
    """Format the cost of a run for a column: a lower bound if some costs are unknown, `—` if all are."""
    cost = tally.cost_usd if tally.cost_usd or not tally.cost_unknown else None
    return money(cost, at_least=tally.cost_unknown > 0)


def spent(tally: Tally, simulated_note: str = "", batch_terms: str = "") -> str:
    """Format the cost of a run: a lower bound if some costs are unknown, words if all are or nothing was paid."""
    if is_free(tally, simulated_note):
        return SIMULATED
    if tally.cost_unknown and tally.cost_usd == 0:
        return "cost unknown"
    return money(tally.cost_usd, at_least=tally.cost_unknown > 0) + terms_words(batch_terms)


def terms_words(batch_terms: str) -> str:
    """Return ` (half price, in batches)`, to follow a cost; empty if there are no batches."""
    return f" ({batch_terms}, in batches)" if batch_terms else ""


def count(value: float) -> str:
    """Format a count: grouped by commas below a hundred thousand, then `184 k`, `1.91 M`."""
    if value < 100_000:
        return f"{round(value):,}"
    if value < 1_000_000:
        return f"{value / 1000:.0f} k"
    return f"{value / 1_000_000:.2f} M"


def duration(seconds: float) -> str:
    """Format a measured time: `0.4 s`, `12 s`, `4:12`, `1:02:07`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def about(seconds: float | None) -> str:
    """Format an estimated time coarsely: `<5 s`, `~10 s`, `~4 min`; empty when unknown."""
    if seconds is None:
        return ""
    if seconds < 5:
        return "<5 s"
    if seconds < 55:
        step = 5 if seconds < 18 else 10
        return f"~{round(seconds / step) * step} s"
    minutes = seconds / 60
    if minutes < 90:
        return f"~{max(1, round(minutes))} min"
    return f"~{minutes / 60:.1f} h"


def sparkline(values: list[float | None], width: int, top: float | None = None) -> str:
    """Draw the last `width` values as bars, with a space for a missing value."""
    shown = values[-width:] if width > 0 else []
    present = [value for value in shown if value is not None]
    if not present:
        return ""
    highest = top if top is not None else max(max(present), 1e-9)
    return "".join(" " if value is None else _bar(value / highest if highest > 0 else 0.0) for value in shown)


def _bar(share: float) -> str:
    return _BARS[max(0, min(len(_BARS) - 1, int(share * len(_BARS))))]


def bar(share: float, width: int) -> str:
    """Draw a horizontal bar of at most `width` cells, in eighths of a cell; never empty for a share above 0."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest - 1] if rest else "")


def done(tally: Tally, planned: int, setup: int) -> str:
    """Format the number of planned rollouts that ended, setup separately: `390/508`, `0/12 + 4/10 setup`."""
    graded = max(planned - setup, 0)
    text = f"{count(tally.done)}/{count(graded)}"
    if tally.setup_done >= setup:
        return with_setup(text, setup)
    return f"{text} + {count(tally.setup_done)}/{count(setup)} setup"


def setup_words(tally: Tally) -> str:
    """Format how many setup rollouts ended well: `12 setup`, or `3 of 12 setup` if others broke or were not run."""
    of_all = f" of {count(tally.setup_done)}" if tally.setup_done > tally.setup else ""
    return f"{count(tally.setup)}{of_all} setup"


def with_setup(text: str, setup: int) -> str:
    """Format a count of graded cases with that of setup cases: `30 cases + 8 setup`."""
    return f"{text} + {count(setup)} setup" if setup else text


def failures(tally: Tally) -> str:
    """Format the counts of rollouts to review, never added up: `13 failed · 15 broken`; empty if there are none."""
    graded = {Outcome.FAILED: tally.failed, Outcome.BROKEN: tally.broken, Outcome.UNDECIDED: tally.undecided}
    return failures_by({**graded, SETUP: tally.broken_setup})


def failures_by(counts: Mapping[str | None, int]) -> str:
    """Format the counts of `failures`, given by `Rollout.counted_as`."""
    kinds = (Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED, SETUP)
    words = {SETUP: "setup broken"}
    return " · ".join(f"{count(counts[kind])} {words.get(kind, kind)}" for kind in kinds if counts.get(kind))


def not_spent(tally: Tally, left: int) -> float:
    """Estimate the cost in USD of the unplayed rollouts from that of the played ones."""
    return tally.cost_usd / tally.finished * left if tally.finished else 0.0


def not_spent_words(tally: Tally, left: int) -> str:
    """Return the estimated cost of the unplayed rollouts, such as ` (≈ $3.10)`; empty if they are free."""
    saved = not_spent(tally, left)
    return f" (≈ {dollars(saved)})" if saved else ""


def plural(value: int, word: str) -> str:
    """Format a count with its noun: `1 case`, `5,000 cases`."""
    return f"{count(value)} {word}{'' if value == 1 else 's'}"


def moment(at: float) -> str:
    """Format a time in seconds since 1970 as local date and time: `2026-01-17 14:20`."""
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
