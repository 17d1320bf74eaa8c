"""The right end of Review's top line: outcomes, rate, cost, and the position in the list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from console.core.looks import latest_look
from console.core.run import SIMULATED, Manifest
from console.core.statistics.repeats import pass_rates
from console.insight import number_format, run_number
from console.insight.overview import Overview
from console.tui.render.progress import outcome_words, short_cost
from console.tui.render.row_cells import bare_score
from console.tui.screens.review.controller import ReviewController
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, muted
from console.tui.widgets.top_line import SubjectWidths


@dataclass(frozen=True, slots=True)
class _Status:
    """The parts of the line, in order; empty ones are omitted."""

    outcomes: Content
    rate: Content
    repeats: Content
    cost: Content
    place: Content
    names: int
    """Width reserved for the names at the left end of the line."""

    @property
    def text(self) -> Content:
        parts = (self.outcomes, self.rate, self.repeats, self.cost, self.place)
        return Content("  ").append(Content("   ").join([part for part in parts if part]))


def status_text(
    controller: ReviewController,
    overview: Overview,
    manifest: Manifest,
    width: int,
    names: SubjectWidths,
    *,
    live: bool = False,
) -> Content:
    """Return what fits into `width` beside the names: words give way first, then names, then numbers."""
    tally = overview.fold.tally
    (rate, *shorter), repeats = _rates(controller, overview, manifest, live=live)
    shorter_rates = [{"rate": Content.styled(each, "bold")} for each in shorter]
    cost = short_cost(overview, manifest)
    amount = "" if cost == SIMULATED else cost.partition(", ")[0]
    brief = outcome_words(tally, with_setup=False, with_zeros=False)
    none, place = Content.empty(), _place_words(controller, "reviewed")
    status = _Status(
        outcome_words(tally),
        Content.styled(rate, "bold"),
        Content.styled(repeats, "bold"),
        muted(cost),
        place,
        names.whole,
    )
    for change in (
        {},
        *shorter_rates[:1],
        {"outcomes": outcome_words(tally, explains_setup=False)},
        {"outcomes": outcome_words(tally, with_setup=False)},
        {"outcomes": brief},
        {"cost": muted(amount)},
        {"names": names.cut},
        {"repeats": none},
        {"cost": none},
        {"place": _place_words(controller, "rev.")},
        {"names": names.least},
        *shorter_rates[1:],
        {"place": _place_words(controller, "")},
        {"rate": Content.styled(bare_score(rate), "bold")},
        {"rate": none},
        {"outcomes": none},
    ):
        status = replace(status, **change)
        if status.text.cell_length <= width - status.names:
            break
    return status.text


def _rates(
    controller: ReviewController, overview: Overview, manifest: Manifest, *, live: bool
) -> tuple[Sequence[str], str]:
    """Return the rate and shorter forms of it, and pass@k with pass^k of a run with repeats; empty if there is none."""
    fold = overview.fold
    if not controller.views.suite_view.has_pass_rate:
        return [""], ""
    if fold.is_shown_by_look(manifest, live=live):
        look = latest_look(fold.looks)
        lengths = number_format.look_score(look, ""), number_format.look_score(look, "", with_categories=False)
        return [*lengths, number_format.look_score(look, "", brief=True)], ""
    rate = run_number.pass_rate(fold, manifest)
    if (rates := pass_rates(fold.tally.cases)) is None:
        return [rate], ""
    k, at, every = rates
    return [rate], f"pass@{k} {number_format.rate(at)}  pass^{k} {number_format.rate(every)}"


def _place_words(controller: ReviewController, reviewed: str) -> Content:
    """Return the outcome shared by all rows, the position and the number reviewed: `✗ 2 of 38  15 reviewed`.

    Without a word for it, that number is omitted. Where a case has several rows, as one under each of its reasons has,
    `rows` says that they are counted.
    """
    triage, rollout = controller.triage, controller.cursor.rollout
    has_several_rows = triage.has_cases and triage.items > triage.listed
    is_alike = len(triage.outcomes) == 1 and not has_several_rows  # a sign would count the others too
    outcome = rollout.outcome if rollout is not None and is_alike else None
    sign = (f"{SYMBOLS.of(outcome)} ", OUTCOME_STYLES[outcome]) if outcome is not None else ""
    position = f"{number_format.count(triage.item_of(rollout))} of {number_format.count(triage.items)}"
    return Content.assemble(
        sign, (f"{position} rows" if has_several_rows else position, "bold"),
        (f"  {number_format.count(triage.seen)} {reviewed}" if reviewed else "", MUTED),
    )  # fmt: skip
