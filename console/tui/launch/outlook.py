"""What stands under (or beside) the form before it starts: size, price, checks, and what must be mended first."""

from collections.abc import Sequence

from textual.content import Content

from console.insight import figures
from console.tui.launch.forecast import Forecast
from console.tui.marks import MARKS
from console.tui.safe import one_line


def outlook(mistakes: Sequence[str], forecast: Forecast | None, *, wide: bool, models: int) -> list[Content]:
    """Return the lines.

    Args:
        mistakes: what must be mended in the form; foreign parts (option names) are cleaned here.
        forecast: what was worked out; None while it is not known.
        wide: whether there is a box of its own, so that the lines may be many.
        models: how many models are chosen.
    """
    if mistakes:
        return [Content.assemble((f"{MARKS.not_ready} ", "$muted"), one_line(mistake, 200)) for mistake in mistakes]
    if forecast is None:
        return [Content.styled("working out what this will take …", "$muted")]
    if forecast.refusals:
        return _refusals(forecast)
    parts = [_size(forecast, models), _tokens(forecast), _price(forecast)]
    lines = parts if wide else [parts[0].append("    ").append(parts[2]), parts[1]]
    lines.append(_checks("\n" if wide else "   "))
    lines += [
        Content.assemble((f"{MARKS.broken} ", "$fail"), one_line(text, 200, "$muted")) for text in forecast.warnings
    ]
    if wide:
        lines += _first_case(forecast)
    return lines


def _refusals(forecast: Forecast) -> list[Content]:
    found: list[Content] = []
    for text in forecast.refusals:
        head, _, cure = text.partition("\n")
        found.append(Content.assemble((f"{MARKS.failed} ", "bold $fail"), one_line(head, 200)))
        if cure.strip():
            found.append(Content("  ").append(one_line(cure.strip(), 200, "$muted")))
    return found


def _size(forecast: Forecast, models: int) -> Content:
    cases = figures.plural(forecast.cases, "case")
    runs = f" in {forecast.runs} runs" if forecast.runs > 1 else ""
    of = f" for {models} models" if models > 1 else ""
    return Content.assemble((cases, "bold"), f"{of}{runs}, about {figures.plural(round(forecast.calls), 'request')}")


def _tokens(forecast: Forecast) -> Content:
    return Content.assemble(
        "about ", figures.count(forecast.input_tokens), (" tokens in, ", "$muted"),
        figures.count(forecast.output_tokens), (" out", "$muted"),
    )  # fmt: skip


def _price(forecast: Forecast) -> Content:
    if forecast.simulated and forecast.cost_usd == 0:
        return Content.styled("simulated, free", "italic $muted")
    if forecast.cost_usd is None:
        return Content.styled("price unknown: models.toml names none", "$fail")
    return Content.assemble("about ", (figures.money(forecast.cost_usd), "bold"))


def _checks(gap: str) -> Content:
    """What `prepare` has looked at, which is all that can be known without asking the model."""
    words = ("keys found", "cases read", "options fit")
    return Content(gap).join([Content.assemble((f"{MARKS.passed} ", "$pass"), (word, "$muted")) for word in words])


def _first_case(forecast: Forecast) -> list[Content]:
    id, title = forecast.first_case
    found = [Content.empty(), Content.styled("first case", "$muted"), one_line(id, 120)]
    return [*found, one_line(title, 600, "$muted")] if title else found
