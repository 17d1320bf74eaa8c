"""`FieldList`: the settings of the form, edited in place.

Digits start editing a number at once; space edits a text or goes through the choices of a field; enter, tab and the
arrows end editing, escape takes it back. A text that does not fit says why under the field, while it is typed.
"""

from collections.abc import Mapping, Sequence

from textual import events
from textual.content import Content
from textual.message import Message

from console.tui.render import columns, lines
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.launch.clickable_list import ClickableList
from console.tui.screens.launch.field import Field
from console.tui.screens.launch.form import Form
from console.tui.widgets.row_list import Column, Face

_COLUMNS = (Column("", 18, 1), Column("", 14, 2), Column("", 24, 4, from_width=60))
_MISTAKE = "mistake "
"""Begins the key of the row under a field that says what is wrong with it."""
_SUITE = "suite "
"""Begins the key of the heading above the options of one of several suites."""
_ENDS = ("enter", "tab", "shift+tab", "up", "down")


class FieldList(ClickableList):
    """The settings; see the module."""

    class FieldChanged(Message):
        """A field has another text now."""

    class TypingChanged(Message):
        """A field is typed into now, or no longer."""

    def __init__(self, form: Form) -> None:
        """Draw from the form."""
        super().__init__(_COLUMNS, draw=self._face, quiet=True, id="launch-fields")
        self._form = form
        self._fields: dict[str, Field] = {}
        self._edited: str | None = None
        self._before = ""
        self._selected = False
        """Whether the first thing typed takes the place of the whole text."""

    @property
    def is_editing(self) -> bool:
        """Whether keys go into a field now."""
        return self._edited is not None

    @property
    def typing_words(self) -> Mapping[str, str] | None:
        """What the keys are called that end typing; None while nothing is typed."""
        return {"line.clear": "as it was"} if self.is_editing else None

    @property
    def field(self) -> Field | None:
        """The field under the cursor."""
        return self._fields.get(self.cursor or "")

    def offer(self, fields: Sequence[Field]) -> None:
        """Show these fields."""
        self._fields = {one.id: one for one in fields}
        if self._edited not in self._fields:
            self._edited = None
            self._selected = False
        changed = sum(id in self._form.texts for id in self._fields)
        self.label("Settings", "digits or space edit", f"{changed} changed" if changed else "")
        self._show_rows()

    def _show_rows(self) -> None:
        """List the fields, a mistake below its field."""
        keys: list[str] = []
        for id, one in self._fields.items():
            suite = id.split(":")[1] if id.startswith("option:") and len(self._form.suites) > 1 else ""
            if suite and _SUITE + suite not in keys:
                keys.append(_SUITE + suite)
            keys += [id, _MISTAKE + id] if self._form.mistake_in(one) else [id]
        self.show(keys, fixed=frozenset(key for key in keys if key.startswith((_MISTAKE, _SUITE))))
        if self._edited is not None and _MISTAKE + self._edited in keys:
            self._bring_into_view(keys.index(_MISTAKE + self._edited))

    def act(self) -> None:
        """Edit the field under the cursor, or go to its next choice."""
        one = self.field
        if one is None:
            return
        if one.choices:
            self._set(one, one.next_choice(self._form.text(one)))
        else:
            self._begin(one, self._form.text(one), selected=True)

    def on_key(self, event: events.Key) -> None:
        """Take keys while a field is edited, and digits that start it."""
        one = self._fields.get(self._edited or self.cursor or "")
        if one is None:
            return
        if self._edited is None:
            if one.digits and event.character and event.character in "0123456789$":
                event.stop()
                event.prevent_default()
                self._begin(one, event.character)
            return
        if self._edit(one, event):
            event.stop()
            event.prevent_default()

    def on_blur(self) -> None:
        """End editing when another pane gets the focus."""
        self._end()
        super().on_blur()

    def _edit(self, one: Field, event: events.Key) -> bool:
        """Take one key into the edited field; say whether it was used up."""
        whole = self._form.text(one)
        text = "" if self._selected else whole
        if event.key in _ENDS:
            self._end()
            return event.key == "enter"
        if event.key == "escape":
            self._set(one, self._before)
            self._end()
        elif event.key == "backspace":
            self._set(one, text[:-1])
        elif event.key == "ctrl+u":
            self._set(one, "")
        elif event.key in ("right", "end"):
            self._set(one, whole)
        elif event.is_printable and event.character:
            self._set(one, text + event.character)
        else:
            return False
        return True

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text into the edited field, on one line."""
        if self._edited is not None:
            event.stop()
            one = self._fields[self._edited]
            pasted = "".join(character for character in event.text if character.isprintable())
            self._set(one, ("" if self._selected else self._form.text(one)) + pasted)

    def _begin(self, one: Field, text: str, *, selected: bool = False) -> None:
        self._edited, self._before = one.id, self._form.text(one)
        self._set(one, text)
        self._selected = selected and bool(text)
        self.post_message(self.TypingChanged())

    def _end(self) -> None:
        if self._edited is not None:
            key, self._edited = self._edited, None
            self._selected = False
            self.touch(key)
            self.post_message(self.TypingChanged())

    def _set(self, one: Field, text: str) -> None:
        self._selected = False
        self._form.set_text(one, text)
        self._form.refused.pop(one.id, None)
        self._show_rows()
        self.post_message(self.FieldChanged())

    def _face(self, key: str) -> Face:
        if key.startswith(_MISTAKE):
            return self._mistake_face(self._fields[key.removeprefix(_MISTAKE)])
        if key.startswith(_SUITE):
            return Content.assemble(("  options of ", "$muted"), one_line(key.removeprefix(_SUITE), 60, "bold $muted"))
        one = self._fields[key]
        text, edited = self._form.text(one), key == self._edited
        wrong = bool(self._form.mistake_in(one))
        label = one_line(one.label, 40, "bold" if edited or wrong else "")
        value = one_line(text, 60, "bold $fail" if wrong else "bold" if text != one.default else "")
        if edited:
            return self._edited_face(label, text, wrong=wrong)
        if not text:
            value = Content.styled("—", "$muted")
        widths = columns.lay_out(_COLUMNS, self.room - 2)
        meaning = lines.clause(one.meaning, widths[-1][2]) if len(widths) == len(_COLUMNS) else ""
        return label, value, one_line(meaning, 200, "$muted")

    def _edited_face(self, label: Content, text: str, *, wrong: bool) -> Content:
        """Return a row that is typed into: the end of the text is in view, and the meaning makes room for it."""
        name = lines.fit(label, columns.lay_out(_COLUMNS, self.room - 2)[0][2])
        room = max(self.room - name.cell_length - 8, 8)
        style = "reverse" if self._selected else "bold $fail" if wrong else "bold"
        shown = one_line(text if len(text) <= room else SYMBOLS.cut + text[-room:], room + 1, style)
        return Content.assemble(name, "  ", shown, ("▏", "bold $focus"))

    def _mistake_face(self, one: Field) -> Content:
        problem = self._form.mistake_in(one)
        return Content.assemble((f"  {SYMBOLS.failed} ", "bold $fail"), one_line(problem, 200, "$fail"))
