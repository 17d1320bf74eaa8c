"""`StyledApp`: sheets of styles are read once, and a change of screens always ends in drawing.

By itself Textual reads all sheets again for every new screen, and for the theme that is set before anything is shown.
"""

import asyncio
from typing import Any, cast

from textual.app import App
from textual.screen import Screen


class StyledApp(App[int]):
    """Applies styles without reading them more often than needed; see the module."""

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the styles again; while there is no screen yet, which will take them as they are, only the colours."""
        if self._screen_stacks.get(self._current_mode):
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def delay_update(self, delay: float = 0.05) -> None:
        """Draw nothing for a moment; by the loop's clock, as Textual's timer may be lost and with it all drawing."""
        batch = cast(Any, self)
        batch._begin_batch()

        def end() -> None:
            batch._end_batch()
            if not batch._batch_count:
                self.screen.refresh()

        asyncio.get_running_loop().call_later(delay, self.call_later, end)

    def _load_screen_css(self, screen: Screen[Any]) -> None:
        """Let a new screen take the styles as they are."""
        cast(Any, super())._load_screen_css(screen)
        if cast(Any, screen)._css_update_count < 0:
            cast(Any, screen)._css_update_count = cast(Any, self)._css_update_count
