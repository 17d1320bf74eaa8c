"""Every file that the program reads, with anything in it: an answer, or one sentence about that file and exit code 2.

Each JSON type in each field, and lines that nobody thought of: a few of them in `make test`, spread evenly, and many
more in `make soak`. Rows of `check` are in test_any_row.py.
"""

import copy
import json
import random
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from support.crafted_index import crafted
from support.fuzz_budget import BUDGET
from support.inspect_logs import eval_members, header, sample
from support.made_up_json import as_text, change, confused

from console.cli import history
from console.cli.exitcode import Exit

REPOSITORY_DATA = Path(__file__).resolve().parents[2] / "data"
FEW = 8
"""Confusions, and as many changes by chance, of a file in `make test`."""
ANSWERS = (Exit.OK, Exit.INCONCLUSIVE)
NAMED = re.compile(r"\.(jsonl?|toml|eval)\b")
Console = Callable[..., Any]
Json = dict[str, Any]
Words = tuple[object, ...]


class Raw(str):
    """Text that is no JSON, or none that a program would write."""


BAD_LINES = ["", "{", "null", "[]", "5", '"x"', "9" * 5_000, "[" * 100_000, '{"a":' * 3_000, "\ufeff{}", "{}{}", "\x00"]


def some_of(sound: Any) -> Iterator[Any]:
    """Yield sound values with one type confused, spread over all fields and types, and with anything at one place."""
    every = sum(1 for _ in confused(sound))
    step = max(1, every // (FEW * BUDGET))
    yield from islice(confused(sound), every % step, None, step)
    rng = random.Random(every)
    for _ in range(FEW * BUDGET):
        if rng.random() < 0.1:
            yield Raw(rng.choice(BAD_LINES))
        else:
            yield change(copy.deepcopy(sound), rng)


def text_of(value: Any) -> str:
    return value if isinstance(value, Raw) else as_text(value)


def try_each(console: Console, sound: Any, write: Callable[[Any], object], *commands: Words, at_once: int = 20) -> None:
    """Run commands on a sound value, which they take, and on others: an answer, or a sentence that names a file.

    Only so many commands, in turn, are run on each of the others.
    """
    write(sound)
    for words in commands:
        ended = console(*words)
        assert ended.code in ANSWERS, (words, ended.err[-500:])
    turns = cycle(commands)
    for value in some_of(sound):
        write(value)
        for words in islice(turns, min(at_once, len(commands))):
            ended = console(*words)
            what = (words, text_of(value)[:2_000], ended.err[-500:])
            assert ended.code in (*ANSWERS, Exit.USAGE), what
            assert "suite's own code" not in ended.err, what
            assert ended.code != Exit.USAGE or NAMED.search(ended.err), what


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")


def whole(path: Path) -> Callable[[Any], None]:
    return lambda value: write_text(path, text_of(value))


def among(path: Path, *others: Any) -> Callable[[Any], None]:
    """Write a value as a line among others."""
    return lambda value: write_text(path, "\n".join(map(text_of, [value, *others])) + "\n")


# Results of benchmarks ------------------------------------------------------------------------------------------------

RESULT = {
    "id": "simple_python_2", "result": [{"scale_recipe": '{"servings": 7}'}], "latency": [[0.5, 1]],
    "input_token_count": [[1]], "output_token_count": 5, "inference_log": [{"role": "x", "content": "y"}],
    "reasoning_content": "z", "handler": "fc_json", "simulated": True, "traceback": "y",
}  # fmt: skip
RIGHT = {
    "id": "simple_python_0", "result": "[harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16)]",
    "input_token_count": 10, "output_token_count": 5, "latency": 0.5,
}  # fmt: skip
EVALUATE = ("bfcl", "evaluate", "--result-dir", "result", "-s", "bfcl-starter", "--partial-eval")


def test_results_of_bfcl(console: Console, home: Path) -> None:
    path = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    commands = (
        (*EVALUATE, "--mode", "prompt"),
        ("import", path, "-s", "bfcl-starter", "--mode", "prompt"),
        ("bfcl", "scores"),
    )
    for sound in (RESULT, {"id": "simple_python_1", "result": "Error during inference: x", "traceback": "y"}):
        try_each(console, sound, among(path, RIGHT), *commands)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400, "1e308", '"x"', "null", "[[[]]]"])
