"""Suspect ground truths: planted wrong keys are found, decisions are kept, and three scores are never mixed."""

import json
import re
import shutil
from pathlib import Path

import pytest
from cli.conftest import live_in, signals_kept

from console.__main__ import main
from console.insight.suspects import three_scores
from console.store.errata import read_errata

BUNDLED = Path(__file__).resolve().parents[2] / "data" / "bfcl-starter"
MODELS = ("a", "b", "c", "d", "e", "f", "hasty", "rambling")
FILES = ("simple_python", "live_simple", "multiple", "live_multiple", "parallel")


def plant(folder: Path) -> list[str]:
    """Change a value of the fourth key of each category; return the cases."""
    planted: list[str] = []
    for name in FILES:
        path = folder / "possible_answer" / f"BFCL_v4_{name}.json"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        arguments = next(iter(rows[3]["ground_truth"][0].values()))
        name = next(name for name, values in arguments.items() if values and isinstance(values[0], int | float | str))
        right = arguments[name][0]
        arguments[name] = [f"{right} wrong" if isinstance(right, str) else right + 7]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        planted.append(rows[3]["id"])
    return planted


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with runs of eight models, graded again by keys of which five are wrong, and the cases of these."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as monkeypatch, signals_kept():
        live_in(folder, monkeypatch)
        shutil.copytree(BUNDLED, Path("data", "harbor"))
        tables = [f'["m-{name}"]\nmodel_id = "{name}"\nprovider = "simulated"\n' for name in MODELS]
        Path("models.toml").write_text("\n".join(tables))
        models = [option for name in MODELS for option in ("-m", f"m-{name}")]
        places = ("--models", "models.toml", "--data", "data", "--quiet")
        assert main(["run", *models, "-s", "harbor", "--category", ",".join(FILES), *places]) in (0, 3)
        runs = [path.parent.name for path in Path("runs").glob("*/run.json")]
        planted = plant(Path("data", "harbor"))
        assert main(["regrade", *runs, *places]) in (0, 3)
    return folder, planted


@pytest.fixture
def harbor(console, home: Path, played: tuple[Path, list[str]]) -> tuple[list[str], dict[str, str]]:
    """Copies of the runs and their data in the current folder.

    Returns:
        The cases with a wrong key, and by model the run as graded by the right ones.
    """
    folder, planted = played
    for name in ("data", "runs"):
        shutil.copytree(folder / name, home / name)
    shutil.copy(folder / "models.toml", home)
    plans = [json.loads(path.read_text()) for path in (home / "runs").glob("*/run.json")]
    return planted, {plan["model"]["name"]: plan["id"] for plan in plans if "regraded" not in plan}


def test_planted_keys_are_listed_first_and_errata_bring_the_right_score_back(console, home, harbor):
    data, (planted, right) = ("--data", home / "data"), harbor
    found = console("suspects", "harbor", "-n", "10", *data, "--json").data
    listed = [each["case"] for each in found["suspects"]]
    assert len(set(planted) & set(listed)) >= 4
    sentence = next(each["sentence"] for each in found["suspects"] if each["case"] in planted)
    assert re.search(r"^\d of 8 models answer .+; the key is .+; the prompt says: .+", sentence)
    for case in planted:
        assert (
            console("suspects", "harbor", "--wrong", case, "--reason", "as asked", "--reader", "ann", *data).code == 0
        )
    found = console("suspects", "harbor", *data, "--json").data
    assert {each["case"] for each in found["errata"]} == set(planted)
    for model, run in right.items():
        tally = console("show", run, "--json").data["summary"]["tally"]
        before, after = tally["passed"] / (tally["passed"] + tally["failed"]), found["scores"][model]
        assert after["official"] <= before
        assert after["corrected"] == pytest.approx(before), model


def test_scores_stand_apart_in_reports(console, home, harbor):
    data, (planted, right) = ("--data", home / "data"), harbor
    listed = console("suspects", "harbor", *data, "--json").data
    run, model = listed["runs"]["m-a"], "m-a"
    assert "corrected" not in console("show", run, *data, "--json").data
    console("suspects", "harbor", "--wrong", planted[0], *data)
    scores = console("suspects", "harbor", *data, "--json").data["scores"][model]
    shown = console("show", run, *data, "--json").data
    assert shown["corrected"] == {
        "as_graded": scores["official"],
        "without_contested": scores["without_contested"],
        "corrected_keys": scores["corrected"],
        "corrected_by_people": None,
    }
    tally = shown["summary"]["tally"]
    assert shown["corrected"]["as_graded"] == tally["passed"] / (tally["passed"] + tally["failed"])
    both = console("compare", right[model], run, *data, "--json").data["corrected"]
    assert both == {"a": None, "b": shown["corrected"]}
    for form in ("markdown", "html", "json"):
        text = console("export", run, "--format", form, "-o", home / f"report.{form}", *data)
        assert text.code == 0, text.err
        written = (home / f"report.{form}").read_text()
        assert ("without_contested" if form == "json" else "without contested") in written


