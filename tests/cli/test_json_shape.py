"""All JSON has one shape: schema, kind, and the fields that docs/json.md lists for the kind."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest

from console.cli.exitcode import Exit
from console.exchange.json_kind import SCHEMA, JsonKind

ROOT = Path(__file__).resolve().parents[2]


def _page_maker():
    spec = importlib.util.spec_from_file_location("make_json_page", ROOT / "docs" / "make_json_page.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker


KINDS: dict[str, JsonKind] = _page_maker().kinds()
WRITTEN_IN_OTHER_TESTS = {
    *("added_model", "allowed_suite", "bfcl_evaluation", "bfcl_generation", "bfcl_scores", "pull", "served_models"),
    *("deciding_step", "started_run", "trial"),
}
"""Kinds that need more than one command line; `support.json_kinds` holds their fields to what they list."""
RUN = ("run", "-m", "sim/hasty", "-s", "bfcl-starter/multiple", "-n", "2", "--quiet")


def checked(objects: list[dict[str, object]], kind: str) -> None:
    """Hold objects against their kind."""
    assert objects, kind
    optional = {name for name, meaning in KINDS[kind].fields.items() if meaning.startswith("optional")}
    for value in objects:
        assert (value["schema"], value["kind"]) == (SCHEMA, kind)
        missing = KINDS[kind].fields.keys() - optional - value.keys()
        assert not missing, kind
        assert value.keys() <= {"schema", "kind", *KINDS[kind].fields}, kind
    assert len(objects) == 1 or KINDS[kind].is_stream, kind


def test_every_verb_writes_the_kinds_of_the_page(console, home):
    runs = [console(*RUN, "--name", name, "--json").data["run"] for name in ("a", "b", "c")]
    case = console("review", runs[0], "--all", "--json").lines[0]["case"]
    console("export", runs[0], "--format", "eval", "-o", "log.eval")
    (home / "in.jsonl").write_text('{"case": "x", "kind": "answer", "text": "<answer>yes</answer>"}\n')
    lines = {
        "run": ["show", *runs[:1]],
        "forecast": [*RUN, "-m", "sim/careful", "--dry-run"],
        "preset": [*RUN, "--save-preset", "mine"],
        "case": ["show", f"{runs[0]}#{case}"],
        "verdict": ["review", runs[0], "--all"],
        "record": ["watch", runs[0]],
        "checked_line": ["check", "aidanbench", "in.jsonl"],
        "runs": ["runs"],
        "queue": ["queue"],
        "models": ["models"],
        "ping": ["models", "--ping", "sim/hasty"],
        "servers": ["models", "add"],
        "suites": ["suites"],
        "suite": ["suites", "bfcl-starter"],
        "failures": ["failures", runs[0]],
        "labels": ["explain", runs[0]],
        "labels_taken_back": ["explain", runs[0], "--undo"],
        "comparison": ["compare", *runs[:2], "--fail-if-worse"],
        "grid": ["compare", *runs],
        "regraded": ["regrade", runs[0]],
        "reader_score": ["labels", runs[0]],
        "suspects": ["suspects", "bfcl-starter"],
        "search": ["search", "the"],
        "history": ["history", "bfcl-starter", case],
        "trends": ["trends"],
        "leaderboard": ["leaderboard"],
        "annotation": ["tag", f"{runs[0]}#{case}", "model", "--comment", "seen"],
        "disputes": ["dispute", runs[0]],
        "export": ["export", runs[0], "--format", "csv"],
        "run_document": ["export", runs[0]],
        "as_sent": ["branch", f"{runs[0]}#{case}", "--show", "opening"],
        "branch": ["branch", f"{runs[0]}#{case}"],
        "tried": ["try", runs[0], "-m", "sim/careful", "--filter", "is:failed,passed"],
        "findings": ["doctor", "--offline"],
        "drift": ["doctor", "--drift", "sim/careful"],
        "sandbox_attacks": ["doctor", "--sandbox-attacks"],
        "bfcl_models": ["bfcl", "models"],
        "bfcl_categories": ["bfcl", "test-categories"],
        "bfcl_results": ["bfcl", "results", "--result-dir", str(home)],
        "bfcl_version": ["bfcl", "version"],
        "completion": ["completion", "bash"],
        "imports": ["import", "log.eval"],
        "labels_forecast": ["explain", runs[1], "--dry-run"],
        "new_suite": ["new", "mine"],
        "organized_run": ["organize", runs[0], "--note", "seen"],
        "own_row": ["keep", f"{runs[0]}#{case}", "--show-row"],
        "kept_case": ["keep", f"{runs[0]}#{case}"],
        "row_schema": ["suites", "schema", "dialogue"],
        "suite_check": ["suites", "check", "bfcl-starter"],
        "error": ["show", "nobody"],
    }
    untried = KINDS.keys() - lines.keys() - WRITTEN_IN_OTHER_TESTS
    assert not untried, f"no test writes the JSON kinds {sorted(untried)}: add a command line for each of them here"
    for kind, line in lines.items():
        ended = console(*line, "--json")
        checked([json.loads(ended.out)] if kind == "run_document" else ended.lines, kind)


@pytest.mark.parametrize(
    "line",
    [
        ("shwo",),
        ("runs", "--jsn"),
        ("run", "-m", "sim/carefull", "-s", "bfcl-starter"),
        ("runs", "--runs", "nowhere"),
        ("compare", "a"),
        ("export", "nobody", "-o", "x/y"),
    ],
)
def test_errors_are_json_too_and_said_on_stderr(console, line):
    for words in (("--json", *line), (*line, "--json")):
        ended = console(*words)
        (value,) = ended.lines
        checked([value], "error")
        assert value["exit_code"] == ended.code == Exit.USAGE
        assert value["message"] in ended.err
        assert value["hint"] in ended.err


def test_nothing_left_to_do_is_json_too(console, finished):
    ended = console("resume", finished, "--json")
    assert (ended.code, ended.data["kind"], ended.data["exit_code"]) == (Exit.LOCKED, "error", 5)


def test_a_field_that_is_not_listed_fails_a_test():
    kind = JsonKind("mine", "mine", "Mine.", {"x": "its value"})
    assert kind.as_object({"x": 1}) == {"schema": SCHEMA, "kind": "mine", "x": 1}
    with pytest.raises(AssertionError, match="'mine' does not list more: add the meaning to `MINE = "):
        kind.as_object({"x": 1, "more": 1})


def undeclared(source: str, name: str) -> list[str]:
    """Return a sentence for each call of a source that writes JSON whose kind is no declared constant."""
    return [
        f"{name}:{call.lineno} writes JSON of the kind {ast.unparse(call.args[0])}: declare it as a constant of the "
        'verb\'s module, MINE = JsonKind("mine", …), and hand that over'
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("data", "many_data")
        and ast.unparse(call.func.value).endswith("output")
        and call.args
        and ast.unparse(call.args[0]) not in {kind.upper() for kind in KINDS}
    ]


def test_every_kind_is_declared_where_its_verb_is():
    paths = [*(ROOT / "console/cli").rglob("*.py"), *(ROOT / "console/benchmarks").rglob("*.py")]
    assert [line for path in paths for line in undeclared(path.read_text(), str(path.relative_to(ROOT)))] == []
    (line,) = undeclared('args.output.data("mine", {})\nargs.output.data(RUNS, {})', "mine.py")
    assert line.startswith("mine.py:1 writes JSON of the kind 'mine': declare it")


def test_the_page_is_made_of_the_kinds():
    maker = _page_maker()
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run: python docs/make_json_page.py"