@pytest.mark.parametrize("field", ["latency", "input_token_count", "output_token_count"])
def test_one_odd_number_leaves_the_tables_whole(console: Console, home: Path, field: str, number: str) -> None:
    path = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    odd = {key: value for key, value in RIGHT.items() if key != field}
    among(path, RIGHT | {"id": "simple_python_1"})(Raw(as_text(odd)[:-1] + f', "{field}": {number}}}'))
    ended = console(*EVALUATE, "--mode", "prompt")
    assert ended.code == Exit.OK, ended.err
    tables = {file.name: file.read_text() for file in (home / "score").glob("data_*.csv")}
    assert "data_overall.csv" in tables
    assert all(",m," in table for table in tables.values())


def test_a_mark_that_is_no_text_names_file_line_and_key(console: Console, home: Path) -> None:
    path = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    for mark in ([], {}, 5, True):
        write_text(path, f"{as_text(RIGHT)}\n{as_text(RESULT | {'handler': mark})}\n")
        ended = console(*EVALUATE)
        assert ended.code == Exit.USAGE
        assert f"{path.relative_to(home)}:2" in ended.err
        assert "`handler` must be a string" in ended.err
    write_text(path, as_text(RIGHT | {"handler": "fcjson"}))
    assert "_simple_python_result.json: `handler`: unknown name 'fcjson'" in console(*EVALUATE).err


def test_results_of_multi_turn_bfcl(console: Console, home: Path) -> None:
    path = home / "result" / "m" / "multi_turn" / "BFCL_v4_multi_turn_base_result.json"
    line = {"id": "multi_turn_base_1", "result": [["[get_balance()]", "ok"], ["x"]], "latency": [[0.5]],
            "inference_log": [[{"role": "state_info", "content": []}], {"begin_of_turn_query": []}]}  # fmt: skip
    try_each(console, line, among(path), (*EVALUATE, "--mode", "prompt"))


VERIFIERS = {
    "id": 0, "prompt": [{"role": "user", "content": "q"}], "completion": [{"role": "assistant", "content": "a"}],
    "info": {"question": "q"}, "reward": 1.0, "format_reward_func": 1.0, "avg_coherence": 80.0, "case": "q01",
    "category": "questions", "rollout": 0,
    "aidanbench": {"answers": ["a"], "termination_reason": "low_coherence",
                   "turns": [{"answer": "a", "reply": "a", "coherence": 80, "novelty": 1.0, "accepted": True}]},
}  # fmt: skip
METADATA = {
    "env": "aidanbench", "model": "m", "date": "2026-01-02", "time": "03:04:05", "sampling_args": {"temperature": 0.7},
    "eval_console": {"suite": "aidanbench", "options": {"max_turns": 3, "thresholds": {}}, "mode": "prompt",
                     "dataset": {"name": "x"}, "roles": {"judge": "j"}, "simulated": True},
}  # fmt: skip


def test_results_of_aidanbench(console: Console, home: Path) -> None:
    path, facts = home / "results.jsonl", home / "metadata.json"
    write_text(facts, as_text(METADATA))
    try_each(console, VERIFIERS, among(path, VERIFIERS), ("import", path))
    write_text(path, as_text(VERIFIERS))
    try_each(console, METADATA, whole(facts), ("import", path))


