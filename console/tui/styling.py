"""`StyledApp`: sheets of styles are read once. By itself Textual reads them all again for every new screen.

It also reads and applies them for the theme that is set before anything is shown.
"""

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

    def _load_screen_css(self, screen: Screen[Any]) -> None:
        """Let a new screen take the styles as they are."""
        cast(Any, super())._load_screen_css(screen)
        if cast(Any, screen)._css_update_count < 0:
            cast(Any, screen)._css_update_count = cast(Any, self)._css_update_count
