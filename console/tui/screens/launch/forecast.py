"""What the form will take: worked out in threads while it is filled in, and shown before it starts."""

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
"""How long typing must rest before the forecast is worked out again."""


@dataclass
class ForecastWorker:
    """One forecast at a time: a whole benchmark takes seconds to read."""

    services: Services
    controller: LaunchController
    forecast_came: Callable[[], None]
    """Called when the controller has a new forecast."""
    roles_checked: Callable[[], None]
    """Called when the controller knows more about the servers of other roles."""
    _is_closed: bool = False

    def form_changed(self) -> None:
        """Work the forecast out again once typing has rested."""
        # A task of the loop, not a timer, which a busy machine loses.
        asyncio.get_running_loop().call_later(_PAUSE_S, self._typing_rested, self.controller.last_change)

    def close(self) -> None:
        """Take up nothing any more: the form is gone."""
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
    """Size, price and checks of what is filled in, or what stands in the way; with its own title in little room."""

    def __init__(self) -> None:
        super().__init__(id="forecast")
        self.border_title = Content("Before it starts")

    def set_preflight(self, preflight: Preflight, field: Field | None, *, screen_width: int, wide: bool) -> None:
        """Show what is known.

        Args:
            preflight: what is known.
            field: the field that is gone through now, whose whole meaning is the title while there is no box.
            screen_width: cells of the screen, for as long as the panel itself has no size yet.
            wide: whether there is a box of its own.
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
