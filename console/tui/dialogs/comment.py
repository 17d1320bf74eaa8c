"""`CommentScreen`: asks for one line of text at the bottom of the screen."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class CommentScreen(ModalScreen[str | None]):
    """Returns the text, or None when the reader stepped back."""

    DEFAULT_CSS = """
    CommentScreen { align: left bottom; background: transparent; }
    CommentScreen > Static { height: 2; width: 1fr; padding: 0 1; background: $panel; border-top: solid $focus; }
    CommentScreen > Input.-textual-compact { width: 1fr; height: 1; border: none; padding: 0 1; background: $panel; }
    """
    BINDINGS = [Binding("escape", "step_back", show=False)]  # noqa: RUF012 - Textual reads it so

    def __init__(self, title: Content, text: str) -> None:
        """Ask, starting from a text; foreign parts of the title must come through `sanitize`."""
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out title and input."""
        yield Static(self._title.append_text("   enter keeps   esc as it was   empty removes", "$muted"))
        yield Input(self._text, compact=True, select_on_focus=False)

    @on(Input.Submitted)
    def _keep(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_step_back(self) -> None:
        """Leave the comment as it was."""
        self.dismiss(None)
