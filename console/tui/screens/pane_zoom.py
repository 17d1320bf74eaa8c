"""`PaneZoom`: cycles through the panes of a screen and shows one of them alone.

The user zooms a pane; a small terminal always shows one.
"""

from typing import Any

from textual.screen import Screen
from textual.widget import Widget

from console.tui.textual_patches import stylesheet_of


class PaneZoom:
    """Handles the actions `pane.next`, `pane.prev` and `view.zoom`.

    Panes have the class `pane`; those of a single line, which are not worth a screen, also `strip`.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self.is_chosen = False
        """True if the user zoomed."""

    @property
    def is_on(self) -> bool:
        """True if one pane is shown alone, by choice or because there is too little room."""
        return self._screen.has_class("-zoomed")

    def action_pane_next(self) -> None:
        if self.is_on:
            self._step_hidden(1)
        else:
            self._screen.focus_next(".pane")

    def action_pane_prev(self) -> None:
        if self.is_on:
            self._step_hidden(-1)
        else:
            self._screen.focus_previous(".pane")

    def action_view_zoom(self) -> None:
        pane = self._screen.focused
        if not self.is_chosen and (pane is None or not pane.has_class("pane") or pane.has_class("strip")):
            return
        self.is_chosen = not self.is_chosen
        self._apply(self.is_chosen or self._screen.has_class("-compact"))

    def set_compact(self, compact: bool) -> None:
        """Show one pane at a time while the terminal is small."""
        if compact != self._screen.has_class("-compact"):
            self._screen.set_class(compact, "-compact")
            self._apply(compact or self.is_chosen)

    def follow_focus(self) -> None:
        if self.is_on:
            self._show_alone(self._screen.focused)

    def _apply(self, zoomed: bool) -> None:
        self._screen.set_class(zoomed, "-zoomed")
        self._show_alone(self._screen.focused if zoomed else None)

    def _step_hidden(self, step: int) -> None:
        """Show another pane alone, in order of composition, since hidden panes have no position."""
        screen = self._screen
        self._show_alone(None)
        panes = [pane for pane in screen.query_one(".body").query(".pane").results(Widget) if _can_be_shown(pane)]
        if screen.focused in panes:
            screen.set_focus(panes[(panes.index(screen.focused) + step) % len(panes)])
        self._show_alone(screen.focused)

    def _show_alone(self, pane: Widget | None) -> None:
        """Hide all panes but one, including their titles, immediately; None shows all."""
        if pane is not None and not pane.has_class("pane"):
            return
        path: set[object] = set() if pane is None else {pane, *pane.ancestors}
        title = _title_of(pane)
        nodes = list(self._screen.query_one(".body").query("*").results(Widget))
        for node in nodes:
            hidden = node not in path and node.parent in path and node.parent is not pane
            node.set_class(node in path, "zoom-path")
            node.set_class(hidden and node is not title, "zoom-hidden")
        stylesheet_of(self._screen).update_nodes(nodes)
        self._screen.refresh(layout=True)


def _title_of(pane: Widget | None) -> Widget | None:
    """Return the title above a pane, with nothing between them that can have the focus."""
    if pane is None or not isinstance(pane.parent, Widget):
        return None
    siblings = list(pane.parent.children)
    for node in reversed(siblings[: siblings.index(pane)]):
        if node.has_class("pane-title"):
            return node
        if node.focusable:
            break
    return None


def _can_be_shown(pane: Widget) -> bool:
    """Return whether a pane is focusable and neither it nor an ancestor is hidden."""
    return pane.focusable and all(isinstance(node, Widget) and node.display for node in (pane, *pane.ancestors[:-1]))
