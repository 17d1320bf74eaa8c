"""What the keys of Review do with labels: a model that the reader chose reads the listed failures, after a question.

Nobody is asked before the reader has seen the price. Labels are opinions: they group the list and change no result.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from textual.content import Content

from console.core.fault import UsageError
from console.insight import number_format
from console.tui.data.label_session import LabelForecast, LabelProgress, LabelResult, LabelSession
from console.tui.data.models import read_models
from console.tui.dialogs.small_dialogs import Answer, Chooser, Question
from console.tui.render import row_cells
from console.tui.sanitize import one_line
from console.tui.screens.review.case_actions import StartWorker
from console.tui.screens.review.controller import ReviewController, Stale
from console.tui.services import Services
from console.tui.symbols import SYMBOLS, muted

_LOOK_EVERY_S = 0.5
_ROOM_ABOVE = 2.0
"""Times the estimate that may be spent before it stops by itself: a model that reasons writes more."""
_LEAST_CAP_USD = 0.01


@dataclass
class LabelActions:
    """Has failures labelled, stops that, and takes labels back."""

    services: Services
    session: LabelSession
    controller: ReviewController
    start: StartWorker
    """Starts what asks in a dialog or follows the labelling."""
    draw: Callable[[], None]
    """Draws what is stale."""
    _progress: LabelProgress | None = None

    @property
    def progress(self) -> str:
        """How far it is, in words; empty while nobody is asked."""
        if self._progress is None:
            return ""
        of = f" of {self._progress.planned}" if self._progress.planned is not None else ""
        return f"labelled {self._progress.done}{of} …"

    def follow_running(self) -> None:
        """Follow labelling that goes on already."""
        if self._progress is None and self.session.is_running:
            self.session.take_up()
            self.start(self._follow(), group="labels")

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_label_ask(self) -> None:
        """Have a model label the listed failures."""
        if self.session.is_running:
            self.services.notify(Content("Failures of this run are being labelled; X then s stops that."))
        else:
            self.start(self._ask(), group="label")

    def action_label_stop(self) -> None:
        """Stop asking; what is labelled is kept."""
        if not self.session.is_running:
            self.services.notify(Content("Nobody is asked for labels now."))
            return
        try:
            self.session.stop()
        except UsageError as error:
            self.services.refuse(error)

    def action_label_undo(self) -> None:
        """Take back the labels of the model that labelled last."""
        if self.session.is_running:
            self.services.notify(Content("Failures of this run are being labelled; X then s stops that."))
            return
        self.start(self._take_back(), group="label")

    # In workers ------------------------------------------------------------------------------------------------------

    async def _ask(self) -> None:
        model = await self._choose_model()
        if not model:
            return
        triage = self.controller.triage
        terms = f"{triage.scope.text} {triage.narrow.text}".strip()
        self.services.notify(Content.assemble("Working out what ", one_line(model, 40, "bold"), " would cost …"))
        try:
            forecast = await asyncio.to_thread(self.session.forecast, model, terms)
            if not forecast.calls:
                self.services.notify(_nothing_left(forecast))
                return
            cap = _cap(forecast)
            if not await self.services.ask(Question(_question(forecast, cap), [Answer("y", "ask")])):
                return
            await asyncio.to_thread(self.session.start, forecast, terms, cap)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.start(self._follow(), group="labels")

    async def _choose_model(self) -> str:
        """Let the reader choose among the models that are ready; an empty text when nothing was chosen."""
        models = self.services.workspace.models
        if models is None:
            models = await asyncio.to_thread(read_models, self.services.paths)
        title = Content("Which model reads the listed failures, and says what caused each?")
        rows = {line.name: row_cells.model_cells(line) for line in models.lines if line.ready}
        judge, run = self.controller.judge_name, self.controller.run
        if judge in rows or (run is not None and run.manifest.simulated):  # the simulated judge is in no list
            price = rows.pop(judge)[-1] if judge in rows else muted("free")
            mark, words = Content.styled(SYMBOLS.passed, "$pass"), muted("the judge of the run")
            rows = {judge: (mark, one_line(judge, 60), words, price), **rows}
        chosen = await self.services.ask(
            Chooser(title, row_cells.MODELS, rows, "No model is ready. e on Home opens models.toml.")
        )
        return chosen or ""

    async def _follow(self) -> None:
        """Show how far it is until it has ended, then what came of it."""
        while True:
            progress = await asyncio.to_thread(self.session.look)
            if self._progress is None or progress.done != self._progress.done or not progress.is_running:
                self.controller.read_notes()
                self.controller.relist()
                self.controller.mark_stale(Stale.CASE)
            self._progress = progress if progress.is_running else None
            self.controller.mark_stale(Stale.FIGURES)
            self.draw()
            if not progress.is_running:
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        result = await asyncio.to_thread(self.session.result)
        mistake = result.message or result.stopped
        self.services.notify(_result_words(result), severity="warning" if mistake else "information")

    async def _take_back(self) -> None:
        model, count = self.session.last_labels()  # not in a thread: a key typed next answers the question
        if not count:
            self.services.notify(Content("There are no labels to take back."))
            return
        words = number_format.plural(count, "label")
        text = Content.assemble("Take back ", (words, "bold"), " of ", one_line(model, 40, "bold"), "?")
        if not await self.services.ask(Question(text, [Answer("y", "take them back")])):
            return
        try:
            await asyncio.to_thread(self.session.take_back, model)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.controller.read_notes()
        self.controller.relist()
        self.controller.mark_stale(Stale.CASE)
        self.services.notify(Content.assemble(words, " of ", one_line(model, 40), " taken back."))
        self.draw()


def _cap(forecast: LabelForecast) -> float | None:
    """Return what may be spent; None where nothing is paid or nobody knows how much."""
    if not forecast.cost_usd:
        return None
    return round(max(_ROOM_ABOVE * forecast.cost_usd, _LEAST_CAP_USD), 4)


def _price(forecast: LabelForecast, cap: float | None) -> str:
    if forecast.simulated:
        return "simulated, free"
    if forecast.cost_usd is None:
        return "price unknown"
    stops = f"; stops at {number_format.money(cap)}" if cap is not None else ""
    return f"about {number_format.money(forecast.cost_usd)}{stops}" if forecast.cost_usd else "free"


def _question(forecast: LabelForecast, cap: float | None) -> Content:
    tokens = (
        f"{number_format.count(forecast.input_tokens)} tokens in, {number_format.count(forecast.output_tokens)} out"
    )
    before = f"\n{forecast.labelled_before} are labelled already." if forecast.labelled_before else ""
    return Content.assemble(
        "Show ",
        (number_format.plural(forecast.calls, "failure"), "bold"),
        " to ",
        one_line(forecast.model, 40, "bold"),
        "?\n",
        f"about {tokens}, ",
        (_price(forecast, cap), "bold"),
        before,
        "\nIt says what caused each. An opinion: no result is changed.",
    )


def _nothing_left(forecast: LabelForecast) -> Content:
    if forecast.labelled_before:
        return Content.assemble("All that is listed is labelled by ", one_line(forecast.model, 40), " already.")
    return Content("No failure is listed that could be labelled.")


def _result_words(result: LabelResult) -> Content:
    if result.message:
        return Content.assemble("Nothing was labelled: ", one_line(result.message, 300))
    if not result.model:
        return Content("Stopped; what was labelled is kept, o then l groups by it.")
    by = f"{result.model}, simulated" if result.simulated else result.model
    cost = "" if result.simulated else f", {number_format.money(result.cost_usd)}"
    words = Content.assemble(f"{result.labelled} labelled by ", one_line(by, 50), cost)
    if result.without_label:
        words = words.append(f", {len(result.without_label)} without a label")
    if result.stopped:
        words = words.append("; stopped: ").append(one_line(result.stopped, 200))
    return words.append(". o then l groups by label.")
