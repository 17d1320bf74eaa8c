"""An app of one pane, which keeps what the pane posts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from console.tui import themes


class ThemedApp(App[None]):
    """Mounts widgets alone in one of our themes: no screen of ours, no services."""

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        for theme in themes.themes():
            self.register_theme(theme)
        self.theme = themes.DARK
        self.widgets = widgets

    def compose(self) -> ComposeResult:
        yield from self.widgets


class PaneApp(ThemedApp):
    """Mounts one pane, and keeps what it posts."""

    def __init__(self, pane: Widget) -> None:
        super().__init__(pane)
        self.pane = pane
        self.posted: list[Message] = []

    def note(self, message: Message) -> None:
        """Keep a message of ours, once on its way up."""
        if type(message).__module__.startswith("console.") and message not in self.posted:
            self.posted.append(message)

    def posted_of(self, kind: type[Message]) -> list[Any]:
        """Return the posted messages of a kind."""
        return [message for message in self.posted if type(message) is kind]


@asynccontextmanager
async def mounted(pane: Widget, size: tuple[int, int] = (80, 12)) -> AsyncIterator[tuple[PaneApp, Pilot[None]]]:
    """Show a pane alone and give it the focus."""
    app = PaneApp(pane)
    async with app.run_test(size=size, message_hook=app.note) as pilot:
        pane.focus()
        await pilot.pause()
        yield app, pilot
