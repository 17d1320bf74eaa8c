"""`Dialog`: base of all modal dialogs."""

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen

ResultT = TypeVar("ResultT")


class Dialog(ModalScreen[ResultT]):
    """A modal screen that can be dismissed once.

    Textual pops the top screen, whichever it is: a second key that reached a dismissed dialog closed the screen below.
    """

    def dismiss(self, result: ResultT | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()
