"""`FormScreen`: the form while it is filled in — its fields, what is wrong with them, and the forecast that follows.

The forecast is worked out in a thread, one at a time, once typing rests; what it refuses is said at the field.
"""

import asyncio
from functools import cached_property
from typing import ClassVar

from console.config.preset import Preset
from console.core.fault import UsageError
from console.engine.forecast import Forecast, foresee
from console.engine.matrix import plans_of
from console.suites.modes import modes_of
from console.suites.suite import Option
from console.tui.data.catalog_items import Models, Suites
from console.tui.sanitize import literal
from console.tui.screens.base import BaseScreen
from console.tui.screens.launch.choice_lists import ModelChoice, SuiteChoice
from console.tui.screens.launch.field import Field
from console.tui.screens.launch.field_list import FieldList
from console.tui.screens.launch.form import Form
from console.tui.screens.launch.role_check import RoleCheck
from console.tui.screens.launch.settings import field_of
from console.tui.services import Services

_PAUSE_S = 0.15
"""How long typing must rest before the forecast is worked out again."""


class FormScreen(BaseScreen):
    """The part of the screen; see the module."""

    where = "launch"
    AUTO_FOCUS: ClassVar[str | None] = "#launch-models"

    def __init__(self, services: Services) -> None:
        """Start with an empty form."""
        super().__init__(services)
        self.form = Form()
        """What the reader has chosen so far."""
        self.fields: list[Field] = []
        self.forecast: Forecast | None = None
        """What it will take; None while that is not known."""
        self._words = ""
        self._change = 0
        """Number of the last change; a forecast of an older one is not shown."""
        self._is_working = False

    @property
    def models(self) -> Models:
        """Models, as far as they are read."""
        return self.services.workspace.models or Models()

    @property
    def suites(self) -> Suites:
        """Suites, as far as they are read."""
        return self.services.workspace.suites or Suites()

    @property
    def mistakes(self) -> list[str]:
        """What must be mended before anything can start. May hold foreign text."""
        return self.form.mistakes(self.fields)

    @property
    def preset(self) -> Preset:
        """What the form amounts to; only while there are no mistakes."""
        return self.form.preset(self.fields, self.suites)

    @property
    def refusals(self) -> list[tuple[str, str]]:
        """Why what is filled in cannot start, and what would help. Foreign text."""
        labels = {one.id: one.label for one in self.fields}
        found = self.forecast.refusals if self.forecast else []
        places = [labels.get(field_of(one, self.fields)) or one.where for one in found]
        return [
            (f"{where}: {one.message}" if where else one.message, one.hint)
            for where, one in zip(places, found, strict=True)
        ]

    @cached_property
    def asking(self) -> RoleCheck:
        """What is served of the models of other roles."""
        return RoleCheck(self.services.workspace, self._take_doubts)

    @property
    def doubts(self) -> list[str]:
        """Why judge or embedding may not answer, as far as their servers have said. Foreign text."""
        return self.asking.doubts(self.forecast.models) if self.forecast else []

    def _take_doubts(self) -> None:
        if self.is_running and self.is_mounted:
            self.show_outlook()

    # To be answered by the screen ------------------------------------------------------------------------------------

    def show_outlook(self) -> None:
        """Draw what stands under or beside the form."""

    def forecast_came(self) -> None:
        """Do what waited for the forecast."""

    # Changes ---------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Take any change of the form into account."""
        self._learn_suites()
        self.form.refused.clear()
        self.fields = self.form.fields(self.models, self.services.workspace.runs or [])
        self.show_lists()
        self.query_one(FieldList).offer(self.fields)
        self.forecast = None
        self._change += 1
        self.show_outlook()
        # A task of the loop, not a timer, which a busy machine loses.
        asyncio.get_running_loop().call_later(_PAUSE_S, self._rested, self._change)
        self.refresh_keys()

    def show_lists(self) -> None:
        """Draw both lists."""
        self.query_one(ModelChoice).offer(self.services.workspace.models, self._words)
        self.query_one(SuiteChoice).offer(self.services.workspace.suites, self._words)

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow both lists."""
        self._words = text
        self.show_lists()

    def _learn_suites(self) -> None:
        """Ask the chosen suites for their options and the roles they need."""
        catalog = self.suites.catalog
        for name in self.form.suites:
            if catalog is None or name in self.form.options:
                continue
            try:
                suite = catalog.open(name)
                self.form.options[name] = suite.options
                self.form.modes[name] = modes_of(suite)
                self.form.roles[name] = suite.roles(_defaults(suite.options))
            except UsageError as error:
                self.form.options[name] = ()
                self.services.notify(literal(str(error), 600), severity="error")

    # The forecast ----------------------------------------------------------------------------------------------------

    def _rested(self, change: int) -> None:
        if self.is_running and self.is_mounted and change == self._change and not self._is_working:
            self._start_forecast()

    def _start_forecast(self) -> None:
        """Work out what the form would take, one at a time: a whole benchmark takes seconds to read."""
        if self.mistakes:
            return
        self._is_working = True
        preset, places, workspace, change = (
            self.preset,
            self.services.paths,
            self.services.workspace,
            self._change,
        )

        def work() -> None:
            try:
                found = foresee(plans_of(preset, places), lambda: self._change != change)
            except UsageError as error:
                found = Forecast(refusals=[error])
            workspace.hand_over(self._take_forecast, change, found)

        workspace.in_thread(work)

    def _take_forecast(self, change: int, forecast: Forecast | None) -> None:
        self._is_working = False
        if not self.is_running:
            return
        if change != self._change or forecast is None:
            self._start_forecast()
            return
        self.forecast = forecast
        self.asking.ask(forecast.models)
        self.form.refused = {
            id: refusal.message + (f". {refusal.hint}" if refusal.hint.startswith("Did you mean") else "")
            for refusal in forecast.refusals
            if (id := field_of(refusal, self.fields))
        }
        self.query_one(FieldList).offer(self.fields)
        self.show_outlook()
        self.refresh_keys()
        self.forecast_came()


def _defaults(options: tuple[Option, ...]) -> dict[str, object]:
    return {option.name: option.default for option in options}
