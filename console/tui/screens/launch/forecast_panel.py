"""What stands under (or beside) the form before it starts: size, price, checks, and what must be mended first."""

from collections.abc import Sequence

from textual.content import Content

from console.engine.forecast import Forecast, RunForecast
from console.insight import number_format
from console.tui.render import lines
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.launch.sample_run import SampleRun

_MOST_RUNS = 12
"""Runs that the box lists one by one."""


def outlook(
    mistakes: Sequence[str],
    refusals: Sequence[tuple[str, str]],
    forecast: Forecast | None,
    trials: Sequence[SampleRun],
    doubts: Sequence[str] = (),
    *,
    width: int,
    wide: bool,
) -> list[Content]:
    """Return the lines.

    Args:
        mistakes: what must be mended in the form; foreign parts (option names) are cleaned here.
        refusals: what the checks of a start refuse, each with its hint; foreign text.
        forecast: what was worked out; None while it is not known.
        trials: the cases that were tried for real, if any.
        doubts: why judge or embedding may not answer; foreign text.
        width: cells of a line.
        wide: whether there is a box of its own, so that the lines may be many.
    """
    if mistakes:
        return [Content.assemble((f"{SYMBOLS.not_ready} ", "$muted"), one_line(mistake, 200)) for mistake in mistakes]
    if forecast is None:
        return [Content.styled("working out what this will take …", "$muted")]
    if refusals:
        return _refusals(refusals)
    if wide:
        return [*_matrix(forecast, width), Content.empty(), *_sums(forecast, width), *_protocols(forecast, width),
                *_notices(doubts), *_tried(trials, width), *_notices(forecast.warnings)]  # fmt: skip
    if trials:
        return trial_lines(trials, width)
    size, protocols = _size(forecast).append("   ").append(_price(forecast)), _protocols(forecast, width)
    found = [size, *(protocols or [_tokens(forecast)])]  # that of the chosen protocol names the tokens, too
    return [*found, *(_notices(doubts) or [_checks("   ")]), *_notices(forecast.warnings)]


def _refusals(refusals: Sequence[tuple[str, str]]) -> list[Content]:
    found: list[Content] = []
    for head, hint in refusals:
        found.append(Content.assemble((f"{SYMBOLS.failed} ", "bold $fail"), one_line(head, 200)))
        found += [one_line(hint, 200, "$muted")] if hint else []
    return found


def _notices(texts: Sequence[str]) -> list[Content]:
    return [Content.assemble((f"{SYMBOLS.broken} ", "$fail"), one_line(text, 300, "$muted")) for text in texts]


def _size(forecast: Forecast) -> Content:
    runs = f" in {len(forecast.runs)} runs" if len(forecast.runs) > 1 else ""
    calls = number_format.plural(round(forecast.calls), "request")
    return Content.assemble((number_format.plural(forecast.cases, "case"), "bold"), f"{runs}, about {calls}")


def _tokens(forecast: Forecast) -> Content:
    return Content.assemble(
        "about ", number_format.count(forecast.input_tokens), (" tokens in, ", "$muted"),
        number_format.count(forecast.output_tokens), (" out", "$muted"),
    )  # fmt: skip


def _price(forecast: Forecast) -> Content:
    if all(run.simulated for run in forecast.runs):
        return Content.styled("simulated, free", "italic $muted")
    if forecast.is_free:
        return Content.styled("free", "$muted")
    if not forecast.unpriced:
        return Content.assemble("about ", (number_format.money(forecast.cost_usd), "bold"))
    known = number_format.money(forecast.cost_usd, at_least=True) if forecast.cost_usd else "price unknown"
    names = ", ".join(forecast.unpriced)
    return Content.assemble((known, "bold $fail"), ("; no price for ", "$muted"), one_line(names, 40, "$muted"))


def _protocols(forecast: Forecast, width: int) -> list[Content]:
    """Return what the runs would take by each protocol, where their suite offers several."""
    names = dict.fromkeys(name for run in forecast.runs for name in run.protocols)
    first = max(map(len, names), default=0) + 2
    found: list[Content] = []
    for name in names:
        other = Forecast([run.protocols[name] for run in forecast.runs if name in run.protocols])
        calls = number_format.plural(round(other.calls), "request")
        words = Content.assemble((name.ljust(first), "$muted"), _known(other), (f"  {calls}", "$muted"))
        together = Content.assemble(words, "  ", _tokens(other))
        found += [together] if together.cell_length <= width else [words, Content("  ").append(_tokens(other))]
    return found


