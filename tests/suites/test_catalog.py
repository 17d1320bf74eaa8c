"""The catalogue: what it lists, what it passes over with a warning, and what it says of a wrong name."""

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.core.fault import UsageError
from console.suites import loading
from console.suites.catalog import Catalog
from console.suites.suite import DemoRun

GROUP = "eval_console.suites"


@dataclass(frozen=True)
class Places:
    bundled: Path
    pulled: Path
    user: tuple[Path, ...] = ()


def _dataset(root: Path, name: str, text: str = 'format = "bfcl"\n') -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text(text)
    return folder


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("bundled", "pulled", "mine"):
        (tmp_path / name).mkdir()
    return Places(tmp_path / "bundled", tmp_path / "pulled", (tmp_path / "mine",))


def test_lists_all_roots_by_name(places: Places):
    _dataset(places.bundled, "bfcl-starter", 'format = "bfcl"\ntitle = "Starter"\n[source]\nversion = "1"\n')
    _dataset(places.pulled, "bfcl", 'format = "bfcl"\ncomparable = true\n')
    _dataset(places.user[0], "mine")
    (places.user[0] / "no-dataset").mkdir()
    entries = Catalog(places).entries()
    assert [(entry.name, entry.origin, entry.comparable) for entry in entries] == [
        ("bfcl", "pulled", True),
        ("bfcl-starter", "bundled", False),
        ("mine", "user", False),
    ]
    assert entries[1].title == "Starter"
    assert entries[1].source == {"version": "1"}
    assert entries[2].title == "mine"


def test_a_user_root_may_be_a_dataset_itself(places: Places, tmp_path: Path):
    folder = _dataset(tmp_path / "elsewhere", "own")
    assert [entry.name for entry in Catalog(Places(places.bundled, places.pulled, (folder,))).entries()] == ["own"]


def test_one_folder_for_bundled_and_pulled_is_listed_once(places: Places):
    _dataset(places.bundled, "bfcl", 'format = "bfcl"\norigin = "pulled"\n')
    catalog = Catalog(Places(places.bundled, places.bundled))
    assert [(entry.name, entry.origin) for entry in catalog.entries()] == [("bfcl", "pulled")]
    assert catalog.warnings == []


def test_of_two_equal_names_the_users_counts_and_it_is_said(places: Places):
    mine = _dataset(places.user[0], "bfcl", 'format = "bfcl"\ntitle = "mine"\n')
    _dataset(places.pulled, "bfcl")
    catalog = Catalog(places)
    assert [entry.folder for entry in catalog.entries()] == [mine]
    assert any("hidden by" in line for line in catalog.warnings)
    assert catalog.hidden_by("bfcl") == [line for line in catalog.warnings if "hidden by" in line]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = ", "not TOML"),
        ('title = "x"\n', "no `format`"),
        ("format = 3\n", "must be a string"),
        ('format = "bfcl"\ncomparable = "yes"\n', "true or false"),
        ('format = "bfcl"\nsource = 1\n', "true or false"),
    ],
)
def test_a_damaged_suite_toml_is_a_warning_and_an_error_when_opened(places: Places, text: str, message: str):
    _dataset(places.user[0], "broken", text)
    _dataset(places.user[0], "fine")
    catalog = Catalog(places)
    assert [entry.name for entry in catalog.entries()] == ["fine"]
    assert any(message in line and "broken" in line for line in catalog.warnings)
    with pytest.raises(UsageError, match=message):
        catalog.open("broken")


def test_a_wrong_name_gets_the_nearest(places: Places):
    _dataset(places.bundled, "bfcl-starter")
    with pytest.raises(UsageError) as caught:
        Catalog(places).open("bfcl-startr")
    assert caught.value.hint == "Did you mean bfcl-starter?"


def test_official_data_that_is_missing_names_the_pull(places: Places):
    with pytest.raises(UsageError) as caught:
        Catalog(places).open("bfcl")
    assert "eval-console pull bfcl" in caught.value.hint


def test_an_unknown_format_is_named(places: Places):
    _dataset(places.user[0], "odd", 'format = "bfcll"\n')
    with pytest.raises(UsageError) as caught:
        Catalog(places).open("odd")
    assert "bfcll" in caught.value.message
    assert caught.value.hint == "Did you mean bfcl?"


