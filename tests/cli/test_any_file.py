"""Every file that the program reads, with anything in it: an answer or one sentence with exit code 2, never a crash."""

import copy
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from support.crafted_index import crafted
from support.fuzz_budget import BUDGET
from support.made_up_json import as_text, change

from console.cli import history
from console.cli.exitcode import Exit

REPOSITORY_DATA = Path(__file__).resolve().parents[2] / "data"
BAD_LINES = ["", "{", "null", "[]", "5", '"x"', "9" * 5_000, "[" * 100_000, '{"a":' * 3_000, "\ufeff{}", "{}{}", "\x00"]
ENDINGS = (Exit.OK, Exit.USAGE)
Console = Callable[..., Any]


class Damager:
    """Changes sound values at one or two places, the same way each time."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)

    def damaged(self, value: Any) -> Any:
        value = copy.deepcopy(value)
        for _ in range(self.rng.choice((1, 1, 2))):
            value = change(value, self.rng)
        return value

    def line(self, value: Any) -> str:
        return self.rng.choice(BAD_LINES) if self.rng.random() < 0.1 else as_text(self.damaged(value))


def assert_answered(ended: Any, what: object) -> None:
    """Exit 70 is a crash; a sentence that says `internal error` too."""
    assert ended.code in ENDINGS, (what, ended.err[-500:])
    assert "Traceback" not in ended.err, what
    if ended.code == Exit.USAGE:
        assert len(ended.err.strip()) > 10, what


def read_rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


EVALUATE = ["bfcl", "evaluate", "--result-dir", "result", "-s", "bfcl-starter", "--partial-eval", "--mode", "prompt"]
RESULTS = [
    {"id": "simple_python_0", "result": "[harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16)]",
     "input_token_count": 10, "output_token_count": 5, "latency": 0.5},
    {"id": "simple_python_1", "result": "Error during inference: x", "traceback": "y"},
    {"id": "simple_python_2", "result": [{"scale_recipe": '{"servings": 7}'}], "latency": [[0.5, 1]],
     "inference_log": [{"role": "x", "content": "y"}], "reasoning_content": "z"},
]  # fmt: skip


def test_result_files_of_bfcl(console: Console, home: Path) -> None:
    damager = Damager("bfcl")
    path = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    path.parent.mkdir(parents=True)
    for number in range(25 * BUDGET):
        rows = [as_text(row) for row in RESULTS]
        rows[number % 3] = damager.line(RESULTS[number % 3])
        path.write_text("\n".join(rows), encoding="utf-8", errors="surrogatepass")
        assert_answered(console("import", path, "-s", "bfcl-starter"), rows)
        evaluated = console(
            "bfcl", "evaluate", "--result-dir", "result", "-s", "bfcl-starter", "--partial-eval", "--mode", "prompt"
        )
        assert_answered(evaluated, rows)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1" + "0" * 400, "1e308", '"x"', "null", "[[[]]]"])
@pytest.mark.parametrize("field", ["latency", "input_token_count", "output_token_count"])
def test_one_odd_number_leaves_the_tables_whole(console: Console, home: Path, field: str, number: str) -> None:
    path = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    path.parent.mkdir(parents=True)
    odd = {key: value for key, value in RESULTS[0].items() if key != field}
    other = {**RESULTS[0], "id": "simple_python_1"}
    path.write_text(as_text(odd)[:-1] + f', "{field}": {number}}}\n' + as_text(other))
    ended = console(
        "bfcl", "evaluate", "--result-dir", "result", "-s", "bfcl-starter", "--partial-eval", "--mode", "prompt"
    )
    assert ended.code == Exit.OK, ended.err
    tables = {file.name: file.read_text() for file in (home / "score").glob("data_*.csv")}
    assert "data_overall.csv" in tables
    assert all(",m," in table for table in tables.values())


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


def test_results_of_verifiers(console: Console, home: Path) -> None:
    damager = Damager("verifiers")
    for number in range(40 * BUDGET):
        rows, metadata = [as_text(VERIFIERS)] * 2, as_text(METADATA)
        if number % 3:
            rows[0] = damager.line(VERIFIERS)
        else:
            metadata = damager.line(METADATA)
        (home / "results.jsonl").write_text("\n".join(rows), encoding="utf-8", errors="surrogatepass")
        (home / "metadata.json").write_text(metadata, encoding="utf-8", errors="surrogatepass")
        assert_answered(console("import", home / "results.jsonl"), (rows[0][:300], metadata[:300]))


CAVE_TURN = {
    "query": "q", "reference_response": "r", "actual_response": "a",
    "expected_calls": [{"name": "f", "arguments": [{"name": "a", "value": 1, "type": "int"}]}],
    "actual_calls": [{"function": "f", "arguments": {"a": 1}, "call_id": "1"}], "validation_errors": ["x"],
    "metrics": {"steps": 1, "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}, "success": False,
    "validator_result": True, "code_snippets": ["f(a=1)"],
    "expected_variable_reads": ["x"], "expected_variable_writes": [],
}  # fmt: skip
CAVE = {"s": {"scenario": "s", "conversations": [{"id": "c", "turns": [CAVE_TURN]}], "eval_console": {"mode": "cave"}}}


def test_result_files_of_cavebench(console: Console, home: Path) -> None:
    damager = Damager("cave")
    for _ in range(40 * BUDGET):
        text = damager.line(CAVE)
        (home / "m_cave_x.json").write_text(text, encoding="utf-8", errors="surrogatepass")
        assert_answered(console("import", home / "m_cave_x.json"), text[:300])


def copied(name: str, home: Path) -> Path:
    folder = home / "data" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(REPOSITORY_DATA / name, folder)
    return folder


@pytest.mark.parametrize(
    ("suite", "file"),
    [
        ("bfcl-starter", "BFCL_v4_simple_python.json"),
        ("bfcl-starter", "possible_answer/BFCL_v4_simple_python.json"),
        ("bfcl-starter", "BFCL_v4_multi_turn_base.json"),
        ("bfcl-starter", "multi_turn_func_doc/*.json"),
        ("aidan-starter", "questions.jsonl"),
        ("cave-starter", "*/*.json"),
    ],
)
def test_files_of_datasets(console: Console, home: Path, suite: str, file: str) -> None:
    damager = Damager(file)
    folder = copied(suite, home)
    path = sorted(folder.rglob(file))[0]
    whole = path.read_text()
    is_lines = suite != "cave-starter"
    values = read_rows(path) if is_lines else [json.loads(whole)]
    for number in range(10 * BUDGET):
        place = number % min(len(values), 5)
        texts = [as_text(value) for value in values]
        texts[place] = damager.line(values[place])
        path.write_text("\n".join(texts), encoding="utf-8", errors="surrogatepass")
        category = ["--category", "simple_python" if "simple" in file else "multi_turn_base"] if "bfcl" in suite else []
        ended = console("run", "-m", "sim/careful", "-s", suite, "--data", home / "data", "--dry-run", *category)
        assert_answered(ended, texts[place][:300])


def toml_of(value: Any) -> str:
    """Write an inline TOML value; what TOML cannot hold becomes text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml_of(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_of, value)) + "]"
    return '""' if value is None else str(value).lower() if isinstance(value, bool | float) else json.dumps(value)


