"""The rules of Library, without an app."""

from pathlib import Path

import pytest

from console.suites.catalog import official_data
from console.suites.suite import Category, SuiteEntry
from console.tui.data.entry_checks import Checksum
from console.tui.data.models import ModelLine, Models
from console.tui.data.suites import SuiteLine, Suites
from console.tui.screens.library.controller import MODELS, NOTHING, SUITES, Entry, LibraryController


def suite_line(name: str, *categories: str, mistake: str = "") -> SuiteLine:
    entry = SuiteEntry(name, "own", Path("/x"), name.upper())
    return SuiteLine(entry, tuple(Category(category, 3) for category in categories), mistake)


@pytest.fixture
def library() -> LibraryController:
    controller = LibraryController()
    controller.suites = Suites(
        [suite_line("talk", "what", "why"), suite_line("one", "all"), suite_line("torn", mistake="not JSON")],
        ["a folder was passed over"],
        missing=tuple(official_data()[:1]),
    )
    model = ModelLine("gpt", "gpt-1", True, "", False, "openai", "", "fc", 4, 1.0, 2.0, 1)
    controller.models = Models([model], mistakes=["models.toml:3: unknown key"])
    return controller


def test_suites_notes_pulls_and_models_are_listed_under_headings(library: LibraryController) -> None:
    assert library.entries == [
        SUITES,
        Entry("suite", "talk"),
        Entry("suite", "one"),
        Entry("suite", "torn"),
        Entry("note", "a folder was passed over"),
        Entry("pull", official_data()[0].name),
        MODELS,
        Entry("note", "models.toml:3: unknown key"),
        Entry("model", "gpt"),
    ]
    assert len({entry.key for entry in library.entries}) == len(library.entries)


def test_what_is_not_read_has_no_heading() -> None:
    controller = LibraryController()
    assert controller.entries == []
    controller.models = Models()
    assert controller.entries == []


def test_words_narrow_to_suites_categories_and_models(library: LibraryController) -> None:
    library.words = "WHY"
    assert library.entries == [SUITES, Entry("suite", "talk"), Entry("category", "talk", "why")]
    library.words = "gpt-1"
    assert library.entries == [MODELS, Entry("model", "gpt")]
    library.words = "zzz"
    assert library.entries == []


def test_folding_shows_and_hides_categories(library: LibraryController) -> None:
    suite = Entry("suite", "talk")
    assert library.can_fold(suite)
    assert library.fold(suite) == suite
    assert library.entries[2:4] == [Entry("category", "talk", "what"), Entry("category", "talk", "why")]
    assert library.fold(Entry("category", "talk", "why")) == suite
    assert library.entries[2] == Entry("suite", "one")
    assert not library.can_fold(Entry("model", "gpt"))


def test_a_suite_of_one_category_opens_at_once(library: LibraryController) -> None:
    assert library.category_of(Entry("suite", "one")) == Entry("category", "one", "all")
    assert library.category_of(Entry("suite", "talk")) is None
    assert library.has_many_categories(Entry("suite", "talk"))
    assert library.category_of(Entry("suite", "torn")) is None
    assert not library.has_many_categories(Entry("suite", "torn"))
    assert library.category_of(Entry("model", "gpt")) is None


@pytest.mark.parametrize(
    ("entry", "command", "offer"),
    [
        (Entry("suite", "a b"), "run -m gpt -s a b", ("", "a b")),
        (Entry("category", "talk", "why"), "run -m gpt -s talk/why", ("", "talk")),
        (Entry("model", "gpt"), "run -m gpt -s one", ("gpt", "")),
        (Entry("pull", "data"), "pull data", ("", "")),
        (Entry("note", "x"), "", ("", "")),
        (NOTHING, "", ("", "")),
    ],
)
def test_commands_and_new_runs(library: LibraryController, entry: Entry, command: str, offer: tuple[str, str]) -> None:
    assert " ".join(library.command_words(entry)) == command
    assert library.run_offer(entry) == offer
    library.opened = Entry("category", "talk", "what")
    assert library.command_words(entry) == ("run", "-m", "gpt", "-s", "talk/what")
    assert library.run_offer(entry) == ("", "talk")


def test_keys_say_why_they_cannot_act(library: LibraryController) -> None:
    def why_not(action: str, entry: Entry, *, has_case: bool = False, case_words: str = "") -> str:
        return library.why_not(action, entry, has_case=has_case, case_words=case_words)

    suite, model = Entry("suite", "talk"), Entry("model", "gpt")
    assert why_not("model.ping", model) == why_not("fold", suite) == ""
    assert why_not("model.ping", suite) == "only models have a server"
    assert why_not("fold", model) == "only suites have categories to fold"
    assert why_not("copy.json", suite, has_case=True) == "there is no case under the cursor"
    assert why_not("filter.clear", suite) == "no filter is active"
    assert why_not("filter.clear", suite, case_words="x") == ""
    library.opened = Entry("category", "talk", "what")
    assert why_not("copy.json", suite, has_case=True) == ""
    assert why_not("model.ping", model) == "only models have a server"


def test_suites_whose_files_changed_since_the_pull(library: LibraryController) -> None:
    library.checksums = {"talk": Checksum("1", "2"), "one": Checksum("1", "1"), "torn": Checksum("1")}
    assert library.changed_suites == {"talk"}
