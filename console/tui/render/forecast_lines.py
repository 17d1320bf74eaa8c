"""Lines of the forecast of new runs: size, price, checks, refusals and trial results."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.engine.forecast import Forecast, RunForecast
from console.insight import number_format
from console.insight.looks import expected_words
from console.insight.planning import detectable_words, doubling_words
from console.tui.data.sample_run import SampleRun
from console.tui.render import lines
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted, outcome_counts

_MOST_RUNS = 12
"""Maximum number of runs listed individually."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """Results of checking a form before its runs start. All strings may be untrusted."""

    mistakes: Sequence[str] = ()
    """Errors to correct in the form."""
    refusals: Sequence[tuple[str, str]] = ()
    """Errors that prevent a start, each with its hint."""
    forecast: Forecast | None = None
    """The forecast; None while it is being computed."""
    sample_runs: Sequence[SampleRun] = ()
    role_warnings: Sequence[str] = ()
    """Reasons why the judge or embedding model may fail."""
    is_starting: bool = False


def preflight_lines(preflight: Preflight, *, width: int, wide: bool) -> list[Content]:
    """Return the lines, each `width` cells: the full report if `wide`, else the essentials."""
    forecast, sample_runs = preflight.forecast, preflight.sample_runs
    if preflight.is_starting:
        return [Content.styled("starting …", "bold $live")]
    if preflight.mistakes:
        mark = (f"{SYMBOLS.not_ready} ", MUTED)
        return [Content.assemble(mark, one_line(mistake, 200)) for mistake in preflight.mistakes]
    if forecast is None:
        return [muted("estimating …")]
    if preflight.refusals:
        return _refusals(preflight.refusals)
    if wide:
        return [*_matrix(forecast, width), Content.empty(), *_sums(forecast, width), *_detectable(forecast, width),
                *_protocols(forecast, width), *_basis(forecast).wrap(width), *_overspend(forecast, width),
                *_warnings(preflight.role_warnings), *_sample_runs(sample_runs, width),
                *_warnings(forecast.warnings)]  # fmt: skip
    if sample_runs:
        return [_sample_run_line(sample_run, width) for sample_run in sample_runs]
    sizes = [_size(forecast).append("   ").append(_price(forecast, with_bound=words)) for words in (True, False)]
    size = next((line for line in sizes if line.cell_length <= width), sizes[-1])
    bound = f"at most: {forecast.bound}; " if size is sizes[-1] and forecast.most_usd is not None else ""
    first_lines = [size, *(_protocols(forecast, width) or [_tokens(forecast)])]  # a protocol's line includes tokens
    basis = lines.fit(muted(bound).append(_basis(forecast)), width)
    warnings = [*_warnings(preflight.role_warnings), *_warnings(forecast.warnings)]
    cap = [lines.fit(one_line(forecast.overspend, 400, MUTED), width)] if forecast.overspend else []
    return [*first_lines, *warnings, basis, *([] if warnings else [*cap, *_detectable(forecast, width)[:1]])]


def _basis(forecast: Forecast) -> Content:
    return one_line(f"estimated {'; '.join(forecast.bases)}", 400, MUTED)


def _overspend(forecast: Forecast, width: int) -> list[Content]:
    """Return by how much the caps can be exceeded."""
    return list(one_line(forecast.overspend, 400, MUTED).wrap(width)) if forecast.overspend else []


def _detectable(forecast: Forecast, width: int) -> list[Content]:
    """Return the smallest difference detectable in the run with the least power, and the gain from doubling."""
    ends = [expected_words(run.looks, run.calls) for run in forecast.runs if run.looks is not None]
    if ends:
        return [line for text in dict.fromkeys(ends) for line in one_line(text, 200, MUTED).wrap(width)]
    plans = [run.detectable for run in forecast.runs if run.detectable is not None and run.detectable.cases]
    if not plans:
        return []
    plan = max(plans, key=lambda plan: plan.difference())
    words = (detectable_words(plan), doubling_words(plan))
    return [line for text in words for line in one_line(text, 200, MUTED).wrap(width)]


def _refusals(refusals: Sequence[tuple[str, str]]) -> list[Content]:
    shown: list[Content] = []
    for head, hint in refusals:
        shown.append(Content.assemble((f"{SYMBOLS.failed} ", "bold $fail"), one_line(head, 200)))
        shown += [one_line(hint, 200, MUTED)] if hint else []
    return shown


def _warnings(texts: Sequence[str]) -> list[Content]:
    return [Content.assemble((f"{SYMBOLS.broken} ", "$fail"), one_line(text, 300, MUTED)) for text in texts]


def _size(forecast: Forecast) -> Content:
    runs = f" in {len(forecast.runs)} runs" if len(forecast.runs) > 1 else ""
    calls = number_format.plural(round(forecast.calls), "request")
    noun = "rollout" if any(run.rollouts > 1 for run in forecast.runs) else "case"
    cases = number_format.with_setup(number_format.plural(forecast.cases, noun), forecast.setup)
    return Content.assemble((cases, "bold"), f"{runs}, about {calls}")


def _tokens(forecast: Forecast) -> Content:
    return Content.assemble(
        "about ", number_format.count(forecast.input_tokens), (" tokens in, ", MUTED),
        number_format.count(forecast.output_tokens), (" out", MUTED),
    )  # fmt: skip


def _price(forecast: Forecast, *, with_bound: bool = True) -> Content:
    if all(run.simulated for run in forecast.runs):
        return Content.styled("simulated, free", f"italic {MUTED}")
    if forecast.is_free:
        return muted("free")
    if not forecast.unpriced:
        about = Content.assemble("about ", (number_format.money(forecast.cost_usd), "bold"))
        terms = ", ".join(dict.fromkeys(run.terms for run in forecast.runs if run.terms))
        about = about.append_text(number_format.terms_words(terms), MUTED)
        if forecast.most_usd is None:
            return about
        most = Content.assemble(", at most ", (number_format.money(forecast.most_usd), "bold"))
        return about.append(most).append(one_line(f": {forecast.bound}", 60, MUTED) if with_bound else "")
    least = number_format.money(forecast.cost_usd, at_least=True) if forecast.cost_usd else "price unknown"
    names = ", ".join(forecast.unpriced)
    return Content.assemble((least, "bold $fail"), ("; no price for ", MUTED), one_line(names, 40, MUTED))


def _protocols(forecast: Forecast, width: int) -> list[Content]:
    """Return the price, requests and tokens by protocol, for suites with several protocols."""
    names = dict.fromkeys(name for run in forecast.runs for name in run.protocols)
    first = max(map(len, names), default=0) + 2
    shown: list[Content] = []
    for name in names:
        by_protocol = Forecast([run.protocols[name] for run in forecast.runs if name in run.protocols])
        calls = number_format.plural(round(by_protocol.calls), "request")
        price = _price_word(by_protocol.cost_usd, unknown="price unknown" if by_protocol.unpriced else "")
        words = Content.assemble((name.ljust(first), MUTED), price, (f"  {calls}", MUTED))
        together = Content.assemble(words, "  ", _tokens(by_protocol))
        fits = together.cell_length <= width
        shown += [together] if fits else [words, Content("  ").append(_tokens(by_protocol))]
    return shown


def _price_word(cost_usd: float, *, unknown: str) -> Content:
    """Return a short price; `unknown` is the text for a missing price, or empty if no price is missing."""
    if unknown:
        return Content.styled(number_format.money(cost_usd, at_least=True) if cost_usd else unknown, "$fail")
    return Content(number_format.money(cost_usd)) if cost_usd else muted("free")


def _checks(gap: str) -> Content:
    """Return the checks passed without calling the model."""
    words = ("keys found", "cases read", "options fit")
    return Content(gap).join([Content.assemble((f"{SYMBOLS.passed} ", "$pass"), (word, MUTED)) for word in words])


# The box -------------------------------------------------------------------------------------------------------------


def _matrix(forecast: Forecast, width: int) -> list[Content]:
    """Return a table with one line per run."""
    counts = max([5, *(len(_count(run)) for run in forecast.runs)])
    room = max(width - counts - 11, 12)
    longest = max((len(run.model) for run in forecast.runs), default=0)
    first = max(min(max((len(run.suite) for run in forecast.runs), default=0), room - longest), room // 2)
    head = _row(Content("suite"), Content("model"), "cases", Content("cost"), (first, room - first, counts))
    rows = [_run(run, (first, room - first, counts)) for run in forecast.runs[:_MOST_RUNS]]
    left = len(forecast.runs) - len(rows)
    more = [muted(f"and {left} more")] if left else []
    return [head.stylize_before(MUTED), *rows, *more]


def _run(run: RunForecast, widths: tuple[int, int, int]) -> Content:
    cost = _price_word(run.cost_usd, unknown="unknown" if run.unpriced else "")
    return _row(one_line(run.suite, 60), one_line(run.model, 60), _count(run), cost, widths)


def _count(run: RunForecast) -> str:
    cases = f"{number_format.count(run.cases)}{f'+{number_format.count(run.setup)}' if run.setup else ''}"
    return cases + (f"×{run.rollouts}" if run.rollouts > 1 else "")


def _row(suite: Content, model: Content, cases: str, cost: Content, widths: tuple[int, int, int]) -> Content:
    return Content.assemble(
        lines.fit_name(suite, widths[0]), " ", lines.fit_name(model, widths[1]), " ",
        lines.fit_text(cases, widths[2], right=True), lines.fit(cost, 9, right=True),
    )  # fmt: skip


def _sums(forecast: Forecast, width: int) -> list[Content]:
    totals = [_size(forecast), _tokens(forecast), *_price(forecast).wrap(width)]
    return [*totals, Content.empty(), _checks("   ")] if width >= 46 else [*totals, _checks("\n")]


def _sample_runs(sample_runs: Sequence[SampleRun], width: int) -> list[Content]:
    if not sample_runs:
        hint = Content.assemble(("t", "bold $focus"), (" tries three cases of each for real", MUTED))
        return [Content.empty(), hint]
    title = Content.styled("TRIED FOR REAL", "bold")
    return [Content.empty(), title, *(_sample_run_line(sample_run, width) for sample_run in sample_runs)]


def _sample_run_line(sample_run: SampleRun, width: int) -> Content:
    """Return the outcomes, duration and cost of a sample run."""
    tally = sample_run.tally
    who = Content.assemble(one_line(sample_run.model, 24), " ", one_line(sample_run.suite, 24, MUTED))
    if sample_run.problem:
        result = Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), one_line(sample_run.problem, 200))
    elif not sample_run.is_over:
        result = Content.styled(f"{SYMBOLS.running} {tally.finished} of {sample_run.planned}", "$live")
    else:
        shown = [Content.styled(f"{mark} {count}", style) for mark, count, style in outcome_counts(tally) if count]
        money = number_format.money(tally.cost_usd, at_least=tally.cost_unknown > 0)
        cost = "" if sample_run.simulated else f"  {money}"
        outcome = Content(" ").join(shown or [muted("nothing was run")])
        result = Content.assemble(outcome, (f"  {number_format.duration(sample_run.seconds)}{cost}", MUTED))
    name = lines.fit(who, max(min(width // 2, 36), 12))
    return Content.assemble(name, "  ", result)
