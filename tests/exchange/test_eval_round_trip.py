"""A run that goes out as an Inspect log and comes in again: the same totals, scores, calls and judges."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.exported_runs import played, simulated_starter
from support.exports import EXPORT_FILES, export_file
from support.recorded_runs import Recorder

from console.core.chat import Reply, Usage
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.run_reader import RunReader
from console.insight import number_format
from console.store.runs import RunFolder


def test_what_goes_out_comes_back(tmp_path: Path):
    there = played(tmp_path / "there")
    export_file(there, EXPORT_FILES["eval"], tmp_path / "log.eval", None)
    (item,) = find_items(tmp_path / "log.eval")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    back = RunFolder(tmp_path / "back" / report.run)
    assert report.outcomes == {"passed": 1, "failed": 1, "broken": 1}
    assert all(total.agrees for total in report.totals)
    assert [(total.score, total.metric, total.reported) for total in report.totals if total.metric != "stderr"] == [
        ("eval_console", "accuracy", 0.5),
        ("style", "mean", 0.5),
        ("coherence", "mean", 80.0),
    ]
    shown = [RunReader(folder) for folder in (there, back)]
    texts = [
        [
            (passage.kind.value, passage.role, passage.arguments or passage.text)
            for passage in reader.conversation(reader.side.rollouts["a", 0].key).passages
            if passage.kind.value not in ("verdict", "score")
        ]
        for reader in shown
    ]
    assert texts[0] == texts[1]
    assert shown[1].side.rollouts["a", 0].scores == pytest.approx(
        {"eval_console": 1.0, "style": 0.75, "coherence": 80.0}
    )


def test_logs_of_two_runs_are_no_retries_of_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Inspect's viewer shows only the last of the logs of one task id."""
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    tasks: set[str] = set()
    for number in (1, 2):
        run = simulated_starter(tmp_path / str(number))
        export_file(run, EXPORT_FILES["eval"], tmp_path / "log.eval", None)
        with zipfile.ZipFile(tmp_path / "log.eval") as archive:
            tasks.add(json.loads(archive.read("header.json"))["eval"]["task_id"])
            samples = [json.loads(archive.read(name)) for name in archive.namelist() if name.startswith("samples/")]
        passed = [sample for sample in samples if sample["scores"].get("eval_console", {}).get("value") == "C"]
        expecting = [sample for sample in passed if not sample["id"].startswith("irrelevance")]
        assert expecting
        assert all(sample["target"] for sample in expecting)
    assert len(tasks) == 2


def test_an_imported_simulated_run_is_simulated_still_and_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    export_file(simulated_starter(tmp_path / "there"), EXPORT_FILES["eval"], tmp_path / "log.eval", None)
    (item,) = find_items(tmp_path / "log.eval")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    summary = RunFolder(tmp_path / "back" / report.run).summary()
    assert number_format.spent(summary.tally, summary.simulated_note) == "simulated"


def members_of(run: RunFolder, path: Path) -> dict[str, Any]:
    """Export a run and return the members of the log."""
    export_file(run, EXPORT_FILES["eval"], path, None)
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def usage(sent: int, got: int, **more: int) -> dict[str, int]:
    return {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got + sum(more.values()), **more}


def with_roles(root: Path) -> RunFolder:
    """Write a run in which one model answers, another plays the user and a third judges; texts are embedded, too."""
    roles = {
        "judge": ModelFacts("grading", model_id="judge/m"),
        "user": ModelFacts("persona"),
        "embedding": ModelFacts("vectors"),
    }
    recorder = Recorder(root, cases=1, suite="sums", model=ModelFacts("own", model_id="org/own"), roles=roles)
    key = recorder.start("a")
    opening = [{"role": "system", "content": "You are the user."}]
    recorder.ask(key, "", Reply("1+1?", usage=Usage(7, 3)), role="user", messages=opening)
    asked = [{"role": "user", "content": "1+1?"}]
    recorder.ask(key, "", Reply("2", usage=Usage(5, 2, cached=4)), n=2, messages=asked)
    grading = [{"role": "user", "content": "Is 2 right?"}]
    recorder.ask(key, "", Reply("yes", usage=Usage(20, 1, reasoning=1)), n=3, role="judge", messages=grading)
    recorder.finish(key, Outcome.PASSED, input_tokens=5 + 7 + 20 + 11, output_tokens=2 + 3 + 1, output="2")
    return recorder.close()


def test_usage_of_a_run_of_ours_is_listed_by_model_and_by_role(tmp_path: Path):
    members = members_of(with_roles(tmp_path / "there"), tmp_path / "log.eval")
    head, sample = members["header.json"], members["samples/a_epoch_1.json"]
    by_role = {
        "user": usage(7, 3),
        "grader": {**usage(20, 1), "reasoning_tokens": 1},
        "embedding": usage(11, 0),
    }
    by_model = {
        "org/own": usage(1, 2, input_tokens_cache_read=4),
        "persona": by_role["user"],
        "judge/m": by_role["grader"],
        "vectors": by_role["embedding"],
    }
    for used in (head["stats"], sample, members["summaries.json"][0]):
        assert (used["model_usage"], used["role_usage"]) == (by_model, by_role)
    assert head["eval"]["model"] == "org/own"
    assert {role: facts["model"] for role, facts in head["eval"]["model_roles"].items()} == {
        "grader": "judge/m",
        "user": "persona",
        "embedding": "vectors",
    }
    assert [(event.get("role"), event["model"]) for event in sample["events"]] == [
        ("user", "persona"),
        (None, "org/own"),
        ("grader", "judge/m"),
    ]


def test_a_simulated_user_comes_back_as_one(tmp_path: Path):
    there = with_roles(tmp_path / "there")
    export_file(there, EXPORT_FILES["eval"], tmp_path / "log.eval", None)
    (item,) = find_items(tmp_path / "log.eval")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    shown = [RunReader(folder) for folder in (there, RunFolder(tmp_path / "back" / report.run))]
    passages = [
        [(passage.kind.value, passage.role, passage.text) for passage in reader.conversation(rollout.key).passages[:-1]]
        for reader in shown
        for rollout in reader.ordered
    ]
    assert passages[0] == passages[1]
    assert [reader.ordered[0].input_tokens for reader in shown] == [43, 43]


def test_usage_that_only_the_rollout_knows_is_its_models(tmp_path: Path):
    recorder = Recorder(tmp_path / "there", cases=1, suite="sums")
    key = recorder.start("a")
    recorder.ask(key, "1+1?", Reply("2"))
    recorder.finish(key, Outcome.PASSED, input_tokens=9, output_tokens=4)
    members = members_of(recorder.close(), tmp_path / "log.eval")
    assert members["header.json"]["stats"]["model_usage"] == {"gpt-x": usage(9, 4)}
    assert members["header.json"]["stats"]["role_usage"] == {}
