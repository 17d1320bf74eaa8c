"""The list of Library: suites with their categories, what a pull could bring, models, and what is wrong with either."""

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import Models, SuiteLine, Suites
from console.tui.render import row_cells
from console.tui.render.symbols import SYMBOLS
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Column, Face
from console.tui.widgets.section import Section

_COLUMNS = (Column("", 1), Column("", 12, 3), Column("", 10, 2, right=True))
_JOINT = "\x1f"
_HEADS = {"# suites": "SUITES", "# models": "MODELS"}


@dataclass(frozen=True, slots=True)
class Entry:
    """What is under the cursor."""

    kind: str
    """`suite`, `category`, `pull`, `model`, `note` or nothing."""
    name: str = ""
    category: str = ""


class EntryList(Section):
    """Suites and models; see the module."""

    def __init__(self) -> None:
        """List nothing yet."""
        super().__init__(_COLUMNS, draw=self._face, id="entries", empty=Content("reading suites and models …"))
        self._suites = Suites()
        self._models = Models()
        self._changed: frozenset[str] = frozenset()
        self.unfolded: set[str] = set()
        """Suites whose categories are listed."""

    @property
    def entry(self) -> Entry:
        """What is under the cursor."""
        return entry_of(self.cursor or "")

    def offer(self, suites: Suites | None, models: Models | None, words: str, changed: frozenset[str]) -> None:
        """Show what has these words; `changed` are suites whose files are not what they were."""
        self._suites, self._models, self._changed = suites or Suites(), models or Models(), changed
        keys = ["# suites", *self._suite_keys(words)] if suites else []
        keys += ["# models", *self._model_keys(words)] if models else []
        cases = sum(line.cases for line in self._suites.lines)
        self.label("Library", number_format.plural(cases, "case") if cases else "", "/ narrow")
        empty = Content.assemble("Nothing here has “", one_line(words, 30), "”. F shows all.") if words else None
        found = [key for key in keys if key not in _HEADS]
        self.show(keys if found else [], fixed=frozenset(_HEADS), empty=empty)

    def note_of(self, name: str) -> str:
        """Return the whole mistake or warning of a note row."""
        sign, _, place = name.partition(" ")
        found = {"!": self._models.mistakes, "~": self._models.warnings, "s": self._suites.warnings}[sign]
        return found[int(place)]

    def _suite_keys(self, words: str) -> Iterator[str]:
        for line in self._suites.lines:
            named = _has(words, line.name, line.entry.title)
            parts = [part.name for part in line.categories if named or _has(words, part.name)]
            if named or parts:
                yield f"s {line.name}"
                if line.name in self.unfolded or (words and not named):
                    yield from (f"c {line.name}{_JOINT}{part}" for part in parts)
        yield from (f"! s {place}" for place in range(len(self._suites.warnings)) if not words)
        yield from (f"p {suite.name}" for suite in self._suites.missing if _has(words, suite.name))

    def _model_keys(self, words: str) -> Iterator[str]:
        if not words:
            yield from (f"! ! {place}" for place in range(len(self._models.mistakes)))
            yield from (f"! ~ {place}" for place in range(len(self._models.warnings)))
        yield from (f"m {line.name}" for line in self._models.lines if _has(words, line.name, line.model_id))

    def _face(self, key: str) -> Face:
        if key in _HEADS:
            return Content.assemble(" ", (_HEADS[key], "bold $muted"))
        entry = entry_of(key)
        match entry.kind:
            case "suite":
                return self._suite_face(entry.name)
            case "category":
                return self._category_face(entry)
            case "model":
                line = self._models.find(entry.name)
                return row_cells.model_cells(line)[:3] if line else Content.empty()
            case "pull":
                words = Content.styled("not here yet", "$muted")
                return Content.styled(SYMBOLS.not_ready, "$muted"), Content.styled(entry.name, "$muted"), words
            case _:
                return Content.assemble(
                    (f"{SYMBOLS.broken}  ", "bold $broken"), one_line(self.note_of(entry.name).split("\n", 1)[0], 400)
                )

    def _suite_face(self, name: str) -> Face:
        line = self._suites.find(name)
        if line is None:
            return Content.empty()
        if line.mistake:
            note = Content.styled("not usable", "$broken")
            return Content.styled(SYMBOLS.broken, "bold $broken"), one_line(name, 60), note
        if name in self._changed:
            return (
                Content.styled(SYMBOLS.changed, "bold $fail"),
                one_line(name, 60),
                Content(number_format.count(line.cases)),
            )
        fold = SYMBOLS.opened if name in self.unfolded else SYMBOLS.folded
        return Content.styled(fold, "$muted"), one_line(name, 60), Content(number_format.count(line.cases))

    def _category_face(self, entry: Entry) -> Face:
        line = self._suites.find(entry.name)
        found = next((part for part in line.categories if part.name == entry.category), None) if line else None
        count = Content.styled(number_format.count(found.cases) if found else "", "$muted")
        return Content.empty(), Content("  ").append(one_line(entry.category, 60)), count


def entry_of(key: str) -> Entry:
    """Return what a row stands for."""
    sign, _, rest = key.partition(" ")
    if sign == "c":
        name, _, category = rest.partition(_JOINT)
        return Entry("category", name, category)
    kinds = {"s": "suite", "m": "model", "p": "pull", "!": "note"}
    return Entry(kinds.get(sign, ""), rest)


def key_of(entry: Entry) -> str:
    """Return the row of a suite, category or model."""
    if entry.kind == "category":
        return f"c {entry.name}{_JOINT}{entry.category}"
    return f"{entry.kind[:1]} {entry.name}"


def has_many(line: SuiteLine) -> bool:
    """Whether a suite's categories are worth a list of their own."""
    return len(line.categories) > 1


def _has(words: str, *texts: str) -> bool:
    text = " ".join(texts).lower()
    return all(word in text for word in words.lower().split())
