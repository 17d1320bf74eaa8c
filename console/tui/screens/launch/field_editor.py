"""`FieldEditor`: one field of the form while it is typed into. Keys go in, a text comes out; knows no widget."""

from typing import Literal

KeyUse = Literal["typed", "kept", "taken back", "passed on", "unused"]
"""What a key did: it changed the text, or moved; it ended editing with the text kept, or as it was before; it ended
editing and goes on to whoever it means something else to; or nothing at all."""

_ENDS = ("tab", "shift+tab", "up", "down")


class FieldEditor:
    """A text being edited."""

    def __init__(self, id: str, before: str, text: str, *, selected: bool = False) -> None:
        """Edit a field.

        Args:
            id: the field's id.
            before: the text that escape brings back.
            text: the text to go on from.
            selected: whether the first thing typed takes the place of the whole text.
        """
        self.id = id
        self.text = text
        self.is_selected = selected and bool(text)
        self._before = before

    def press(self, key: str, character: str | None) -> KeyUse:
        """Take a key, by Textual's name, with the printable character it stands for, if any."""
        if key == "enter":
            return "kept"
        if key in _ENDS:
            return "passed on"
        if key == "escape":
            self._replace(self._before)
            return "taken back"
        typed_over = "" if self.is_selected else self.text
        if key == "backspace":
            self._replace(typed_over[:-1])
        elif key == "ctrl+u":
            self._replace("")
        elif key in ("right", "end"):
            self._replace(self.text)
        elif character:
            self._replace(typed_over + character)
        else:
            return "unused"
        return "typed"

    def paste(self, text: str) -> None:
        """Take pasted text, on one line."""
        printable = "".join(character for character in text if character.isprintable())
        self._replace(("" if self.is_selected else self.text) + printable)

    def _replace(self, text: str) -> None:
        self.text, self.is_selected = text, False
