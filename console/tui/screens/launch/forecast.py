"""The forecast of the planned runs, computed in threads while the form is edited."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.engine.forecast import Forecast, forecast_runs
from console.engine.matrix import plans_of
from console.engine.role_warnings import RoleModelId, warnings_about
from console.tui.render.forecast_lines import Preflight, preflight_lines
from console.tui.sanitize import one_line
from console.tui.screens.launch.controller import ForecastRequest, LaunchController, RoleQuestion
from console.tui.screens.launch.fields import Field
from console.tui.services import Services
from console.tui.symbols import MUTED

_PAUSE_S = 0.15
"""Seconds without typing before the forecast is recomputed."""


@dataclass
class ForecastWorker:
    """Computes one forecast at a time, as reading a whole benchmark takes seconds."""

    services: Services
    controller: LaunchController
    forecast_came: Callable[[], None]
    """Called when the controller has a new forecast."""
    roles_checked: Callable[[], None]
    """Called when the controller has new results from servers."""
    _is_closed: bool = False

    def form_changed(self) -> None:
        """Recompute the forecast once typing pauses."""
        # Not Textual's timer, which may never fire on a busy machine.
        asyncio.get_running_loop().call_later(_PAUSE_S, self._typing_rested, self.controller.last_change)

    def close(self) -> None:
        """Stop permanently, because the form was closed."""
        self._is_closed = True

    def _typing_rested(self, change: int) -> None:
        if change == self.controller.last_change:
            self._begin()

    def _begin(self) -> None:
        request = None if self._is_closed else self.controller.next_forecast()
        if request is not None:
            self.services.workspace.in_thread(partial(self._work_out, request))

    def _work_out(self, request: ForecastRequest) -> None:
        try:
            plans = plans_of(request.preset, self.services.paths)
            forecast = forecast_runs(plans, lambda: self.controller.is_outdated(request))
        except UsageError as error:
            forecast = Forecast(refusals=[error])
        self.services.workspace.hand_over(self._use_forecast, request, forecast)

    def _use_forecast(self, request: ForecastRequest, forecast: Forecast | None) -> None:
        is_current = self.controller.use_forecast(request, forecast)
        if self._is_closed:
            return
        if not is_current:
            self._begin()
            return
        if (question := self.controller.next_role_question()) is not None:
            self.services.workspace.in_thread(partial(self._ask_servers, question))
        self.forecast_came()

    def _ask_servers(self, question: RoleQuestion) -> None:
        self.services.workspace.hand_over(self._add_answers, question, warnings_about(question.models))

    def _add_answers(self, question: RoleQuestion, warnings: Mapping[RoleModelId, str]) -> None:
        self.controller.role_check.add_answers(question, warnings)
        if not self._is_closed:
            self.roles_checked()


class ForecastPanel(Static):
    """Size, price and checks of the planned runs, or the errors that prevent a start."""

    def __init__(self) -> None:
        super().__init__(id="forecast")
        self.border_title = Content("Before it starts")

    def set_preflight(self, preflight: Preflight, field: Field | None, *, screen_width: int, wide: bool) -> None:
        """Show the forecast and problems.

        Args:
            preflight: forecast and problems.
            field: the field under the cursor, described in the title when there is no box.
            screen_width: width of the screen in cells, used until the panel is laid out.
            wide: whether the panel has a box.
        """
        shown = preflight_lines(preflight, width=(self.size.width or screen_width) - 2, wide=wide)
        title = _title(preflight, field, screen_width - 2)
        self.update(Content("\n").join([*([] if wide else [title]), *shown]))


def _title(preflight: Preflight, field: Field | None, width: int) -> Content:
    if field is None:
        return Content.styled("TRIED FOR REAL" if preflight.sample_runs else "BEFORE IT STARTS", "bold")
    words = Content.assemble((field.label, "bold"), "  ", one_line(field.meaning, 200, MUTED))
    default = one_line(f"  default {field.default}" if field.default else "", 30, MUTED)
    return words.append(default) if words.cell_length + default.cell_length <= width else words