TURN = {
    "query": "q", "reference_response": "r", "actual_response": "a",
    "expected_calls": [{"name": "f", "arguments": [{"name": "a", "value": 1, "type": "int"}]}],
    "actual_calls": [{"function": "f", "arguments": {"a": 1}, "call_id": "1"}], "validation_errors": ["x"],
    "metrics": {"steps": 1, "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}, "success": False,
    "validator_result": True, "code_snippets": ["f(a=1)"], "expected_variable_reads": ["x"],
    "expected_variable_writes": [],
}  # fmt: skip


def test_results_of_cavebench(console: Console, home: Path) -> None:
    path = home / "m_cave_x.json"
    sound = {"s": {"scenario": "s", "conversations": [{"id": "c", "turns": [TURN]}], "eval_console": {"mode": "cave"}}}
    try_each(console, sound, whole(path), ("import", path))


# Logs of other tools --------------------------------------------------------------------------------------------------

CHAT = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": [{"type": "text", "text": "2"}]}]
CALL = {"id": "c", "name": "find", "arguments": {"x": 1}, "requestor": "assistant"}
TRACE = {
    "traces": [{
        "version": 1, "verifiers": {"version": "0.4.0"}, "task": {"type": "T", "data": {"idx": 7, "prompt": "1+1?"}},
        "ok": True,
        "nodes": [
            {"message": {"role": "system", "content": "Add."}},
            {"parent": 0, "sampled": True, "message": {
                "role": "assistant", "tool_calls": [{"id": "c", "name": "add", "arguments": '{"x": 1}'}]}},
            {"parent": 1, "message": {"role": "tool", "tool_call_id": "c", "content": "2"}},
        ],
        "calls": [{"node": 1, "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 3}}],
        "rewards": {"right": {"score": 1.0, "weight": 1.0}}, "metrics": {"turns": 2.0},
        "errors": [{"type": "ProviderError", "message": "gone"}],
    }],
    "env": {"id": "adding"}, "task": {"type": "T"}, "ok": True,
}  # fmt: skip
LM_SAMPLE = {
    "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": []}}},
    "doc_id": 1, "doc": {"q": "1+1"}, "target": "2", "resps": [["2"]], "filtered_resps": ["2"], "filter": "none",
    "metrics": ["exact_match"], "exact_match": 1.0,
}  # fmt: skip
LM_RESULTS = {
    "results": {"add": {"exact_match,none": 1 / 3}}, "config": {"model": "hf", "model_args": "pretrained=org/m"},
    "lm_eval_version": "0.4.13", "n-samples": {"add": {"original": 3, "effective": 3}},
}  # fmt: skip
PROMPTFOO = {
    "evalId": "e", "config": {},
    "results": {
        "version": 3,
        "prompts": [{"provider": "p", "label": "q", "metrics": {"testPassCount": 1, "testFailCount": 0}}],
        "results": [{
            "promptIdx": 0, "testIdx": 0,
            "testCase": {"vars": {"q": "1"}, "assert": [{"type": "contains", "value": "2"}]},
            "prompt": {"raw": "q", "label": "q"},
            "response": {"output": "2", "tokenUsage": {"prompt": 4, "completion": 3, "total": 7}}, "success": True,
            "score": 1, "namedScores": {"style": 0.5}, "gradingResult": {"reason": "contains 2"}, "latencyMs": 1500,
            "cost": 0.25, "failureReason": 0, "error": "x",
        }],
    },
}  # fmt: skip
TAU = [{
    "task_id": 3, "reward": 1.0, "traj": CHAT, "trial": 0,
    "info": {"task": {"instruction": "Cancel.", "actions": [{"name": "cancel"}], "outputs": []}, "error": "x"},
}]  # fmt: skip
TAU2 = {
    "timestamp": "2026-01-02T03:04:05",
    "info": {"num_trials": 2, "agent_info": {"llm": "m"}, "environment_info": {"domain_name": "airline"}},
    "tasks": [{"id": "t1", "description": {"purpose": "Test."}, "evaluation_criteria": {"actions": []}}],
    "simulations": [{
        "task_id": "t1", "trial": 0, "duration": 12.5, "termination_reason": "user_stop", "agent_cost": 0.2,
        "reward_info": {"reward": 1.0, "reward_breakdown": {"DB": 1.0}},
        "messages": [{"role": "assistant", "content": None, "tool_calls": [CALL], "cost": 0.1,
                      "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
                     {"id": "c", "role": "tool", "content": "here", "requestor": "assistant"}],
    }],
}  # fmt: skip
EEE_LINE = {
    "schema_version": "0.3.0", "evaluation_id": "e1", "model_id": "org/m", "evaluation_name": "sums",
    "evaluation_result_id": "r1", "sample_id": "a", "interaction_type": "single_turn",
    "input": {"raw": "1+1?", "reference": ["2"]}, "output": {"raw": ["2"]},
    "answer_attribution": [{"turn_idx": 0, "extracted_value": "2"}], "evaluation": {"score": 1, "is_correct": True},
}  # fmt: skip
EEE = {"evaluation_id": "e1", "evaluation_results": [
    {"evaluation_result_id": "r1", "metric_config": {"metric_name": "accuracy"}, "score_details": {"score": 1}},
]}  # fmt: skip
MINE = {"messages": CHAT, "score": 1, "id": "a", "target": "2", "model": "m", "scores": {"style": 0.25}}
STAMP = "2026-01-02T03-04-05.678901"
LOGS: dict[str, tuple[Any, str, tuple[str, Any] | None]] = {
    "verifiers": (TRACE, "traces.jsonl", None),
    "older verifiers": (
        {"example_id": 0, "prompt": CHAT[:1], "completion": CHAT[1:], "answer": "2", "reward": 1.0, "format": 0.2},
        "results.jsonl",
        ("metadata.json", {"env_id": "owner/wordle", "model": "m", "avg_reward": 0.5}),
    ),
    "lm-eval": (LM_SAMPLE, f"samples_add_{STAMP}.jsonl", (f"results_{STAMP}.json", LM_RESULTS)),
    "promptfoo": (PROMPTFOO, "out.json", None),
    "tau": (TAU, "tool-calling-m_range_0.json", None),
    "tau2": (TAU2, "sim.json", None),
    "every eval ever": (EEE_LINE, "e1.jsonl", ("e1.json", EEE)),
    "chat": (MINE, "mine.jsonl", None),
    "inspect": (header([sample("a")]) | {"samples": [sample("a")]}, "log.json", None),
}


def read_all(console: Console, home: Path) -> None:
    """Show what was imported, as all of it is foreign."""
    for run in sorted((home / "runs").glob("*/run.json")):
        for words in (("show", run.parent.name), ("show", run.parent.name, "--json"), ("failures", run.parent.name)):
            ended = console(*words)
            assert ended.code in (Exit.OK, Exit.INCONCLUSIVE, Exit.USAGE), (words, ended.err[-500:])
        shutil.rmtree(run.parent)


@pytest.mark.parametrize("name", LOGS)
def test_logs_of_other_tools(console: Console, home: Path, name: str) -> None:
    sound, file, beside = LOGS[name]
    write = among(home / file) if file.endswith("l") else whole(home / file)
    if beside is not None:
        write_text(home / beside[0], as_text(beside[1]))

    def write_after_reading(value: Any) -> None:
        read_all(console, home)
        write(value)

    try_each(console, sound, write_after_reading, ("import", home / file))
    if beside is not None:
        write(sound)
        try_each(console, beside[1], whole(home / beside[0]), ("import", home / file))
    read_all(console, home)


@pytest.mark.parametrize("member", ["header.json", "summaries.json", "samples/a_epoch_1.json", "_journal/start.json"])
def test_archives_of_inspect(console: Console, home: Path, member: str) -> None:
    members = eval_members([sample("a")])

    def write(value: Any) -> None:
        read_all(console, home)
        with zipfile.ZipFile(home / "log.eval", "w") as archive:
            for name, data in members.items():
                archive.writestr(name, as_text(value) if name == member else data)

    try_each(console, json.loads(members[member]), write, ("import", home / "log.eval"))


# Suites ---------------------------------------------------------------------------------------------------------------

DIALOGUE_ROW = {
    "id": "a", "category": "c", "cluster": "d", "system": "s", "prompt": "q",
    "tools": [{"name": "find", "description": "d", "parameters": {
        "type": "object", "properties": {"x": {"type": "integer"}}}}],
    "tool_results": [{"tool": "find", "arguments": {"x": 1}, "result": [1]}],
    "expect": [{"equals": ["4"], "ignore_case": True}, {"regex": "4+"},
               {"number": 4, "tolerance": "1%", "which": "any"},
               {"json": {"type": "object", "anyOf": [{"required": ["a"]}]}}, {"calls": [{"find": {"x": [1]}}]},
               {"any": [{"contains": "4"}, {"not_called": True}]}, {"judge": True}],
    "judge": {"criteria": [{"name": "n", "about": "a", "weight": 1, "threshold": 2}], "scale": [1, 5], "threshold": 3},
    "simulated": {"right": ["4"], "wrong": ["5"]},
}  # fmt: skip
OPENINGS: tuple[Json, ...] = (
    {"turns": [{"user": "q", "expect": [{"choice": "A"}]}, "r"]},
    {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
     "function": {"name": "find", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "1"},
     {"role": "user", "content": "r"}]},
    {"user": {"goal": "g", "persona": "p", "knows": ["k"], "stop": "s", "opening": "o", "max_turns": 3}},
)  # fmt: skip
SUITE = {
    "format": "dialogue", "title": "x", "comparable": False, "origin": "o",
    "demo": [{"order": 1, "model": "sim/hasty", "categories": ["c"], "cases": 2}],
    "source": {"name": "s", "version": "1", "licence": "x"},
    "defaults": {"system": "Be {mood}.", "judge": {"rubric": "r", "scale": [1.0, 5.0]}},
    "columns": {"answer": "equals"},
}  # fmt: skip
DRY_RUN = ("run", "-m", "sim/careful", "--data", "data", "--dry-run", "-s")
ROLES = ("--judge", "sim/judge", "--user", "sim/user")


