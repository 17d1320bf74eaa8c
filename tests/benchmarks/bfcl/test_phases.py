"""Generate, then evaluate: the official files, what resumes, and what is refused with a clear message."""

import json

import pytest

from console.__main__ import main
from console.benchmarks.bfcl.files.layout import folder_name, read_lines, result_path, score_path, write_lines
from console.benchmarks.bfcl.rules.categories import SCORING

FUNCTION = {
    "name": "weather.now",
    "description": "The weather at a place.",
    "parameters": {
        "type": "dict",
        "required": ["city"],
        "properties": {"city": {"type": "string", "description": "Where."}},
    },
}
RIGHT, WRONG = '[weather.now(city="Oslo")]', '[weather.now(city="Rome")]'


def entry(name):
    return {"id": name, "question": [[{"role": "user", "content": "Weather in Oslo?"}]], "function": [FUNCTION]}


@pytest.fixture
def console(tmp_path, monkeypatch, capsys):
    """Run command lines in a folder with a small data set in the official layout."""
    for name in ("EVAL_CONSOLE_MODELS", "EVAL_CONSOLE_DATA", "EVAL_CONSOLE_RUNS", "BFCL_PROJECT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "small"
    (folder / "possible_answer").mkdir(parents=True)
    (folder / "suite.toml").write_text('format = "bfcl"\ntitle = "Small"\n')
    names = [f"simple_python_{number}" for number in range(12)]
    write_lines(folder / "BFCL_v4_simple_python.json", map(entry, names), ascii_only=True)
    truth = [{"weather.now": {"city": ["Oslo"]}}]
    answers = [{"id": name, "ground_truth": truth} for name in names]
    write_lines(folder / "possible_answer" / "BFCL_v4_simple_python.json", answers, ascii_only=True)
    write_lines(folder / "BFCL_v4_irrelevance.json", [entry(f"irrelevance_{n}") for n in range(3)], ascii_only=True)

    def run(*argv):
        capsys.readouterr()
        code = main([*map(str, argv), "--data", str(folder)])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def results(category="simple_python", model="gpt-4o-2024-11-20", **answers):
    """Write a result file: entry number (after `n`) to result."""
    lines = [{"id": f"{category}_{key[1:]}", "result": value, "latency": 0.5} for key, value in answers.items()]
    path = result_path(__import__("pathlib").Path("result"), model, category)
    write_lines(path, lines, ascii_only=True)
    return path


def evaluate(console, *more):
    code, out, err = console("bfcl", "evaluate", "-s", "small", "--json", *more)
    return code, json.loads(out) if out else None, err


def test_generate_writes_sorted_result_files(console, tmp_path):
    line = (
        "bfcl",
        "generate",
        "-s",
        "small",
        "--model",
        "sim/hasty",
        "--test-category",
        "python",
        "--num-threads",
        "4",
    )
    code, _, err = console(*line)
    assert code == 0, err
    lines = read_lines(tmp_path / "result" / "sim_hasty" / "non_live" / "BFCL_v4_simple_python_result.json")
    assert [one["id"] for one in lines] == [f"simple_python_{number}" for number in range(12)]
    assert all({"result", "input_token_count", "output_token_count", "latency"} <= one.keys() for one in lines)
    assert all(one["simulated"] for one in lines)
    assert "inference_log" not in lines[0]
    assert (tmp_path / "runs").is_dir()
    code, data, _ = evaluate(console)
    assert code == 0
    assert [score["total_count"] for score in data["scores"]] == [3, 12]


def test_generate_goes_on_where_it_stopped_and_asks_failed_inferences_again(console, tmp_path):
    path = results(model="sim/careful", n0=RIGHT, n1="Error during inference: 502", n2=WRONG)
    line = ("bfcl", "generate", "-s", "small", "--model", "sim/careful", "--test-category", "simple_python", "--json")
    code, out, _ = console(*line)
    assert code == 0
    assert json.loads(out)["written"] == 10
    kept = {one["id"]: one["result"] for one in read_lines(path)}
    assert kept["simple_python_2"] == WRONG
    assert not kept["simple_python_1"].startswith("Error")
    code, out, err = console(*line)
    assert (code, out) == (0, "")
    assert "-o replaces them" in err


def test_overwrite_and_chosen_ids(console, tmp_path):
    path = results(model="sim/careful", n3="old", n4="old")
    chosen = {"simple_python": ["simple_python_3"], "irrelevance": []}
    (tmp_path / "test_case_ids_to_generate.json").write_text(json.dumps(chosen))
    line = ("bfcl", "generate", "-s", "small", "--model", "sim/careful", "--run-ids")
    assert "-o replaces them" in console(*line)[2]
    code, _, _ = console(*line, "-o", "--include-input-log")
    assert code == 0
    kept = {one["id"]: one for one in read_lines(path)}
    assert kept["simple_python_4"]["result"] == "old"
    assert kept["simple_python_3"]["result"] != "old"
    assert kept["simple_python_3"]["inference_log"][0]["role"] == "inference_input"


def test_evaluate_scores_any_model_name_without_key_or_network(console, tmp_path):
    answers = {f"n{number}": WRONG if number % 4 == 0 else RIGHT for number in range(12)}
    results(model="any/model", **answers)
    code, data, _ = evaluate(console, "--model", "any/model", "--mode", "prompt")
    assert code == 0
    score = data["scores"][0]
    assert (score["correct_count"], score["total_count"]) == (9, 12)
    assert score["reasons"] == {"value_error:string": 3}
    lines = read_lines(tmp_path / "score" / "any_model" / "non_live" / "BFCL_v4_simple_python_score.json")
    assert lines[0] == {"accuracy": 0.75, "correct_count": 9, "total_count": 12}
    assert [line["id"] for line in lines[1:]] == ["simple_python_0", "simple_python_4", "simple_python_8"]
    failure = lines[1]
    assert failure["valid"] is False
    assert failure["model_result_raw"] == WRONG
    assert failure["model_result_decoded"] == [{"weather.now": {"city": "Rome"}}]
    assert failure["possible_answer"] == [{"weather.now": {"city": ["Oslo"]}}]
    assert failure["prompt"]["function"] == [FUNCTION]
    assert (tmp_path / "score" / "data_overall.csv").is_file()


def test_native_calls_are_read_by_the_name_of_their_folder(console):
    results(
        model="gpt-4o-2024-11-20-FC",
        **{f"n{number}": [{"weather_now": json.dumps({"city": "Oslo"})}] for number in range(12)},
    )
    code, data, _ = evaluate(console)
    assert code == 0
    assert data["scores"][0]["accuracy"] == 1


def test_failed_inferences_are_counted_beside_the_official_number(console):
    results("irrelevance", n0="Error during inference: 502", n1="No function fits.", n2=RIGHT)
    code, data, _ = evaluate(console)
    assert code == 0
    score = data["scores"][0]
    assert (score["correct_count"], score["inference_errors"]) == (2, 1)


def test_partial_results_need_the_flag(console):
    results(n0=RIGHT, n1=RIGHT)
    code, data, err = evaluate(console)
    assert code == 2
    assert data["scores"] == []
    assert "2 of 12" in err
    assert "--partial-eval" in err
    code, data, _ = evaluate(console, "--partial-eval")
    assert code == 0
    assert (data["scores"][0]["total_count"], data["scores"][0]["entries"]) == (2, 12)


def test_the_last_lines_say_only_what_is_so(console, tmp_path):
    results(n0=RIGHT)
    code, out, err = console("bfcl", "evaluate", "-s", "small")
    assert code == 2
    assert "nothing was written" in out + err
    assert "tables are in" not in out + err
    assert not (tmp_path / "score").exists()
    code, out, _ = console("bfcl", "evaluate", "-s", "small", "--partial-eval")
    assert (code, "categories without results count as 0" in out) == (0, True)
    for category in SCORING:
        header = {"accuracy": 1.0, "correct_count": 1, "total_count": 1}
        write_lines(score_path(tmp_path / "score", "gpt-4o-2024-11-20", category), [header], ascii_only=False)
    code, out, _ = console("bfcl", "evaluate", "-s", "small", "--partial-eval")
    assert (code, "overall 100.00%" in out, "count as 0" in out) == (0, True, False)


def test_one_bad_file_does_not_spoil_the_others(console):
    path = results(n0=RIGHT)
    path.write_text(path.read_text() * 2 + '{"id": "cut')
    results("irrelevance", n0="no", n1="no", n2="no")
    code, data, err = evaluate(console, "--partial-eval")
    assert code == 2
    assert [score["category"] for score in data["scores"]] == ["irrelevance"]
    assert ":3: is not a JSON object" in err


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"id": "simple_python_0", "result": ""}] * 2, ["twice", "simple_python_0", ".json:2 and line 1"]),
        ([{"id": "simple_python_77", "result": ""}], ["simple_python_77", "Did you mean", ".json:1: "]),
        ([{"id": "no-such", "result": ""}], ["no-such", ".json:1: "]),
        ([{"id": "simple_python_0", "result": ""}, {"result": ""}], ["no id", ".json:2: ", "Each line is"]),
        ([], ["has no results", "Generate first"]),
    ],
)
def test_ids_that_do_not_fit_are_named(console, tmp_path, lines, words):
    write_lines(result_path(tmp_path / "result", "grok-4-0709", "simple_python"), lines, ascii_only=True)
    code, _, err = evaluate(console, "--partial-eval")
    assert code == 2
    for word in words:
        assert word in err


