"""What Home remembers of a suite's cases is what counting them anew would give, whatever happens to its folder."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.suites import category_index
from console.suites.catalog import Catalog
from console.suites.category_index import CategoryIndex
from console.suites.modes import categories_with_modes
from console.suites.suite import Category

ROW = {"id": "a", "prompt": "Capital of France?", "contains": "Paris", "category": "europe"}


class Desk:
    """A data folder with one suite, and the index over it."""

    def __init__(self, folder: Path) -> None:
        self.data, self.file = folder / "data", folder / "state" / "categories.msgpack"
        self.suite = self.data / "capitals"
        self.suite.mkdir(parents=True)
        (self.suite / "suite.toml").write_text('format = "dialogue"\n')
        self.write(ROW)

    def write(self, *rows: dict[str, str], to: str = "cases.jsonl") -> None:
        (self.suite / to).write_text("".join(json.dumps(row) + "\n" for row in rows))

    @property
    def catalog(self) -> Catalog:
        return Catalog(find_data_roots(self.data))

    def categories(self) -> tuple[Category, ...]:
        """As Home reads them."""
        index, catalog = CategoryIndex(self.file), self.catalog
        categories = index.categories(catalog, catalog.entry("capitals"))
        index.save()
        return categories

    def counted(self) -> tuple[Category, ...]:
        """As they are."""
        return tuple(categories_with_modes(self.catalog.open("capitals")))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(category_index, "time", SimpleNamespace(time_ns=lambda: 1 << 62))  # all files are long settled
    return Desk(tmp_path)


def forbid_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(suite: object) -> list[Category]:
        raise AssertionError(f"{suite} is counted again")

    monkeypatch.setattr(category_index, "categories_with_modes", count)


def test_a_folder_without_change_is_not_counted_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    categories = desk.categories()
    assert categories == desk.counted() == (Category("europe", 1, ("fc",)),)
    forbid_counting(monkeypatch)
    assert desk.categories() == categories


def replace_rows(desk: Desk) -> None:
    """Another file of the same size and times in its place."""
    rows, status = desk.suite / "cases.jsonl", os.stat(desk.suite / "cases.jsonl")
    desk.write({**ROW, "category": "africa"}, to="new.jsonl")
    os.utime(desk.suite / "new.jsonl", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(desk.suite / "new.jsonl", rows)
    assert (rows.stat().st_size, rows.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)


CHANGES: dict[str, Callable[[Desk], object]] = {
    "a row more": lambda desk: desk.write(ROW, {**ROW, "id": "b"}),
    "same size": lambda desk: desk.write({**ROW, "category": "africa"}),
    "same size and times": replace_rows,
    "a file more": lambda desk: desk.write({**ROW, "id": "c"}, to="notes.txt"),
    "other settings": lambda desk: (desk.suite / "suite.toml").write_text('format = "dialogue"\ntitle = "Cities"\n'),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_any_change_it_is_counted(desk: Desk, change: Callable[[Desk], object]) -> None:
    desk.categories()
    change(desk)
    assert desk.categories() == desk.counted()


def test_a_mistake_is_reported_each_time(desk: Desk) -> None:
    desk.categories()
    (desk.suite / "cases.jsonl").write_text("{")
    for _ in range(2):
        with pytest.raises(UsageError):
            desk.categories()


def test_a_file_that_was_changed_just_now_is_not_relied_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = os.stat(desk.suite / "cases.jsonl").st_ctime_ns + 1_000_000
    monkeypatch.setattr(category_index, "time", SimpleNamespace(time_ns=lambda: now_ns))
    desk.categories()
    assert not desk.file.exists()


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x92\x01", b"[]", b"\x92\x92\x01\x90\x80" * 9])
def test_a_damaged_index_is_made_anew(desk: Desk, damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.categories()
    desk.file.write_bytes(damage)
    assert desk.categories() == desk.counted()
    forbid_counting(monkeypatch)
    desk.categories()


def test_an_index_that_cannot_be_written_is_done_without(desk: Desk) -> None:
    desk.file.parent.write_text("a file in its place")
    assert desk.categories() == desk.counted()


def test_another_program_counts_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.categories()
    monkeypatch.setattr(category_index.sys, "hexversion", 1)
    forbid_counting(monkeypatch)
    with pytest.raises(AssertionError):
        desk.categories()


@pytest.mark.parametrize(
    "suite_toml", ['format = "dialogue"\ntitle = "../others"\n', 'format = "dialogue"\ntitle = "/etc"\n']
)
def test_a_suite_that_may_read_elsewhere_is_counted_each_time(desk: Desk, suite_toml: str) -> None:
    (desk.suite / "suite.toml").write_text(suite_toml)
    desk.categories()
    assert not desk.file.exists()


def test_code_of_a_folder_is_counted_each_time(desk: Desk) -> None:
    assert desk.catalog.is_own_format(desk.catalog.entry("capitals"))
    (desk.suite / "suite.toml").write_text('module = "suite.py"\n')
    assert not desk.catalog.is_own_format(desk.catalog.entry("capitals"))


def test_a_suite_that_is_gone_is_forgotten(desk: Desk) -> None:
    desk.categories()
    gone = desk.suite.rename(desk.data / "moved")
    desk.suite = desk.data / "capitals"
    desk.suite.mkdir()
    (desk.suite / "suite.toml").write_text((gone / "suite.toml").read_text())
    desk.write(ROW, {**ROW, "id": "b"})
    index, catalog = CategoryIndex(desk.file), desk.catalog
    index.categories(catalog, catalog.entry("moved"))
    index.save()
    assert b"moved" in desk.file.read_bytes()
    shutil.rmtree(gone)
    assert desk.categories() == desk.counted()
    assert b"moved" not in desk.file.read_bytes()
