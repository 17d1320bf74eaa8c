"""`StepActions`: from failure to failure, from reason to reason, or from one place of a text to the next."""

from collections.abc import Callable

from console.tui.screens.review.case_pane import CasePane
from console.tui.screens.review.case_rows import end_of_list_text
from console.tui.screens.review.controller import ReviewController
from console.tui.services import Services


class StepActions:
    """Moves the reader through the list."""

    def __init__(
        self, services: Services, controller: ReviewController, pane: CasePane, draw: Callable[[], None]
    ) -> None:
        """Step through the controller's list, or through the places found in the pane; `draw` draws what is stale."""
        self._services = services
        self._controller = controller
        self._pane = pane
        self._draw = draw

    def action_fail_next(self) -> None:
        """Go to the next failure, or to the next place found."""
        self._step(1)

    def action_fail_prev(self) -> None:
        """Go to the previous failure, or to the previous place found."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._pane.find_step(by):
            return
        if not self._controller.step(by):
            self._services.notify(end_of_list_text(self._controller, by))
        self._draw()

    def action_group_next(self) -> None:
        """Go to the first case of the next reason."""
        self._controller.step_group(1)
        self._draw()

    def action_group_prev(self) -> None:
        """Go to the first case of the previous reason."""
        self._controller.step_group(-1)
        self._draw()
