"""How answers in result files are read: by their folder's registry name, by marks of ours, by what a person says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.__main__ import main
from console.benchmarks.bfcl.conversation.scripted_answers import right_calls
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.files.layout import read_lines, result_path, write_lines
from console.benchmarks.bfcl.files.reading import Reading, mark_of
from console.benchmarks.bfcl.models.decoding import family_of, find_setting, sent_underscored
from console.core.case import Setting
from console.core.fault import UsageError

DATA = Path(__file__).resolve().parents[3] / "data"
IDS = [f"simple_python_{number}" for number in range(2)]
Console = Callable[..., tuple[int, dict[str, Any] | None, str]]


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    for name in ("EVAL_CONSOLE_MODELS", "EVAL_CONSOLE_DATA", "EVAL_CONSOLE_RUNS", "BFCL_PROJECT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> tuple[int, dict[str, Any] | None, str]:
        capsys.readouterr()
        code = main([*argv, "-s", "bfcl-starter", "--data", str(DATA), "--json"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return run


def right_answers() -> list[tuple[str, str, dict[str, Any]]]:
    """Return id, function and arguments of right calls of the bundled data."""
    entries = Dataset(DATA / "bfcl-starter").entries("simple_python").values()
    return [(entry.id, *right_calls(entry)[0]) for entry in entries]


FORMS: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "gpt-4o-2024-11-20": lambda name, arguments: f"[{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})]",
    "gpt-4o-2024-11-20-FC": lambda name, arguments: [{name.replace(".", "_"): json.dumps(arguments)}],
    "gemini-2.5-flash-FC": lambda name, arguments: [{name.replace(".", "_"): arguments}],
    "command-a-03-2025-FC": lambda name, arguments: [{"tool_name": name.replace(".", "_"), "parameters": arguments}],
    "Qwen/Qwen3-8B-FC": lambda name, arguments: (
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
    ),
    "MadeAgents/Hammer2.1-7b": lambda name, arguments: json.dumps([{"name": name, "arguments": arguments}]),
}


def write_tree(root: Path, folders: dict[str, str], **more: Any) -> None:
    """Write right answers: folder's model to the model in whose form they are written."""
    for folder, form in folders.items():
        lines = [{"id": id_, "result": FORMS[form](name, arguments)} | more for id_, name, arguments in right_answers()]
        write_lines(result_path(root / "result", folder, "simple_python"), lines, ascii_only=True)


def accuracies(data: dict[str, Any] | None) -> dict[str, float]:
    assert data is not None
    return {score["model"]: score["accuracy"] for score in data["scores"]}


def test_every_folder_is_read_as_the_row_of_its_name_says(console: Console, tmp_path: Path):
    write_tree(tmp_path, {name: name for name in FORMS})
    code, data, err = console("bfcl", "evaluate")
    assert (code, err.count("refused")) == (0, 0)
    assert accuracies(data) == {name.replace("/", "_"): 1.0 for name in FORMS}
    assert data is not None
    assert {score["handler"] for score in data["scores"]} == set(FORMS)


def test_an_unknown_name_is_refused_with_the_nearest_and_the_others_go_on(console: Console, tmp_path: Path):
    write_tree(tmp_path, {"gpt-4o-2024-11-20": "gpt-4o-2024-11-20", "Qwen/Qwen3-9B-FC": "Qwen/Qwen3-8B-FC"})
    code, data, err = console("bfcl", "evaluate")
    assert code == 2
    assert accuracies(data) == {"gpt-4o-2024-11-20": 1.0}
    assert "Qwen_Qwen3-9B-FC is not named after a model of the official registry" in err
    assert "Nearest: Qwen/Qwen3-8B-FC" in err
    assert not (tmp_path / "score" / "Qwen_Qwen3-9B-FC").exists()


