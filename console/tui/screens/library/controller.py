"""`LibraryController`: entries, folding and opening in Library, without Textual or disk access."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from console.tui.data.entry_checks import Checksum, Ping
from console.tui.data.filter_in_force import FilterInForce, has_words
from console.tui.data.models import ModelLine, Models
from console.tui.data.suites import SuiteLine, Suites

if TYPE_CHECKING:
    from console.suites.benchmark import OfficialData

Kind = Literal["heading", "suite", "category", "pull", "model", "note", "case", ""]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the list."""

    kind: Kind
    """Kind: `note` is a warning, `pull` is official data to download, empty is the cursor of an empty list."""
    name: str = ""
    """Name of the suite or model, text of the heading, or text of the note. Untrusted text except in headings."""
    category: str = ""

    @property
    def key(self) -> str:
        return "\x1f".join((self.kind, self.name, self.category))


SUITES, MODELS = Entry("heading", "SUITES"), Entry("heading", "MODELS")
NOTHING = Entry("")


class LibraryController:
    """Contents and state of Library."""

    def __init__(self) -> None:
        self.suites: Suites | None = None
        self.models: Models | None = None
        self.words = ""
        """Filter; only entries with these words are listed."""
        self.unfolded: set[str] = set()
        """Suites whose categories are listed."""
        self.opened: Entry | None = None
        """The category whose cases are listed instead of the entries."""
        self.checksums: dict[str, Checksum] = {}
        self.pings: dict[str, Ping] = {}
        self.awaited: Entry | None = None
        """A suite or model that the cursor moves to once it is listed."""
        self.pinging: set[str] = set()
        """Models with a ping in progress."""

    def suite(self, name: str) -> SuiteLine | None:
        return self.suites.find(name) if self.suites else None

    def model(self, name: str) -> ModelLine | None:
        return self.models.find(name) if self.models else None

    def official_suite(self, name: str) -> "OfficialData | None":
        return next((suite for suite in self.suites.missing if suite.name == name), None) if self.suites else None

    @property
    def changed_suites(self) -> frozenset[str]:
        """Suites whose files differ from the data pulled."""
        return frozenset(name for name, checksum in self.checksums.items() if checksum.is_changed)

    # Listing ---------------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> list[Entry]:
        """Entries that match the filter, under headings; empty if none does."""
        suites = [*self._suite_entries(self.suites)] if self.suites else []
        models = [*self._model_entries(self.models)] if self.models else []
        return [*([SUITES] if suites else []), *suites, *([MODELS] if models else []), *models]

    def _suite_entries(self, suites: Suites) -> Iterator[Entry]:
        for line in suites.lines:
            is_named = has_words(self.words, line.name, line.entry.title)
            categories = [part.name for part in line.categories if is_named or has_words(self.words, part.name)]
            if is_named or categories:
                yield Entry("suite", line.name)
                if line.name in self.unfolded or (self.words and not is_named):
                    yield from (Entry("category", line.name, category) for category in categories)
        if not self.words:
            yield from (Entry("note", warning) for warning in dict.fromkeys(suites.warnings))
        yield from (Entry("pull", suite.name) for suite in suites.missing if has_words(self.words, suite.name))

    def _model_entries(self, models: Models) -> Iterator[Entry]:
        if not self.words:
            yield from (Entry("note", note) for note in dict.fromkeys([*models.mistakes, *models.warnings]))
        yield from (
            Entry("model", line.name) for line in models.lines if has_words(self.words, line.name, line.model_id)
        )

    @property
    def filter_in_force(self) -> FilterInForce | None:
        """The active filter with its counts of suites, pulls and models."""
        if not self.words:
            return None
        shown = sum(entry.kind in ("suite", "pull", "model") for entry in self.entries)
        total = sum(len(part.lines) for part in (self.suites, self.models) if part is not None)
        total += len(self.suites.missing) if self.suites is not None else 0
        return FilterInForce(self.words, shown, total)

    # Opening ---------------------------------------------------------------------------------------------------------

    def can_fold(self, entry: Entry) -> bool:
        """Return whether an entry is a suite or category that can be folded."""
        return self.opened is None and entry.kind in ("suite", "category")

    def fold(self, entry: Entry) -> Entry:
        """Fold or unfold the suite of an entry; return the suite's entry."""
        self.unfolded ^= {entry.name}
        return Entry("suite", entry.name)

    def category_of(self, entry: Entry) -> Entry | None:
        """Return the single category of an entry, or None."""
        if entry.kind == "category":
            return entry
        line = self.suite(entry.name) if entry.kind == "suite" else None
        if line is None or line.mistake or len(line.categories) != 1:
            return None
        return Entry("category", line.name, line.categories[0].name)

    def has_many_categories(self, entry: Entry) -> bool:
        """Return whether an entry is a usable suite of several categories."""
        line = self.suite(entry.name) if entry.kind == "suite" else None
        return line is not None and not line.mistake and len(line.categories) > 1

    def asks_to_run(self, entry: Entry) -> bool:
        """Return whether an entry is a suite whose code is not allowed yet."""
        line = self.suite(entry.name) if entry.kind == "suite" else None
        return line is not None and not line.may_run

    def pop_awaited(self) -> Entry | None:
        """Return the awaited entry once it is listed."""
        if self.awaited is None or (self.suite(self.awaited.name) or self.model(self.awaited.name)) is None:
            return None
        entry, self.awaited = self.awaited, None
        return entry

    # Key labels -------------------------------------------------------------------------------------------------------

    def run_offer(self, entry: Entry) -> tuple[str, str]:
        """Return the model and suite preselected for a new run."""
        if self.opened is not None:
            return "", self.opened.name
        if entry.kind == "model":
            return entry.name, ""
        return "", entry.name if entry.kind in ("suite", "category") else ""

    def command_words(self, entry: Entry) -> tuple[str, ...]:
        """Return the words of the command that runs or pulls an entry, or ().

        A missing model is filled in with one that is free if possible, a missing suite with the smallest.
        """
        entry = self.opened or entry
        match entry.kind:
            case "pull":
                return "pull", entry.name
            case "model":
                usable = [line for line in self.suites.lines if not line.mistake] if self.suites else []
                smallest = min(usable, key=lambda line: line.cases, default=None)
                return ("run", "-m", entry.name, "-s", smallest.name) if smallest else ()
            case "suite" | "category":
                ready = [line for line in self.models.lines if line.ready] if self.models else []
                cheapest = min(ready, key=lambda line: line.is_priced, default=None)
                what = f"{entry.name}/{entry.category}" if entry.category else entry.name
                return ("run", "-m", cheapest.name, "-s", what) if cheapest else ()
            case _:
                return ()

    def key_words(self, entry: Entry) -> Mapping[str, str]:
        """Return the key line labels of enter and L."""
        if not any(self.run_offer(entry)):
            return {"run.new": "new run"}
        if self.asks_to_run(entry):
            return {"open": "allow", "run.new": ""}
        return {"open": "open" if self.opened is None else "", "run.new": "run this"}

    def _is_not_own(self, entry: Entry) -> bool:
        line = self.suite((self.opened or entry).name) if (self.opened or entry).kind in ("suite", "category") else None
        return line is not None and line.entry.origin != "user"

    def why_not(self, action: str, entry: Entry, *, has_case: bool, case_words: str) -> str:
        """Return the reason that an action is unavailable for the current row; empty if it is available."""
        kind = entry.kind if self.opened is None else "case"
        if action == "entry.edit" and self._is_not_own(entry):
            return "this suite is not your own: copy its folder into ./data to change it"
        if action == "model.ping" and kind != "model":
            return "only models have a server"
        if action == "fold" and kind not in ("suite", "category"):
            return "only suites have categories to fold"
        if action == "copy.json" and (kind != "case" or not has_case):
            return "there is no case under the cursor"
        if action == "filter.clear" and not self.words and not case_words:
            return "no filter is active"
        return ""
