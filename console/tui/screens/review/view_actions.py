"""`ViewActions`: what the keys of the case do: change its view, lay it out, fold, go to another turn, find a text."""

from collections.abc import Callable

from console.tui.render import diff
from console.tui.screens.review.case_pane import CasePane
from console.tui.screens.review.controller import ReviewController


class ViewActions:
    """Acts on the view in sight."""

    def __init__(self, controller: ReviewController, pane: CasePane, draw: Callable[[], None]) -> None:
        """Act on the controller's view and the pane that shows it; `draw` draws what is stale."""
        self._controller = controller
        self._pane = pane
        self._draw = draw

    def action_view_next(self) -> None:
        """Show the next view."""
        self._controller.step_view(1)
        self._draw()

    def action_view_prev(self) -> None:
        """Show the previous view."""
        self._controller.step_view(-1)
        self._draw()

    def action_view_talk(self) -> None:
        """Show the conversation, or the difference again."""
        self._toggle("talk")

    def action_view_truth(self) -> None:
        """Show the ground truth, or the difference again."""
        self._toggle("truth")

    def action_view_tools(self) -> None:
        """Show the tool schemas, or the difference again."""
        self._toggle("tools")

    def action_view_raw(self) -> None:
        """Show requests and replies, or the difference again."""
        self._toggle("raw")

    def _toggle(self, view_id: str) -> None:
        self._controller.toggle_view(view_id)
        self._draw()

    def action_view_layout(self) -> None:
        """Change between side by side, stacked and changed lines."""
        layouts = list(diff.Layout)
        shown = diff.fitting(self._controller.style.layout, self._pane.text_width)
        self._controller.restyle(layout=layouts[(layouts.index(shown) + 1) % len(layouts)])
        self._draw()

    def action_view_wrap(self) -> None:
        """Wrap long values, or cut them."""
        self._controller.restyle(wrap=not self._controller.style.wrap)
        self._draw()

    def action_fold(self) -> None:
        """Fold what agrees, or the block at the top of the text."""
        if self._pane.folds_same():
            self._controller.restyle(fold_same=not self._controller.style.fold_same)
            self._draw()
        else:
            self._pane.toggle_block()

    def action_turn_next(self) -> None:
        """Go to the next turn of the comparison."""
        self._pane.step_turn(1)

    def action_turn_prev(self) -> None:
        """Go to the previous turn of the comparison."""
        self._pane.step_turn(-1)

    def find(self, text: str, *, done: bool) -> None:
        """Mark a text in the view; an empty one ends finding. When `done`, go to the view of the case that holds it."""
        if self._pane.find(text) or not text or not done:
            return
        view = self._pane.other_view_with(text)
        if view is not None:
            self._controller.show_view(view.id)
            self._draw()
            self._pane.find(text)