def toml_table(value: Any) -> str:
    try:
        return "\n".join(f"{json.dumps(key)} = {toml_of(item)}" for key, item in value.items())
    except (AttributeError, RecursionError):
        return "x = " + "[" * 3_000


MODEL = {"provider": "openai", "model": "x", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "X", "timeout_s": 5,
         "params": {"temperature": 0.5}, "price": {"input": 1.0, "output": 2.0}}  # fmt: skip
PRESET = {"models": ["sim/careful"], "suites": ["bfcl-starter"], "limit": 2, "rollouts": 2, "budget": {"calls": 5}}


def test_models_files(console: Console, home: Path) -> None:
    damager = Damager("models")
    for _ in range(40 * BUDGET):
        lines = toml_table(damager.damaged(MODEL))
        (home / "models.toml").write_text(f"[models.m]\n{lines}\n", encoding="utf-8", errors="replace")
        assert_answered(console("models", "--models", home / "models.toml"), lines[:300])


def test_presets(console: Console, home: Path) -> None:
    damager = Damager("presets")
    for number in range(40 * BUDGET):
        lines = toml_table(damager.damaged(PRESET))
        path = home / "config" / "eval-console" / "presets.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[mine]\n{lines}\n", encoding="utf-8", errors="replace")
        assert_answered(console("run", "--preset", "mine", "--dry-run", "--yes"), (number, lines[:300]))


