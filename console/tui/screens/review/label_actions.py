"""Actions of Review on labels: a chosen model labels the listed failures with their causes.

No requests are made before the user has confirmed the price. Labels are opinions: they group the list and change no
result.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from textual.content import Content

from console.core.fault import UsageError
from console.insight import number_format
from console.insight.judging import judge_name
from console.store.runs import RunFolder
from console.tui.data.label_session import LabelForecast, LabelProgress, LabelResult, LabelSession
from console.tui.data.models import read_models
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render import row_cells
from console.tui.sanitize import one_line
from console.tui.screens.review.case_actions import StartWorker
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.stale import Stale
from console.tui.services import Services
from console.tui.symbols import SYMBOLS, muted

_LOOK_EVERY_S = 0.5
_ROOM_ABOVE = 2.0
"""Maximum cost as a multiple of the estimate, since reasoning models write more."""
_LEAST_CAP_USD = 0.01


@dataclass
class LabelActions:
    """Starts and stops labeling, and removes labels."""

    services: Services
    folder: RunFolder
    session: LabelSession
    controller: ReviewController
    start: StartWorker
    """Starts a dialog, or follows the labeling."""
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""
    _progress: LabelProgress | None = None

    @property
    def progress(self) -> str:
        """Progress as text; empty if labeling is not running."""
        if self._progress is None:
            return ""
        of = f"/{self._progress.planned}" if self._progress.planned else ""
        cost = self._progress.cost_usd
        return f"labeling {self._progress.done}{of}" + (f"  {number_format.money(cost)}" if cost != 0 else "")

    def follow_running(self) -> None:
        """Follow labeling that is already running."""
        if self._progress is None and self.session.is_running:
            self.start(self._follow(), group="labels")

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_label_ask(self) -> None:
        if self.session.is_running:
            self.services.notify(Content("Failures of this run are being labeled; X then s stops it."))
        else:
            self.start(self._ask(), group="label")

    def action_label_blind(self) -> None:
        if self.controller.run is not None:
            self.start(self._label_blind(), group="label")

    def action_label_stop(self) -> None:
        if not self.session.is_running:
            self.services.notify(Content("No labeling is running."))
            return
        try:
            self.session.stop()
        except UsageError as error:
            self.services.refuse(error)

    def action_label_undo(self) -> None:
        if self.session.is_running:
            self.services.notify(Content("Failures of this run are being labeled; X then s stops it."))
            return
        self.start(self._remove_labels(), group="label")

    async def _label_blind(self) -> None:
        from console.tui.screens.review.label_screen import LabelScreen

        await self.services.ask(LabelScreen(self.services, self.folder))
        self.controller.read_notes()
        self.controller.relist()
        self.controller.mark_stale(Stale.CASE)
        self.controller.mark_stale(Stale.FIGURES)
        self.draw()

    # In workers ------------------------------------------------------------------------------------------------------

    async def _ask(self) -> None:
        model = await self._choose_model()
        if not model:
            return
        triage = self.controller.triage
        terms = f"{triage.scope.text} {triage.narrow.text}".strip()
        self.services.notify(Content.assemble("Estimating the cost of ", one_line(model, 40, "bold"), " …"))
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
        """Choose one of the models that are ready; return an empty string if the user chose none."""
        from console.tui.dialogs.filter_dialog import Chooser

        models = self.services.workspace.models
        if models is None:
            models = await asyncio.to_thread(read_models, self.services.paths)
        title = Content("Which model should label the listed failures with their causes?")
        rows = {line.name: row_cells.model_cells(line) for line in models.lines if line.ready}
        run = self.controller.run
        judge = judge_name(run.manifest) if run is not None else ""
        if judge in rows or (run is not None and run.manifest.simulated):  # the simulated judge is not in the workspace
            price = rows.pop(judge)[-1] if judge in rows else muted("free")
            mark, words = Content.styled(SYMBOLS.passed, "$pass"), muted("the judge of the run")
            rows = {judge: (mark, one_line(judge, 60), words, price), **rows}
        chosen = await self.services.ask(
            Chooser(title, row_cells.MODELS, rows, "No model is ready. e on Home opens models.toml.")
        )
        return chosen or ""

    async def _follow(self) -> None:
        """Show the progress, then the result."""
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

    async def _remove_labels(self) -> None:
        model, count = self.session.last_labels()  # not in a thread: a key typed next answers the question
        if not count:
            self.services.notify(Content("There are no labels to remove."))
            return
        words = number_format.plural(count, "label")
        text = Content.assemble("Remove ", (words, "bold"), " by ", one_line(model, 40, "bold"), "?")
        if not await self.services.ask(Question(text, [Answer("y", "remove them")])):
            return
        try:
            await asyncio.to_thread(self.session.take_back, model)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.controller.read_notes()
        self.controller.relist()
        self.controller.mark_stale(Stale.CASE)
        self.services.notify(Content.assemble(words, " by ", one_line(model, 40), " removed."))
        self.draw()


def _cap(forecast: LabelForecast) -> float | None:
    """Return the spending limit; None if the calls are free or their cost is unknown."""
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
    before = f"\n{forecast.labelled_before} are already labeled." if forecast.labelled_before else ""
    return Content.assemble(
        "Show ",
        (number_format.plural(forecast.calls, "failure"), "bold"),
        " to ",
        one_line(forecast.model, 40, "bold"),
        "?\n",
        f"about {tokens}, ",
        (_price(forecast, cap), "bold"),
        before,
        "\nIt names the cause of each. Labels are opinions and change no result.",
    )


def _nothing_left(forecast: LabelForecast) -> Content:
    if forecast.labelled_before:
        return Content.assemble("All listed failures are already labeled by ", one_line(forecast.model, 40), ".")
    return Content("No listed failure can be labeled.")


def _result_words(result: LabelResult) -> Content:
    if result.message:
        return Content.assemble("Nothing was labeled: ", one_line(result.message, 300))
    if not result.model:
        return Content("Stopped; existing labels are kept. o then l groups by label.")
    by = f"{result.model}, simulated" if result.simulated else result.model
    cost = "" if result.simulated else f", {number_format.money(result.cost_usd)}"
    words = Content.assemble(f"{result.labelled} labeled by ", one_line(by, 50), cost)
    if result.without_label:
        words = words.append(f", {len(result.without_label)} without a label")
    if result.stopped:
        words = words.append("; stopped: ").append(one_line(result.stopped, 200))
    return words.append(". o then l groups by label." if result.labelled else "")