def _known(forecast: Forecast) -> Content:
    """Return a price in a word."""
    if forecast.unpriced:
        known = number_format.money(forecast.cost_usd, at_least=True) if forecast.cost_usd else "price unknown"
        return Content.styled(known, "$fail")
    return (
        Content.styled("free", "$muted") if not forecast.cost_usd else Content(number_format.money(forecast.cost_usd))
    )


def _checks(gap: str) -> Content:
    """What a start has looked at, which is all that can be known without asking the model."""
    words = ("keys found", "cases read", "options fit")
    return Content(gap).join([Content.assemble((f"{SYMBOLS.passed} ", "$pass"), (word, "$muted")) for word in words])


# The box -------------------------------------------------------------------------------------------------------------


def _matrix(forecast: Forecast, width: int) -> list[Content]:
    """Return one line for each run, under names of columns."""
    room = max(width - 19, 12)
    longest = max((len(run.model) for run in forecast.runs), default=0)
    first = max(min(max((len(run.suite) for run in forecast.runs), default=0), room - longest), room // 2)
    head = _row(Content("suite"), Content("model"), "cases", Content("cost"), (first, room - first))
    rows = [_run(run, (first, room - first)) for run in forecast.runs[:_MOST_RUNS]]
    left = len(forecast.runs) - len(rows)
    more = [Content.styled(f"and {left} more", "$muted")] if left else []
    return [head.stylize_before("$muted"), *rows, *more]


def _run(run: RunForecast, widths: tuple[int, int]) -> Content:
    if run.unpriced:
        known = number_format.money(run.cost_usd, at_least=True) if run.cost_usd else "unknown"
        cost = Content.styled(known, "$fail")
    else:
        cost = Content.styled("free", "$muted") if not run.cost_usd else Content(number_format.money(run.cost_usd))
    times = f"{number_format.count(run.cases)}" + (f"×{run.rollouts}" if run.rollouts > 1 else "")
    return _row(one_line(run.suite, 60), one_line(run.model, 60), times, cost, widths)


def _row(suite: Content, model: Content, cases: str, cost: Content, widths: tuple[int, int]) -> Content:
    return Content.assemble(
        lines.fit(suite, widths[0]), " ", lines.fit(model, widths[1]), " ",
        lines.fit_text(cases, 8, right=True), lines.fit(cost, 9, right=True),
    )  # fmt: skip


def _sums(forecast: Forecast, width: int) -> list[Content]:
    together = [_size(forecast), _tokens(forecast), _price(forecast)]
    return [*together, Content.empty(), *[_checks("   ")]] if width >= 46 else [*together, _checks("\n")]


def _tried(trials: Sequence[SampleRun], width: int) -> list[Content]:
    if not trials:
        return [
            Content.empty(),
            Content.assemble(("t", "bold $focus"), (" tries three cases of each for real", "$muted")),
        ]
    return [Content.empty(), Content.styled("TRIED FOR REAL", "bold"), *trial_lines(trials, width)]


def trial_lines(trials: Sequence[SampleRun], width: int) -> list[Content]:
    """Return one line for each run that was tried: what came of it, and what it took."""
    return [_trial(trial, width) for trial in trials]


def _trial(trial: SampleRun, width: int) -> Content:
    tally = trial.tally
    who = Content.assemble(one_line(trial.model, 24), " ", one_line(trial.suite, 24, "$muted"))
    counts = [
        (SYMBOLS.passed, tally.passed, "$pass"),
        (SYMBOLS.failed, tally.failed, "$fail"),
        (SYMBOLS.broken, tally.broken, "$broken"),
        (SYMBOLS.undecided, tally.undecided, "$undecided"),
    ]
    if trial.problem:
        said = Content.assemble((f"{SYMBOLS.broken} ", "bold $broken"), one_line(trial.problem, 200))
    elif not trial.is_over:
        said = Content.styled(f"{SYMBOLS.running} {tally.finished} of {trial.planned}", "$live")
    else:
        shown = [Content.styled(f"{mark} {count}", style) for mark, count, style in counts if count]
        cost = "" if trial.simulated else f"  {number_format.money(tally.cost_usd, at_least=tally.cost_unknown > 0)}"
        said = Content(" ").join(shown or [Content.styled("nothing was played", "$muted")])
        said = Content.assemble(said, (f"  {number_format.duration(trial.seconds)}{cost}", "$muted"))
    name = lines.fit(who, max(min(width // 2, 36), 12))
    return Content.assemble(name, "  ", said)
