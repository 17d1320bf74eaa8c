"""`FrameOutput`: what of each frame goes to the terminal: what differs, and nothing while the terminal lags behind."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.app import App

from console.tui.render.frame_diff import CompositorUpdate, ShownFrame
from console.tui.textual_patches import filter_frames, writes_waiting

MOST_WAITING = 6
"""Writes that may wait for the terminal, two or three to a frame, before frames are left out."""
CATCH_UP_S = 0.05
"""How often a slow terminal is asked whether it has taken everything."""


class FrameOutput:
    """Stands between the app and its terminal from now on."""

    def __init__(self, app: App[Any], first_drawn: Callable[[], None]) -> None:
        """Take over the app's frames; `first_drawn` is called once the first one is on its way to the terminal."""
        self._app = app
        self._first_drawn = first_drawn
        self._has_drawn = False
        self.shown = ShownFrame()
        self.is_late = False
        """Whether frames are left out because the terminal has not taken earlier ones yet."""
        filter_frames(app, self._is_held, self.reduce)

    def reduce(self, update: CompositorUpdate) -> CompositorUpdate | None:
        """Return what of an update the terminal does not show yet."""
        if not self._has_drawn:
            self._has_drawn = True
            asyncio.get_running_loop().call_soon(self._first_drawn)
        return self.shown.take(update)

    def forget(self) -> None:
        """Send everything again, because another program had the terminal."""
        self.shown.forget()

    def _is_behind(self) -> bool:
        """Whether the terminal takes bytes more slowly than they come; nobody needs frames that are that old."""
        return writes_waiting(self._app) > MOST_WAITING

    def _is_held(self) -> bool:
        if not self._is_behind():
            return False
        if not self.is_late:
            self.is_late = True
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
        return True

    def _catch_up(self) -> None:
        """Draw the present once the terminal has taken the past."""
        if not self._app.is_running:
            return
        if self._is_behind():
            asyncio.get_running_loop().call_later(CATCH_UP_S, self._catch_up)
            return
        self.is_late = False
        self._app.screen.refresh()