@pytest.mark.slow
def test_keys_that_nobody_can_match_or_that_a_reader_disputed_are_marked(console, home, harbor):
    path = home / "data" / "harbor" / "possible_answer" / "BFCL_v4_simple_python.json"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    name, arguments = next(iter(rows[0]["ground_truth"][0].items()))
    rows[0]["ground_truth"] = [{name: arguments | {"no_such_parameter": [1]}}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    runs = console("suspects", "harbor", "--data", home / "data", "--json").data["runs"]
    places = ("--models", home / "models.toml", "--data", home / "data")
    again = console("regrade", *runs.values(), *places, "--quiet", "--json").lines[0]["run"]
    assert console("dispute", f"{again}#{rows[5]['id']}", "two answers").code == 0
    listed = console("suspects", "harbor", "--data", home / "data", "-n", "99", "--json").data["suspects"]
    doubts = {each["case"]: each["doubt"] for each in listed if each["doubt"]}
    assert doubts.pop(rows[5]["id"]) == "disputed"
    assert list(doubts) == [rows[0]["id"]]
    assert doubts[rows[0]["id"]].startswith("known defect: the checker refuses the calls of the key")
    assert "nobody passes, known defect" in " ".join(console("suspects", "harbor", "--data", home / "data").out.split())


def test_a_judge_that_contradicts_itself_marks_the_case(console, home):
    (home / "models.toml").write_text('["rash"]\nmodel_id = "hasty"\nprovider = "simulated"\n')
    judged = ("--judge", "rash", "--models", home / "models.toml")
    run = console("run", "-m", "sim/careful", "-s", "dialogue-starter", *judged, "--json", "--quiet").data["run"]
    again = console("regrade", run, "-r", "4", "--models", home / "models.toml", "--json", "--quiet").data["run"]
    outcomes = {}
    for line in console("export", again, "--format", "json").data["rollouts"]:
        outcomes.setdefault(line["case"], set()).add(line["outcome"])
    both = {case for case, given in outcomes.items() if given == {"passed", "failed"}}
    listed = console("suspects", "dialogue-starter", "--of", again, "--json").data["suspects"]
    assert {each["case"] for each in listed if each["doubt"] == "judge contradicts itself"} == both != set()


QUAY = Path(__file__).resolve().parents[2] / "data" / "dialogue-starter"
WRONG_KEYS = {
    '"number": 92.4': '"number": 95.4',
    '"equals": ["red"]': '"equals": ["blue"]',
    '"contains": "mayday"': '"contains": "hello"',
    '"choice": "B"': '"choice": "D"',
    '"choice": "C"': '"choice": "A"',
}


def test_planted_keys_of_questions_are_found_and_the_right_score_comes_back(console, home):
    shutil.copytree(QUAY, home / "data" / "quay")
    path = home / "data" / "quay" / "cases.jsonl"
    tables = [f'["m-{name}"]\nmodel_id = "{name}"\nprovider = "simulated"\n' for name in MODELS]
    (home / "models.toml").write_text("\n".join(tables))
    models = [option for name in MODELS for option in ("-m", f"m-{name}")]
    places = ("--models", home / "models.toml", "--data", home / "data")
    played = console("run", *models, "-s", "quay", "--category", "facts,choices", *places, "--json", "--quiet")
    runs = [line["run"] for line in played.lines if line["kind"] == "run"]
    before = console("suspects", "quay", "--data", home / "data", "--json").data["scores"]
    text, planted = path.read_text(), []
    for right, wrong in WRONG_KEYS.items():
        planted += [json.loads(line)["id"] for line in text.splitlines() if right in line][:1]
        text = text.replace(right, wrong, 1)
    path.write_text(text)
    assert console("regrade", *runs, *places, "--quiet", "--json").code in (0, 3)
    found = console("suspects", "quay", "-n", "10", "--data", home / "data", "--json").data
    listed = [each["case"] for each in found["suspects"]]
    assert len(set(planted) & set(listed)) >= 4
    for case in planted:
        assert console("suspects", "quay", "--wrong", case, "--data", home / "data").code == 0
    after = console("suspects", "quay", "--data", home / "data", "--json").data["scores"]
    good = [model for model in before if before[model]["official"] > 0.8]
    assert good
    for model in good:
        assert after[model]["official"] < before[model]["official"]
        assert after[model]["corrected"] == pytest.approx(before[model]["official"], abs=0.15)


def test_errata_are_shared_and_go_stale_with_their_case(console, home, harbor):
    data = ("--data", home / "data")
    case = harbor[0][0]
    console("suspects", "harbor", "--ambiguous", case, "--reason", 'who "knows"?\n', "--reader", "ann", *data)
    console("suspects", "harbor", "--export", home / "out.toml", "--markdown", home / "issue.md", *data)
    (erratum,) = read_errata(home / "out.toml").values()
    assert (erratum.case, erratum.decision, erratum.reason) == (case, "ambiguous", 'who "knows"?\n')
    issue = (home / "issue.md").read_text()
    assert f"## {case}: ambiguous" in issue
    assert 'who "knows"?' in issue
    text = (home / "out.toml").read_text().replace(erratum.digest, "0" * 16)
    (home / "in.toml").write_text(text)
    ended = console("suspects", "harbor", "--import", home / "in.toml", *data)
    assert f"stale: {case} has changed since ann decided" in " ".join(ended.out.split())
    (home / "bad.toml").write_text(text.replace('"ambiguous"', '"perhaps"'))
    refused = console("suspects", "harbor", "--import", home / "bad.toml", *data)
    assert refused.code == 2
    assert "'perhaps' is not a decision" in refused.err
    unknown = console("suspects", "harbor", "--wrong", "simple_pythn_3", *data)
    assert unknown.code == 2
    assert "Did you mean" in unknown.err


def test_without_a_right_answer_nothing_is_corrected() -> None:
    assert three_scores({}, {}, frozenset()).official is None
