"""Results for model repositories of the Hugging Face Hub: the run's score, what it rests on, and nothing guessed."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.rules.categories import SCORING
from console.cli.exitcode import Exit

yaml = pytest.importorskip("yaml", reason="reads YAML")

FORM = ("--format", "hf-eval-results")
NAMED = ("--hub-dataset", "cais/hle", "--hub-task", "hle")


@pytest.fixture
def run(console: Any) -> str:
    ended = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "--category", "simple_python", "--json", "--quiet")
    assert ended.code == Exit.OK, ended.err
    return ended.data["run"]


def read(path: Path) -> Any:
    (entry,) = yaml.safe_load(path.read_text(encoding="ascii"))
    return entry


def test_the_value_is_the_headline_and_the_notes_say_what_it_rests_on(console: Any, home: Path, run: str):
    ended = console("export", run, *FORM, *NAMED)
    assert (ended.code, ended.out) == (Exit.OK, ".eval_results/hle.yaml  (simulated)\n"), ended.err
    entry = read(home / ".eval_results" / "hle.yaml")
    report = console("export", run, "--format", "json").data
    (headline, *_) = report["report"]["metrics"]
    assert entry.keys() == {"dataset", "value", "date", "notes"}
    assert entry["dataset"] == {"id": "cais/hle", "task_id": "hle"}
    assert entry["value"] == pytest.approx(100 * headline["value"], abs=1e-4)
    assert isinstance(entry["date"], str)
    assert entry["notes"].startswith("simulated, ")
    passed = sum(rollout["outcome"] == "passed" for rollout in report["rollouts"])
    assert f"{passed} passed" in entry["notes"]
    assert "part of the suite" in entry["notes"]


def test_a_source_is_the_one_that_is_named(console: Any, home: Path, run: str):
    assert console("export", run, *FORM, *NAMED, "--hub-source", "https://example.org/a#b").code == Exit.OK
    assert read(home / ".eval_results" / "hle.yaml")["source"] == {"url": "https://example.org/a#b"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "the suite bfcl-starter has no dataset on the Hub: give one with --hub-dataset ORGANIZATION/NAME"),
        (NAMED[:2], "the suite bfcl-starter has no task in cais/hle: give one with --hub-task TASK"),
        (("--hub-dataset", "hle", "--hub-task", "hle"), "'hle' is not a Hub dataset"),
        (("--hub-dataset", "cais/hle", "--hub-task", "../up"), "'../up' is not a task name"),
        ((*NAMED, "--hub-source", "x: [y\n"), "is not a URL"),
    ],
)
def test_nothing_is_guessed(console: Any, home: Path, run: str, options: tuple[str, ...], words: str):
    ended = console("export", run, *FORM, *options)
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert words in ended.err
    assert not (home / ".eval_results").exists()


def test_a_score_that_lacks_categories_is_no_score(console: Any, home: Path):
    """The accuracy of two of the 21 categories of the official data would be ranked among whole results."""
    part = ("--category", "simple_python,multiple", "--ids", "simple_python_0,multiple_0", "--json", "--quiet")
    name = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", *part).data["run"]
    assert console("export", name, *FORM, *NAMED).code == Exit.OK
    assert "incomplete: 2 of" in read(home / ".eval_results" / "hle.yaml")["notes"]
    (place,) = home.rglob(f"{name}/run.json")
    manifest = json.loads(place.read_text())
    manifest["suite_cases"] = dict.fromkeys(SCORING, 10)  # as in a run of the official data
    place.write_text(json.dumps(manifest))
    (place.parent / "summary.json").unlink()
    ended = console("export", name, *FORM, *NAMED)
    assert ended.code == Exit.USAGE
    assert "has no score: the official score needs 21 categories, the results have 2" in ended.err


def test_the_options_belong_to_this_format(console: Any, run: str):
    ended = console("export", run, "--format", "csv", *NAMED)
    assert ended.code == Exit.USAGE
    assert "--hub-dataset is for --format hf-eval-results" in ended.err


def test_a_suite_may_name_its_benchmark(console: Any, home: Path):
    assert console("new", "rivers", "--kind", "dialogue").code == Exit.OK
    (place,) = home.rglob("rivers/suite.toml")
    place.write_text(
        place.read_text() + '\n[source]\nhub_dataset = "org/rivers"\nhub_task = "rivers_v1"\nhub_revision = "01ab"\n'
    )
    ended = console("run", "-m", "sim/careful", "-s", "rivers", "--json", "--quiet")
    assert ended.code == Exit.OK, ended.err
    assert console("export", ended.data["run"], *FORM, "-o", "out").code == Exit.OK
    assert read(home / "out" / "rivers_v1.yaml")["dataset"] == {
        "id": "org/rivers",
        "task_id": "rivers_v1",
        "revision": "01ab",
    }
