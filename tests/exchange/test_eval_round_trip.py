"""A run that goes out as an Inspect log and comes in again: the same totals, scores, calls and judges."""

import json
import zipfile
from pathlib import Path

import pytest
from support.exported_runs import played, simulated_starter
from support.exports import EXPORT_FILES, export_file

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
    assert number_format.spent(summary.tally, simulated=summary.simulated) == "simulated"