@pytest.mark.parametrize("said", ["Qwen/Qwen3-8B-FC", "tool_call_tags", "QwenFCHandler", "QwenFC"])
def test_a_person_says_how_an_unknown_name_is_read(console: Console, tmp_path: Path, said: str):
    write_tree(tmp_path, {"ours": "Qwen/Qwen3-8B-FC", "gpt-4o-2024-11-20": "gpt-4o-2024-11-20"})
    code, data, _ = console("bfcl", "evaluate", "--handler", said)
    assert code == 0
    assert accuracies(data) == {"ours": 1.0, "gpt-4o-2024-11-20": 1.0}  # a known name keeps its own row
    code, data, _ = console("import", "result/ours", "--handler", said)
    assert data is not None
    assert (code, data["imported"][0]["outcomes"]) == (0, {"passed": len(right_answers())})


def test_a_name_that_is_named_on_the_command_line_can_be_read_otherwise(console: Console, tmp_path: Path):
    write_tree(tmp_path, {"gpt-4o-2024-11-20": "gpt-4o-2024-11-20-FC"})
    assert accuracies(console("bfcl", "evaluate")[1]) == {"gpt-4o-2024-11-20": 0.0}
    _, data, _ = console("bfcl", "evaluate", "--model", "gpt-4o-2024-11-20", "--mode", "fc")
    assert accuracies(data) == {"gpt-4o-2024-11-20": 1.0}


def test_results_of_ours_carry_how_they_are_read(console: Console, tmp_path: Path):
    (tmp_path / "test_case_ids_to_generate.json").write_text(json.dumps({"simple_python": IDS}))
    for mode, family in (("fc", "fc_json"), ("prompt", "prompt")):
        assert console("bfcl", "generate", "--model", "sim/careful", "--run-ids", "-o", "--mode", mode)[0] == 0
        lines = read_lines(result_path(tmp_path / "result", "sim/careful", "simple_python"))
        assert [line["handler"] for line in lines] == [family] * len(IDS)
        assert console("bfcl", "evaluate", "--partial-eval")[0] == 0


def test_lines_of_several_forms_in_one_file_are_refused(console: Console, tmp_path: Path):
    write_tree(tmp_path, {"gpt-4o-2024-11-20": "gpt-4o-2024-11-20"})
    path = result_path(tmp_path / "result", "gpt-4o-2024-11-20", "simple_python")
    lines = read_lines(path)
    lines[0]["handler"] = "fc_json"
    write_lines(path, lines, ascii_only=True)
    code, _, err = console("bfcl", "evaluate")
    assert (code, "have several formats" in err) == (2, True)


def test_models_toml_gives_a_folder_the_row_of_its_model(console: Console, tmp_path: Path):
    write_tree(tmp_path, {"mine": "MadeAgents/Hammer2.1-7b"})
    (tmp_path / "models.toml").write_text('[mine]\nmodel_id = "x"\nbfcl_name = "MadeAgents/Hammer2.1-7b"\n')
    code, data, _ = console("bfcl", "evaluate")
    assert (code, accuracies(data)) == (0, {"mine": 1.0})


def test_a_mark_stands_only_where_the_name_says_something_else():
    prompted, native = Setting(mode="prompt"), Setting(mode="fc")
    assert mark_of("gpt-4o-2024-11-20", prompted) is None
    assert mark_of("gpt-4o-2024-11-20", native) == "fc_json"
    assert mark_of("gpt-4o-2024-11-20-FC", native) is None
    assert mark_of("qwen3-235b-a22b-instruct-2507-FC", native) == "fc_json"  # its names keep their dots
    assert mark_of("sim_careful", prompted) == "prompt"
    assert mark_of("mine", find_setting("MadeAgents/Hammer2.1-7b")) == "MadeAgents/Hammer2.1-7b"


def test_words_for_readings(tmp_path: Path):
    assert family_of(find_setting("MadeAgents/Hammer2.1-7b")) == "hammer"
    assert not sent_underscored(find_setting("WriterHandler"))
    assert sent_underscored(find_setting("fc_json"))
    for said, words in {
        "hamer": "hammer",
        "Gemini": "gemini_fc, gemini_prompt",
        "Qwen/Qwen3-8b": "Qwen/Qwen3-8B",
    }.items():
        with pytest.raises(UsageError) as error:
            find_setting(said)
        assert words in str(error.value)
    with pytest.raises(UsageError, match="not named after a model of the official registry"):
        Reading().setting("any", [{"id": "x", "result": ""}], tmp_path)