def _install(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    point = importlib.metadata.EntryPoint(name, value, GROUP)
    points = importlib.metadata.EntryPoints([point])
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: points.select(**wanted))


def test_a_broken_entry_point_is_a_warning_with_its_name(places: Places, monkeypatch: pytest.MonkeyPatch):
    _install(monkeypatch, "theirs", "no_such_module_here:Suite")
    _dataset(places.user[0], "plugged", 'format = "theirs"\n')
    catalog = Catalog(places)
    assert [entry.name for entry in catalog.entries()] == ["plugged"]
    assert any("theirs" in line and "no_such_module_here" in line for line in catalog.warnings)
    with pytest.raises(UsageError, match="theirs"):
        catalog.open("plugged")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import threading\nthreading.Event().wait()\n", "did not end within"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise RuntimeError('theirs is not here')\n", "RuntimeError: theirs is not here"),
    ],
    ids=["hangs", "exits", "raises"],
)
def test_a_plugin_that_misbehaves_at_import_costs_only_itself(
    places: Places, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, said: str
):
    module = f"plugin_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(loading, "LOAD_S", 0.1 if "wait" in code else 60.0)
    _install(monkeypatch, "theirs", f"{module}:Suite")
    _dataset(places.user[0], "plugged", 'format = "theirs"\n')
    _dataset(places.user[0], "sound")
    catalog = Catalog(places)
    assert [entry.name for entry in catalog.entries()] == ["plugged", "sound"]
    [warning] = catalog.warnings
    assert "'theirs'" in warning
    assert said in warning
    monkeypatch.setattr(loading, "LOAD_S", 60.0)
    with pytest.raises(UsageError, match="'theirs'"):  # at once: what hung is not waited for again
        catalog.open("plugged")
    assert catalog.open("sound").entry.name == "sound"


def test_a_plugin_for_another_version_is_refused_with_what_it_lacks(places: Places, monkeypatch: pytest.MonkeyPatch):
    _install(monkeypatch, "theirs", "builtins:repr")
    _dataset(places.user[0], "plugged", 'format = "theirs"\n')
    with pytest.raises(UsageError, match=r"'theirs' .* another version .* lack .*play"):
        Catalog(places).open("plugged")


def test_an_entry_point_opens_its_format(places: Places, monkeypatch: pytest.MonkeyPatch):
    _install(monkeypatch, "theirs", "console.benchmarks.bfcl.suite:BfclSuite")
    _dataset(places.user[0], "plugged", 'format = "theirs"\n')
    assert Catalog(places).open("plugged").entry.name == "plugged"


def test_two_packages_with_one_format_are_named(places: Places, monkeypatch: pytest.MonkeyPatch):
    points = importlib.metadata.EntryPoints(
        importlib.metadata.EntryPoint("theirs", value, GROUP) for value in ("one.suite:Suite", "two.suite:Suite")
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: points.select(**wanted))
    _dataset(places.user[0], "plugged", 'format = "theirs"\n')
    with pytest.raises(
        UsageError, match=r"two packages offer the format 'theirs': one\.suite:Suite and two\.suite:Suite"
    ):
        Catalog(places).open("plugged")


def test_demo_runs_are_read_and_play_simulated_models_only(places: Places):
    demo = '[[demo]]\norder = 2\nmodel = "{}"\ncases = 3\ncategories = ["a"]\nother_mode = "fc"\n'
    _dataset(places.bundled, "shown", 'format = "bfcl"\n' + demo.format("sim/hasty"))
    _dataset(places.bundled, "paid", 'format = "bfcl"\n' + demo.format("gpt-x"))
    _dataset(places.bundled, "odd", 'format = "bfcl"\ndemo = 1\n')
    catalog = Catalog(places)
    (entry,) = catalog.entries()
    assert entry.demo == (DemoRun(2, "sim/hasty", 3, ("a",), "fc"),)
    odd, paid = catalog.warnings
    assert "`demo` is invalid" in odd
    assert "'gpt-x'" in paid