def test_suite_descriptions(console: Console, home: Path) -> None:
    damager = Damager("suite")
    folder = copied("aidan-starter", home)
    table = {"format": "aidanbench", "title": "x", "source": {"version": "1", "name": "y"}, "licence": "z", "data": "."}
    for _ in range(25 * BUDGET):
        text = toml_table(damager.damaged(table))
        (folder / "suite.toml").write_text(text, encoding="utf-8", errors="replace")
        assert_answered(console("suites", "--data", home / "data"), text[:300])
        dry_run = console("run", "-m", "sim/careful", "-s", "aidan-starter", "--data", home / "data", "--dry-run")
        assert_answered(dry_run, text[:300])


def with_checksum(record: Any) -> bytes:
    """Return a journal line as the program writes it, whatever the record holds."""
    body = json.dumps(record, allow_nan=False).encode()[:-1]
    return body + b',"crc":"%08x"}' % crc32(body)


def crafted_journal(lines: list[Any], damager: Damager) -> bytes:
    """Return a journal of which some records were changed by somebody who can count checksums."""
    out: list[bytes] = []
    for record in lines:
        changed = record
        if damager.rng.random() < 0.3:
            changed = damager.damaged(record)
            changed = {**changed, "v": record["v"], "t": record["t"]} if isinstance(changed, dict) else record
        try:
            out.append(with_checksum(changed))
        except (ValueError, RecursionError):
            out.append(with_checksum(record))
    return b"\n".join(out) + b"\n"


@pytest.mark.parametrize("suite", ["bfcl-starter", "aidan-starter"])
def test_journals_that_somebody_made(console: Console, home: Path, suite: str) -> None:
    damager = Damager(suite)
    assert console("run", "-m", "sim/careful", "-s", suite, "-n", 3).code == Exit.OK
    (run,) = [path for path in (home / "runs").iterdir() if (path / "run.json").exists()]
    journal = run / "journal.jsonl"
    lines = [{k: v for k, v in row.items() if k != "crc"} for row in read_rows(journal)]
    for number in range(16 * BUDGET):
        for derived in ("summary.json", "index.msgpack"):
            (run / derived).unlink(missing_ok=True)
        journal.write_bytes(crafted_journal(lines, damager))
        form = ("json", "markdown", "html", "csv", "junit", "eval", "verifiers", "bfcl")[number % 8]
        for words in (
            ["show", run.name],
            ["failures", run.name],
            ["show", f"{run.name}#{lines[1]['case']['id']}"],
            ["export", run.name, "--format", form, "--out", home / f"out-{number}"],
            ["compare", run.name, run.name],
            ["leaderboard"],
            ["trends"],
        ):
            ended = console(*words)
            assert ended.code != Exit.INTERNAL, (words, (home / "state").exists() and ended.err, number)
            assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ["run.json", "summary.json", "notes.jsonl", "index.msgpack", "../.queue/queue.json"])
def test_other_files_of_a_run(console: Console, home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    damager = Damager(name)
    monkeypatch.setattr(history, "SAVED_FROM_BYTES", 1)
    assert console("run", "-m", "sim/careful", "-s", "bfcl-starter", "-n", 3).code == Exit.OK
    (run,) = [path for path in (home / "runs").iterdir() if (path / "run.json").exists()]
    path = run / name
    path.parent.mkdir(exist_ok=True)
    index = (run / "index.msgpack").read_bytes()
    sound: Any = {"key": ["simple_python_0", 0, 1], "kind": "tag", "value": "model", "at": 1.0, "who": "x"}
    if name in ("run.json", "summary.json"):
        sound = json.loads(path.read_text())
    elif name.endswith("queue.json"):
        sound = [{"run": run.name, "at": 1.0, "models": "", "data": "", "folder": ""}]
    for number in range(16 * BUDGET):
        if name == "index.msgpack":
            path.write_bytes(crafted(index, damager.rng) if number % 4 else damager.rng.randbytes(40))
        else:
            path.write_text(damager.line(sound), encoding="utf-8", errors="replace")
        for words in (["runs"], ["show", run.name], ["failures", run.name], ["queue"], ["show", "latest"]):
            ended = console(*words)
            assert ended.code != Exit.INTERNAL, (words, path.read_bytes()[:600], ended.err)