def toml_of(value: Any) -> str:
    """Write an inline TOML value; what TOML cannot hold becomes text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_of, value)) + "]"
    return '""' if value is None else str(value).lower() if isinstance(value, bool | float) else json.dumps(value)


def toml_file(path: Path, head: str = "") -> Callable[[Any], None]:
    def write(value: Any) -> None:
        table = value if isinstance(value, dict) else {"x": value}
        try:
            lines = (
                [value]
                if isinstance(value, Raw)
                else [f"{json.dumps(key)} = {toml_of(item)}" for key, item in table.items()]
            )
        except RecursionError:
            lines = ["x = " + "[" * 3_000]
        write_text(path, head + "\n".join(lines) + "\n")

    return write


def test_rows_of_conversations(console: Console, home: Path) -> None:
    folder = home / "data" / "s"
    toml_file(folder / "suite.toml")({key: SUITE[key] for key in ("format", "title", "source")})
    path = folder / "cases.jsonl"
    others = (
        {"id": "j", "prompt": "q", "judge": {"rubric": "r"}},
        {"id": "u", "judge": {"rubric": "r"}, **OPENINGS[2]},
    )
    for row in (DIALOGUE_ROW, *({"id": "a", "contains": "x"} | opening for opening in OPENINGS)):
        try_each(console, row, among(path, *others), (*DRY_RUN, "s", *ROLES))


def test_tables_of_suites(console: Console, home: Path) -> None:
    folder = home / "data" / "s"
    write_text(folder / "cases.jsonl", as_text({"prompt": "q", "mood": "kind", "answer": "x"}))
    try_each(console, SUITE, toml_file(folder / "suite.toml"), ("suites", "--data", "data"), (*DRY_RUN, "s"))


DATASETS = [
    ("bfcl-starter", "BFCL_v4_simple_python.json", ("--category", "simple_python")),
    ("bfcl-starter", "possible_answer/BFCL_v4_simple_python.json", ("--category", "simple_python")),
    ("bfcl-starter", "BFCL_v4_multi_turn_base.json", ("--category", "multi_turn_base")),
    ("bfcl-starter", "possible_answer/BFCL_v4_multi_turn_base.json", ("--category", "multi_turn_base")),
    ("bfcl-starter", "BFCL_v4_multi_turn_miss_func.json", ("--category", "multi_turn_miss_func")),
    ("bfcl-starter", "multi_turn_func_doc/*.json", ("--category", "multi_turn_base")),
    ("bfcl-starter", "BFCL_v4_memory.json", ("--category", "memory")),
    ("bfcl-starter", "memory_prereq_conversation/*.json", ("--category", "memory")),
    ("bfcl-starter", "BFCL_v4_web_search.json", ("--category", "web_search")),
    ("bfcl-starter", "web_recorded.json", ("--category", "web_search")),
    ("aidan-starter", "questions.jsonl", ()),
    ("cave-starter", "*/*.json", ()),
]


@pytest.mark.parametrize(("suite", "file", "more"), DATASETS)
def test_files_of_datasets(console: Console, home: Path, suite: str, file: str, more: Words) -> None:
    shutil.copytree(REPOSITORY_DATA / suite, home / "data" / suite)
    path = sorted((home / "data" / suite).rglob(file))[0]
    text = path.read_text()
    try:
        value, write = json.loads(text), whole(path)
    except ValueError:
        first, *others = [json.loads(line) for line in text.splitlines() if line.strip()]
        value, write = first, among(path, *others)
    run = ("run", "-m", "sim/careful", "-s", suite, "--data", "data", *more)
    try_each(console, value, write, (*run, "--dry-run"))


# Settings -------------------------------------------------------------------------------------------------------------

MODEL: Json = {
    "provider": "openai", "model_id": "x", "base_url": ["http://127.0.0.1:1/v1"], "api_key_env": "X", "mode": "fc",
    "params": {"temperature": 0.5, "stop": ["x"]}, "price": {"in": 1.0, "out": 2.0}, "headers": {"a": "b"},
    "limits": {"timeout_s": 5, "max_tries": 2, "concurrency": 3}, "bfcl_name": "gpt-4o-2024-11-20-FC",
    "omit": ["stop"], "rename": {"max_tokens": "x"}, "temperature": 0.5, "max_tokens": 5, "accept": ["x"],
}  # fmt: skip
PRESET: Json = {
    "models": ["sim/careful"], "suites": ["aidan-starter"], "rollouts": 2, "concurrency": 3, "mode": "prompt",
    "options": {"aidan-starter/max_turns": 3}, "judge": "sim/judge", "name": "n", "queue": True, "max_cost": 1.0,
    "max_tokens": 5, "max_errors": 3, "max_time": "10m",
}  # fmt: skip
CHOICES: tuple[Json, ...] = ({"limit": 2}, {"sample": 5, "seed": 1}, {"ids": ["causes-1"]})


def test_models(console: Console, home: Path) -> None:
    try_each(console, MODEL, toml_file(home / "models.toml", "[m]\n"), ("models",), ("models", "--json"))


@pytest.mark.parametrize("chosen", CHOICES)
def test_presets(console: Console, home: Path, chosen: Json) -> None:
    write = toml_file(home / "config" / "eval-console" / "presets.toml", "[mine]\n")
    for sound in (PRESET | chosen, {"models": ["sim/careful"], "suites": ["aidan-starter"]} | chosen):
        command = ("run", "-m", "sim/careful", "-s", "aidan-starter", "--preset", "mine", "--dry-run", "--yes")
        try_each(console, sound, write, command)


# Runs -----------------------------------------------------------------------------------------------------------------

NOTES: tuple[Json, ...] = (
    {"kind": "tag", "value": "model", "at": 1.0, "who": "x"},
    {"kind": "dispute", "value": "wrong", "at": 1.0, "who": "x"},
    {"kind": "label", "value": "model", "at": 1.0, "who": "x",
     "label": {"name": "format", "why": "w", "model": "m", "prompt": "p", "cost_usd": 0.5, "simulated": True}},
)  # fmt: skip


def finished_runs(console: Console, home: Path, suite: str = "bfcl-starter") -> tuple[Path, Path]:
    """Play two runs, and return the one that is to be damaged first."""
    for model in ("sim/hasty", "sim/careful"):
        assert console("run", "-m", model, "-s", suite, "-n", 3).code == Exit.OK
    run, other = sorted(
        (path.parent for path in (home / "runs").glob("*/run.json")), key=lambda path: "careful" in path.name
    )
    return run, other


def test_facts_of_a_run(console: Console, home: Path) -> None:
    run, _ = finished_runs(console, home)
    for name in ("run.json", "summary.json"):
        kept = (run / name).read_text()
        try_each(console, json.loads(kept), whole(run / name), ("runs",), ("show", run.name), ("leaderboard",))
        (run / name).write_text(kept)


def test_notes_labels_and_disputes(console: Console, home: Path) -> None:
    run, _ = finished_runs(console, home)
    case = json.loads((run / "journal.jsonl").read_text().splitlines()[1])["case"]["id"]
    for note in ({**note, "key": [case, 0, 1]} for note in NOTES):
        try_each(console, note, among(run / "notes.jsonl"), ("failures", run.name), ("show", f"{run.name}#{case}"))


def test_the_queue(console: Console, home: Path) -> None:
    run, _ = finished_runs(console, home)
    queue = [{"run": run.name, "at": 1.0, "models": "", "data": "", "folder": ""}]
    try_each(console, queue, whole(home / "runs" / ".queue" / "queue.json"), ("queue",), ("runs",))


@pytest.mark.parametrize(
    "suite",
    ["bfcl-starter", *(pytest.param(f"{name}-starter", marks=pytest.mark.slow) for name in ("aidan", "dialogue"))],
)
def test_journals(console: Console, home: Path, suite: str) -> None:
    """One record of each kind that the suite has, changed by somebody who can count checksums."""
    run, other = finished_runs(console, home, suite)
    journal = run / "journal.jsonl"
    lines = [{key: value for key, value in json.loads(line).items() if key != "crc"} for line in journal.open()]
    places = {line["t"]: place for place, line in enumerate(lines)}

    def write(value: Any) -> None:
        for derived in ("summary.json", "index.msgpack"):
            (run / derived).unlink(missing_ok=True)
        records = list(lines)
        for kind, record in value.items() if isinstance(value, dict) else ():
            if kind in places and isinstance(record, dict):
                records[places[kind]] = record | {"v": lines[places[kind]]["v"], "t": kind}
        journal.write_bytes(b"".join(map(with_checksum, records)))

    try_each(
        console, {kind: lines[place] for kind, place in places.items()}, write,
        ("show", run.name), ("failures", run.name), ("show", f"{run.name}#{lines[1]['case']['id']}"),
        ("compare", run.name, other.name), ("leaderboard",), ("trends",),
        *(("export", run.name, "--format", form, "--out", home / f"out.{form}")
          for form in ("json", "markdown", "html", "csv", "junit", "eval", FORMS[suite])),
        at_once=3,
    )  # fmt: skip


FORMS = {"bfcl-starter": "bfcl", "aidan-starter": "verifiers", "dialogue-starter": "otlp"}


def with_checksum(record: Json) -> bytes:
    body = as_text(record).encode()[:-1]
    return body + b',"crc":"%08x"}\n' % crc32(body)


def test_the_index_of_a_journal(console: Console, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "SAVED_FROM_BYTES", 1)
    run, _ = finished_runs(console, home)
    index = run / "index.msgpack"
    sound, rng = index.read_bytes(), random.Random(1)
    for number in range(16 * BUDGET):
        index.write_bytes(crafted(sound, rng) if number % 4 else rng.randbytes(40))
        for words in (("runs",), ("show", run.name), ("failures", run.name)):
            assert console(*words).code in ANSWERS, index.read_bytes()
