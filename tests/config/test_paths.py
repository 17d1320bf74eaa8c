"""Where things are looked for, in which order, and what a mistyped place leads to."""

from pathlib import Path

import pytest

from console.config import paths
from console.core.fault import UsageError


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Make an installed program in an empty home: no checkout, no settings."""
    monkeypatch.setattr(paths, "checkout", lambda: None)
    for name in ("EVAL_CONSOLE_MODELS", "EVAL_CONSOLE_DATA", "EVAL_CONSOLE_RUNS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return tmp_path


def test_the_models_file_is_looked_for_in_order(home, monkeypatch):
    assert paths.find_models_file() is None
    user = home / "config" / "eval-console" / "models.toml"
    user.parent.mkdir(parents=True)
    user.touch()
    assert paths.find_models_file() == user
    (home / "checkout").mkdir()
    (home / "checkout" / "models.toml").touch()
    monkeypatch.setattr(paths, "checkout", lambda: home / "checkout")
    assert paths.find_models_file() == home / "checkout" / "models.toml"
    Path("models.toml").touch()
    assert paths.find_models_file() == home / "work" / "models.toml"
    (home / "env.toml").touch()
    monkeypatch.setenv("EVAL_CONSOLE_MODELS", str(home / "env.toml"))
    assert paths.find_models_file() == home / "env.toml"
    (home / "flag.toml").touch()
    assert paths.find_models_file(home / "flag.toml") == home / "flag.toml"


def test_a_place_that_was_named_must_exist(home, monkeypatch):
    with pytest.raises(UsageError) as caught:
        paths.find_models_file("typo.toml")
    assert caught.value.where == "--models"
    assert "typo.toml does not exist" in str(caught.value)
    monkeypatch.setenv("EVAL_CONSOLE_DATA", str(home / "nowhere"))
    with pytest.raises(UsageError) as caught:
        paths.find_data_roots(None)
    assert caught.value.where == "EVAL_CONSOLE_DATA"


def test_data_of_an_installed_program(home):
    roots = paths.find_data_roots(None)
    assert roots.bundled.name == "bundled"
    assert roots.pulled == home / "data" / "eval-console" / "data"
    assert roots.user == ()
    assert paths.find_data_roots(home / "work").user == (home / "work",)


def test_data_of_a_checkout(monkeypatch):
    monkeypatch.delenv("EVAL_CONSOLE_DATA", raising=False)
    root = Path(__file__).resolve().parents[2]
    roots = paths.find_data_roots(None)
    assert roots.bundled == roots.pulled == root / "data"
    assert roots.user == ()


def test_runs_go_where_one_works(home, monkeypatch):
    assert paths.find_runs_root(None) == home / "work" / "runs"
    monkeypatch.setenv("EVAL_CONSOLE_RUNS", str(home / "elsewhere"))
    for explicit, words in ((None, "EVAL_CONSOLE_RUNS: "), ("named", "--runs: ")):
        with pytest.raises(UsageError, match=f"^{words}.* does not exist"):
            paths.find_runs_root(explicit)
    assert paths.find_runs_root(None, may_be_new=True) == home / "elsewhere"
    (home / "elsewhere").mkdir()
    assert paths.find_runs_root(None) == home / "elsewhere"
    assert paths.find_runs_root("named", may_be_new=True) == home / "work" / "named"
    Path("file").touch()
    with pytest.raises(UsageError):
        paths.find_runs_root("file")


def test_nothing_is_created_by_looking(home):
    paths.find_models_file()
    paths.find_data_roots(None)
    paths.find_runs_root(None)
    assert paths.state_dir() == home / "state" / "eval-console"
    assert sorted(path.name for path in home.iterdir()) == ["work"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "find", [paths.find_runs_root, paths.find_data_roots, paths.find_own_data, paths.find_models_file, paths.expanded]
)
def test_the_home_of_nobody_is_named(find) -> None:
    with pytest.raises(UsageError, match="~nosuchuser has no home folder"):
        find("~nosuchuser/x")