def test_what_lies_among_results_and_is_not_read_is_named(console, tmp_path):
    good = results(n0=RIGHT)
    (tmp_path / "result" / "notes").mkdir()
    old = good.with_name("BFCL_v3_simple_result.json")
    old.write_text(good.read_text())
    astray = good.parent.parent / "live" / good.name
    astray.parent.mkdir()
    astray.write_text(good.read_text())
    code, data, err = evaluate(console, "--partial-eval")
    assert code == 0
    assert len(data["scores"]) == 1
    for named in (old.name, f"live/{good.name}", "result/notes"):
        assert named in err


def test_an_unknown_id_is_said_to_be_in_the_file_it_stands_in(console, tmp_path):
    (tmp_path / "test_case_ids_to_generate.json").write_text('{"simple_python": ["simple_python_77"]}')
    code, _, err = console("bfcl", "generate", "--model", "sim/careful", "--suite", "bfcl-starter", "--run-ids")
    assert code == 2
    assert "test_case_ids_to_generate.json: bfcl-starter has no case 'simple_python_77'" in err


def test_nothing_to_evaluate_and_unknown_names(console):
    code, _, err = evaluate(console)
    assert (code, "no result file" in err) == (2, True)
    results(n0=RIGHT)
    assert "Did you mean gpt-4o-2024-11-20?" in evaluate(console, "--model", "gpt-4o-2024-11-2")[2]
    assert "Did you mean simple_python?" in evaluate(console, "--test-category", "simple_pyton")[2]
    assert "unknown phase" in console("bfcl", "evalute")[2]


def test_official_tables_of_a_real_result_tree_survive_a_second_evaluation(console, tmp_path):
    results(**{f"n{number}": RIGHT for number in range(12)})
    evaluate(console)
    first = {path.name: path.read_bytes() for path in (tmp_path / "score").glob("*.csv")}
    evaluate(console)
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "score").glob("*.csv")}
    assert len(first) == 6


def test_model_names_stay_inside_the_tree():
    from console.core.fault import UsageError

    assert folder_name("a/b") == "a_b"
    assert folder_name("../x") == ".._x"
    for name in ("", "..", "/", "a\0b"):
        if name == "/":
            assert folder_name(name) == "_"
        else:
            with pytest.raises(UsageError):
                folder_name(name)
