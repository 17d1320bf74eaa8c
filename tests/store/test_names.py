"""Names on file systems that ignore case and Unicode form, and names as people type them."""

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.names import find_name, folded, normalized, slug
from console.store.file_names import distinct_name, listed_name
from console.store.run_list import find_run, name_with_part
from console.store.runs import new_run_id

CAFE = "Café"
DECOMPOSED = unicodedata.normalize("NFD", CAFE)


class FoldedFolder:
    """Functions of `os` that find names in any case and Unicode form."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._lexists, self._lstat = folder, os.path.lexists, os.lstat
        monkeypatch.setattr(os.path, "lexists", lambda path: self._lexists(self._found(path)))
        monkeypatch.setattr(os, "lstat", lambda path, **named: self._lstat(self._found(path), **named))

    def _found(self, path: Path) -> Path:
        same = [name for name in os.listdir(self.folder) if folded(name) == folded(Path(path).name)]
        return self.folder / same[0] if same and Path(path).parent == self.folder else path


def test_two_models_whose_names_differ_in_case_get_two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FoldedFolder(tmp_path, monkeypatch)
    assert distinct_name("GPT-4", tmp_path) == "GPT-4"
    (tmp_path / "GPT-4").mkdir()
    other = distinct_name("gpt-4", tmp_path)
    assert other.startswith("gpt-4~")
    assert folded(other) != folded("GPT-4")
    (tmp_path / other).mkdir()
    assert (distinct_name("GPT-4", tmp_path), distinct_name("gpt-4", tmp_path)) == ("GPT-4", other), "they stay"
    assert distinct_name(other, tmp_path) == other


def test_a_name_in_the_other_unicode_form_is_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FoldedFolder(tmp_path, monkeypatch)
    (tmp_path / DECOMPOSED).mkdir()
    assert distinct_name(CAFE, tmp_path) == DECOMPOSED, "as the folder lists it"
    assert listed_name("CAFÉ", tmp_path) == DECOMPOSED
    assert listed_name("other", tmp_path) == "other"


def test_where_case_counts_nothing_is_marked(tmp_path: Path) -> None:
    (tmp_path / "GPT-4").mkdir()
    assert distinct_name("gpt-4", tmp_path) == "gpt-4"
    assert distinct_name("gpt-4", tmp_path / "missing", ".json") == "gpt-4.json"


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_names_of_run_folders_do_not_depend_on_case_or_form(suite: str, model: str, name: str) -> None:
    run = new_run_id(suite, model, name=name).partition("T")[2]  # after the date
    assert (run.lower(), normalized(run), folded(run)) == (run, run, run)
    assert run.isascii()


def test_slugs_are_ascii_in_lower_case() -> None:
    assert slug(f"  {CAFE}/GPT-4 İ") == "caf-gpt-4-i"


def test_names_are_found_in_either_form() -> None:
    assert find_name(CAFE, [DECOMPOSED]) == DECOMPOSED
    assert find_name(DECOMPOSED, {"x": 1, CAFE: 2}) == CAFE
    assert find_name("café", [CAFE]) is None
    assert find_name("", ["x"]) is None
    assert name_with_part(CAFE, [f"2026-{DECOMPOSED}-1", "2026-other"]) == f"2026-{DECOMPOSED}-1"


def test_a_run_is_called_what_its_folder_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / DECOMPOSED
    run.mkdir()
    (run / "run.json").write_bytes(b"{}")
    assert find_run(tmp_path, CAFE).path == run
