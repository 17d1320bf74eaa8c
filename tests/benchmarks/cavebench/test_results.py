"""Result files in the peer's layout: written from runs, read as runs, and the same again."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.files.importing import import_results
from console.benchmarks.cavebench.files.results import export_run
from console.benchmarks.cavebench.rules.json_values import encode
from console.benchmarks.cavebench.rules.verdict import judge
from console.core.case import Case, Key, Setting
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalReader, JournalWriter
from console.store.runs import RunFolder, create_run

TURN = {
    "query": "Add.",
    "reference_response": "",
    "actual_response": "3",
    "expected_calls": [
        {
            "name": "add",
            "required": True,
            "arguments": [{"name": "a", "required": True, "value": 1, "type": "int"}],
            "strict_args": False,
        }
    ],
    "actual_calls": [{"function": "add", "arguments": {"a": 2}, "call_id": "1"}],
    "validation_errors": ["Call add(call_index=0): Expected value '1', got '2'", "Custom validator failed: no"],
    "metrics": {
        "missing_calls": 0,
        "wrong_argument_types": 0,
        "wrong_argument_values": 1,
        "missing_arguments": 0,
        "steps": 2,
        "missing_variable_reads": 0,
        "missing_variable_writes": 0,
        "prompt_tokens": 5,
        "completion_tokens": 3,
        "total_tokens": 8,
    },
    "success": False,
    "validator_result": False,
    "code_snippets": ["x = add(2)"],
    "expected_variable_reads": [],
    "expected_variable_writes": ["x"],
    "actual_variable_reads": [],
    "actual_variable_writes": ["x"],
}


def peer_file(folder: Path, **changes: Any) -> Path:
    path = folder / "some-model_cave_20260113_181349.json"
    scenario = {"scenario": "sums", "conversations": [{"id": "c", "turns": [TURN | changes]}], "metrics": {}}
    path.write_text(json.dumps({"sums": scenario}))
    return path


def records(run: RunFolder) -> list[Any]:
    return JournalReader(run.journal_path).read_new()


def test_a_file_comes_in_and_goes_out_the_same(tmp_path: Path) -> None:
    run = import_results(peer_file(tmp_path), tmp_path / "runs")
    written = json.loads(export_run(run, tmp_path / "out")[0].read_text())
    assert written["sums"]["conversations"][0]["turns"][0] == TURN
    assert written["sums"]["metrics"]["wrong_argument_values"] == 1
    assert written["sums"]["metrics"]["success_rate"] == 0
    assert run.manifest().model.name == "some-model"
    assert run.summary().tally.failed == 1


def test_another_verdict_in_the_file_is_kept_beside_ours(tmp_path: Path) -> None:
    run = import_results(peer_file(tmp_path, success=True), tmp_path / "runs")
    verdict = next(record.verdict for record in records(run) if isinstance(record, Finished))
    assert (verdict.outcome, verdict.official) == (Outcome.FAILED, "passed")


def test_values_no_json_reader_takes(tmp_path: Path) -> None:
    path = peer_file(tmp_path)
    path.write_text(path.read_text().replace('"arguments": {"a": 2}', '"arguments": {"a": NaN}'))
    run = import_results(path, tmp_path / "runs")
    turn = json.loads(export_run(run, tmp_path / "out")[0].read_text())["sums"]["conversations"][0]["turns"][0]
    assert turn["actual_calls"][0]["arguments"] == {"a": {"$repr": "nan"}}
    assert not turn["success"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"s": {"conversations": [', "is not JSON"),
        ("[]", "not a result file of cave-bench"),
        ("{}", "contains no scenario"),
        ('{"s": {"metrics": {}}}', "missing required field `conversations`"),
        ('{"s": {"conversations": [{"turns": [{"query": 3}]}]}}', "query"),
    ],
)
def test_damaged_files_make_no_run(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        import_results(path, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def a_run(root: Path, *ends: tuple[Key, Verdict | None, Any]) -> RunFolder:
    """A finished run of ours; a verdict of None is judged from the output."""
    turn = {"query": "q", "expected_function_calls": [{"name": "f"}, {"name": "f"}]}
    case = Case("s/c", "s", {"scenario": "s", "conversation": {"id": "c", "turns": [turn]}})
    manifest = Manifest(
        id="2031-01-01T0000-run", at=0.0, suite="cave", model=ModelFacts(name="a/b"), setting=Setting(mode="json")
    )
    run = create_run(root, manifest)
    journal = JournalWriter(run.journal_path)
    for key, verdict, output in ends:
        journal.append(Started(at=0.0, key=key, case=case))
        journal.append(Finished(at=0.0, key=key, verdict=verdict or judge(case, output, "compatible"), output=output))
    journal.close()
    return run


def test_a_run_of_ours_with_rollouts_retries_and_broken_conversations(tmp_path: Path) -> None:
    made = {"turns": [{"query": "q", "calls": [{"function": "f", "arguments": encode({"when": {1, 2}})}]}]}
    broken = Verdict(Outcome.BROKEN, reason="server", messages=("HTTP 500",))
    run = a_run(
        tmp_path / "runs",
        (Key("s/c"), broken, None),
        (Key("s/c", attempt=2), None, made),
        (Key("s/c", rollout=1), broken, None),
    )
    first, second = export_run(run, tmp_path / "out")
    assert first.name == "a--b_json_19700101_000000.json"
    assert second.name == "a--b_json_19700101_000000_r2.json"
    scenario = json.loads(first.read_text())["s"]
    assert scenario["conversations"][0]["turns"][0]["actual_calls"][0]["arguments"] == {"when": {"$repr": "{1, 2}"}}
    assert scenario["metrics"]["missing_calls"] == 0
    assert scenario["eval_console"]["missing_calls"] == 1
    left_out = json.loads(second.read_text())["s"]
    assert left_out["conversations"] == []
    assert left_out["eval_console"]["left_out"][0]["messages"] == ["HTTP 500"]


def test_a_run_without_such_conversations(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no finished conversation"):
        export_run(a_run(tmp_path / "runs"), tmp_path / "out")
