"""`FieldList`: settings edited in place.

Digits start editing a number; space edits a text, selects the next of a few choices, or lists many; enter, tab and the
arrows end editing, escape reverts it. An invalid text shows its error below the field while it is typed. Settings that
few runs need are folded under `more`, except those that were changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from console.tui.render import columns, lines
from console.tui.render.columns import Column, Face
from console.tui.sanitize import one_line
from console.tui.screens.base import WIDE
from console.tui.screens.launch.choices import ChoiceList
from console.tui.screens.launch.fields import Field, is_needed_first
from console.tui.screens.launch.form import Form
from console.tui.symbols import MUTED, SYMBOLS, muted

_COLUMNS = (Column("", 18, 1, is_name=True), Column("", 16, 2, is_name=True), Column("", 24, 4, from_width=62))
_MOST_CYCLED = 3
"""Number of choices up to which space selects the next one."""
_MISTAKE = "mistake "
"""Prefix of the key of the error row below a field."""
_SUITE = "suite "
"""Prefix of the key of the heading above a suite's options."""


MORE = "more"
"""Key of the row that folds and unfolds the settings that few runs need."""

KeyUse = Literal["typed", "kept", "taken back", "passed on", "unused"]
"""Effect of a key: text changed; editing ended; ended and reverted; ended, key left to others; none."""

_ENDS = ("tab", "shift+tab", "up", "down")


class FieldEditor:
    """Editor of a field's text."""

    def __init__(self, id: str, before: str, text: str, *, selected: bool = False) -> None:
        """Start editing a field.

        Args:
            id: the field's id.
            before: the text restored by escape.
            text: the initial text.
            selected: whether the first character typed replaces the text.
        """
        self.id = id
        self.text = text
        self.is_selected = selected and bool(text)
        self._before = before

    def press(self, key: str, character: str | None) -> KeyUse:
        """Handle a key, given by Textual's name and its printable character, if any."""
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
        """Insert pasted text without line breaks."""
        printable = "".join(character for character in text if character.isprintable())
        self._replace(("" if self.is_selected else self.text) + printable)

    def _replace(self, text: str) -> None:
        self.text, self.is_selected = text, False


