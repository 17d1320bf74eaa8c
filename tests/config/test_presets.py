"""Presets: read strictly with file, line and hint; written so that the rest of the file stays as it was."""

from pathlib import Path

import pytest
import tomli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.config.preset import Preset, load_presets, read_suite_words, read_time, suite_words
from console.core.fault import UsageError
from console.core.run import Budget
from console.store.preset_file import save_preset, table_of

WHOLE = Preset(
    models=("gpt x", 'a"b'),
    suites={"bfcl": ("live_simple", "live_multiple"), "aidan": ()},
    limit=200,
    seed=7,
    ids=("@ids.txt", "x-1"),
    only_failed_of="0117-1420",
    rollouts=2,
    concurrency=16,
    mode="fc",
    roles={"judge": "gpt-x", "embedding": "e"},
    options={"aidan/protocol": "original", "max_steps": 3, "thresholds": {"a b": [1, 2.5, True]}},
    budget=Budget(cost_usd=5.0, tokens=100, seconds=600.0, errors=3),
    until="decided",
    baseline="nightly",
    margin="1pt",
    by="category",
    queue=True,
    name="night\u007fly",
)


def presets(path: Path, text: str):
    path.write_text(text, encoding="utf-8")
    return load_presets([path])


def test_a_preset_comes_back_as_it_was_saved(tmp_path):
    path = tmp_path / "deep" / "presets.toml"
    save_preset(path, "nightly", WHOLE)
    save_preset(path, "every thing", Preset())
    found = load_presets([path])
    assert found.mistakes == []
    assert found.find("nightly") == WHOLE
    assert found.find("every thing") == Preset()
    assert path.read_text().startswith("# Presets of eval-console")


def test_saving_again_changes_only_that_table(tmp_path):
    path = tmp_path / "presets.toml"
    path.write_text('# mine\n\n[a]\nmodels = ["x"] # one\n\n# about b\n[b]\nsuites = ["s"]\n\n[c]\nlimit = 3\n')
    save_preset(path, "b", Preset(models=("new",)))
    text = path.read_text()
    assert text.startswith('# mine\n\n[a]\nmodels = ["x"] # one\n\n# about b\n[b]\nmodels = ["new"]\n')
    assert text.endswith("\n[c]\nlimit = 3\n")
    save_preset(path, "d", Preset(limit=1))
    assert path.read_text() == text + "\n[d]\nmodels = []\nsuites = []\nlimit = 1\n"


def test_a_damaged_file_is_not_written_over(tmp_path):
    path = tmp_path / "presets.toml"
    path.write_text("[a]\nmodels = [x]\n")
    with pytest.raises(UsageError, match="has an error") as told:
        save_preset(path, "b", Preset())
    assert told.value.where == "presets.toml:2"
    assert path.read_text() == "[a]\nmodels = [x]\n"


@pytest.mark.parametrize(
    ("line", "words", "hint"),
    [
        ("modells = []", "unknown key 'modells'", "Did you mean models?"),
        ('models = "one"', "models must be a list of strings", '["one", "two"]'),
        ("limit = 0", "integer of at least 1", "limit = 10"),
        ("rollouts = true", "integer of at least 1", "rollouts = 10"),
        ("rollouts = 9007199254740993", "rollouts must be at most 2^53", "rollouts = 10"),
        ("seed = -1", "integer of at least 0", "seed = 7"),
        ("mode = 1", "mode must be a string", "mode ="),
        ("max_cost = 0", "amount of US dollars", "max_cost = 5.0"),
        ("max_cost = nan", "amount of US dollars", "max_cost = 5.0"),
        ('max_time = "soon"', "a time such as", 'max_time = "10m"'),
        ("options = 3", "options must be a table", "options ="),
        ('queue = "yes"', "queue must be true or false", "queue = true"),
        ("models = [x]", "invalid value", "Strings need quotes"),
    ],
)
def test_every_mistake_has_file_line_and_hint(tmp_path, line, words, hint):
    found = presets(tmp_path / "presets.toml", f"[good]\nlimit = 2\n\n[bad]\n{line}\n")
    assert found.find("good").limit == 2
    (mistake,) = found.mistakes
    assert mistake.where == "presets.toml:5"
    assert words in mistake.message
    assert hint in mistake.hint
    with pytest.raises(UsageError) as told:
        found.find("bad")
    assert str(told.value).startswith("presets.toml:5: ")


def test_limit_and_sample_exclude_each_other(tmp_path):
    found = presets(tmp_path / "presets.toml", "[bad]\nlimit = 2\nsample = 2\n")
    assert "cannot be combined" in found.mistakes[0].message


def test_the_current_folder_goes_before_the_users(tmp_path):
    mine, ours = tmp_path / "mine.toml", tmp_path / "ours.toml"
    save_preset(ours, "a", Preset(limit=1))
    save_preset(mine, "a", Preset(limit=2))
    save_preset(mine, "b", Preset(limit=3))
    found = load_presets([ours, tmp_path / "none.toml", mine])
    assert (found.find("a").limit, found.find("b").limit) == (1, 3)
    assert found.files == {"a": ours, "b": mine}


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path):
    found = presets(tmp_path / "presets.toml", "[nightly]\n")
    with pytest.raises(UsageError) as told:
        found.find("nightli")
    assert "Did you mean nightly?" in str(told.value)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    name=st.text(st.characters(exclude_categories=("Cs",)), min_size=1),
    values=st.dictionaries(st.text(max_size=8), st.integers() | st.booleans() | st.text(max_size=20), max_size=4),
)
def test_any_text_survives_the_file(name, values):
    read = tomli.loads(table_of(name, Preset(options=values, name=name)))
    expected = {key.encode("utf-8", "replace").decode(): one for key, one in values.items()}
    assert list(read) == [name]
    assert read[name].get("options", {}).keys() == expected.keys()
    assert read[name]["name"] == name


def test_suites_and_categories_are_one_word():
    suites = {"bfcl": ("a", "b"), "aidan": ()}
    assert suite_words(suites) == ["bfcl/a", "bfcl/b", "aidan"]
    assert read_suite_words(suite_words(suites)) == suites
    assert read_suite_words(["x/a", "x"]) == {"x": ()}
    assert read_suite_words(["x", "x/a"]) == {"x": ()}


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("10m", 600), ("2 h", 7200), ("1.5s", 1.5)])
def test_times_are_read(text, seconds):
    assert read_time(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "m", "-1", "1d", "1e3", "nan"])
def test_other_times_are_refused(text):
    with pytest.raises(ValueError, match="a time"):
        read_time(text)