class FieldList(ChoiceList):
    """The settings of a form.

    Typed text is written into the form at once, so that a following key sees it.
    """

    class FieldChanged(Message):
        """The text of a field has changed."""

    class TypingChanged(Message):
        """Editing has started or ended."""

    @dataclass
    class ChoiceAsked(Message):
        """A field with so many choices that they are listed is to be edited."""

        field: Field

    def __init__(self, form: Form) -> None:
        super().__init__(_COLUMNS, self._cells, id="launch-fields")
        self._form = form
        self._fields: dict[str, Field] = {}
        self._editor: FieldEditor | None = None
        self._is_unfolded = False

    @property
    def is_editing(self) -> bool:
        return self._editor is not None

    @property
    def typing_words(self) -> Mapping[str, str] | None:
        """Labels of the keys while typing; None otherwise."""
        return {"line.clear": "revert"} if self.is_editing else None

    @property
    def field(self) -> Field | None:
        return self._fields.get(self.cursor or "")

    def set_fields(self, fields: Sequence[Field]) -> None:
        self._fields = {field.id: field for field in fields}
        if self._editor is not None and self._editor.id not in self._fields:
            self._editor = None
        changed = sum(id in self._form.texts for id in self._fields)
        self.title_line.show("Settings", "digits or space edit", f"{changed} changed" if changed else "")
        self._show_rows()

    def _show_rows(self) -> None:
        """List the fields, each followed by its error; folded ones only if changed, wrong or under the cursor."""
        wrong = {id for id, field in self._fields.items() if self._form.mistake_in(field)}
        wide = self.screen.size.width >= WIDE
        ids = [id for id, field in self._fields.items() if is_needed_first(field, wide=wide)]
        others = [id for id in self._fields if id not in ids]
        in_use = {*self._form.texts, *wrong, self.cursor}
        ids += [MORE, *(id for id in others if self._is_unfolded or id in in_use)]
        keys: list[str] = []
        for id in ids:
            suite = id.split(":")[1] if id.startswith("option:") and len(self._form.suites) > 1 else ""
            if suite and _SUITE + suite not in keys:
                keys.append(_SUITE + suite)
            keys += [id, _MISTAKE + id] if id in wrong else [id]
        self.show(keys, fixed=frozenset(key for key in keys if key.startswith((_MISTAKE, _SUITE))))
        mistake = _MISTAKE + (self.cursor or "")
        if self.cursor is not None and mistake in self.keys:
            self._bring_into_view(self.keys.index(mistake))
            self._bring_into_view(self.keys.index(self.cursor))  # has priority if there is room for only one

    # Editing ---------------------------------------------------------------------------------------------------------

    def edit(self) -> None:
        """Edit the field under the cursor, or select its next choice; `more` is unfolded."""
        if self.cursor == MORE:
            self._is_unfolded = not self._is_unfolded
            self._show_rows()
        field = self.field
        if field is None:
            return
        if len(field.choices) > _MOST_CYCLED:
            self.post_message(self.ChoiceAsked(field))
        elif field.choices:
            self.set_text(field, field.next_choice(self._form.text(field)))
        else:
            self._begin(field, self._form.text(field), selected=True)

    def on_key(self, event: events.Key) -> None:
        """Handle keys while editing, and digits that start it."""
        character = event.character if event.is_printable else None
        if self._editor is not None:
            if not self._press(self._editor, event.key, character):
                return
        elif (field := self.field) and field.digits and character and character in "0123456789$":
            self._begin(field, character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        if self._editor is not None:
            event.stop()
            self._editor.paste(event.text)
            self.set_text(self._fields[self._editor.id], self._editor.text)

    def on_blur(self) -> None:
        """End editing when the list loses the focus."""
        self._end()

    def _begin(self, field: Field, text: str, *, selected: bool = False) -> None:
        self._editor = FieldEditor(field.id, self._form.text(field), text, selected=selected)
        self.set_text(field, text)
        self.post_message(self.TypingChanged())

    def _press(self, editor: FieldEditor, key: str, character: str | None) -> bool:
        """Handle a key while editing; return whether it was consumed."""
        use = editor.press(key, character)
        if use in ("typed", "taken back"):
            self.set_text(self._fields[editor.id], editor.text)
        if use in ("kept", "taken back", "passed on"):
            self._end()
        return use in ("typed", "kept", "taken back")

    def _end(self) -> None:
        if self._editor is not None:
            id, self._editor = self._editor.id, None
            self.touch(id)
            self.post_message(self.TypingChanged())

    def set_text(self, field: Field, text: str) -> None:
        """Write a text into the form."""
        self._form.set_text(field, text)
        self._show_rows()
        self.post_message(self.FieldChanged())

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _cells(self, key: str) -> Face:
        if key.startswith(_MISTAKE):
            problem = self._form.mistake_in(self._fields[key.removeprefix(_MISTAKE)])
            return Content.assemble((f"  {SYMBOLS.failed} ", "bold $fail"), one_line(problem, 200, "$fail"))
        if key == MORE:
            below = self.keys[self.keys.index(MORE) :]
            changed = [field.label for id, field in self._fields.items() if id in self._form.texts and id in below]
            return _more_line(sum(id not in self.keys for id in self._fields), changed)
        if key.startswith(_SUITE):
            return Content.assemble(("  options of ", MUTED), one_line(key.removeprefix(_SUITE), 60, f"bold {MUTED}"))
        field = self._fields[key]
        is_wrong = bool(self._form.mistake_in(field))
        if self._editor is not None and self._editor.id == key:
            return _edited_line(field, self._editor, self.room, is_wrong=is_wrong)
        text = self._form.text(field)
        style = "bold $fail" if is_wrong else "bold" if text != field.default else ""
        value = one_line(field.with_unit(text), lines.LONGEST_ID, style)
        widths = columns.lay_out(_COLUMNS, self.room - 2)
        meaning = lines.clause(field.meaning, widths[-1][2]) if len(widths) == len(_COLUMNS) else ""
        return (
            one_line(field.label, 40, "bold" if is_wrong else ""),
            value if text else muted("not needed" if key in self._form.idle else "—"),
            one_line(meaning, 200, MUTED),
        )


def _more_line(count: int, changed: Sequence[str]) -> Content:
    """Return the row for N folded settings, or the heading of the unfolded ones; those changed are named."""
    words = f"  {count} settings: seed, ids, limits, options …" if count else ""
    if changed:
        words = f"  changed: {', '.join(changed)}" + (f"; {count} others" if count else "")
    return Content.assemble("more ", (SYMBOLS.folded if count else SYMBOLS.opened, MUTED), (words, MUTED))


def _edited_line(field: Field, editor: FieldEditor, width: int, *, is_wrong: bool) -> Content:
    """Return a row being edited, with the end of the text visible instead of the meaning."""
    label = one_line(field.label, 40, "bold")
    name = lines.fit(label, columns.lay_out(_COLUMNS, width - 2)[0][2])
    room = max(width - name.cell_length - 8, 8)
    text = editor.text if len(editor.text) <= room else SYMBOLS.cut + editor.text[-room:]
    style = "reverse" if editor.is_selected else "bold $fail" if is_wrong else "bold"
    return Content.assemble(name, "  ", one_line(text, room + 1, style), ("▏", "bold $focus"))


class FieldHelp(Static):
    """A field's meaning, default and command line option; in the wide layout only."""

    def __init__(self) -> None:
        super().__init__(id="about-field")
        self.border_title = Content("This setting")

    def list_folded(self, folded: Sequence[Field]) -> None:
        """Name the settings that are not listed."""
        self.update(one_line(", ".join(field.label for field in folded) or "all settings are listed", 600, MUTED))

    def describe(self, field: Field) -> None:
        default = Content.assemble(("default  ", MUTED), one_line(field.with_unit(field.default) or "empty", 400))
        names = ", ".join(choice or "empty" for choice in field.choices)
        choices = Content.assemble(("one of   ", MUTED), one_line(names, 600))
        flag = Content.assemble(("shell    ", MUTED), one_line(field.flag, 60))
        meaning = Content.assemble((field.label, "bold"), "  ", one_line(field.meaning, 300))
        self.update(Content("\n").join([meaning, default, flag, *([choices] if field.choices else [])]))
