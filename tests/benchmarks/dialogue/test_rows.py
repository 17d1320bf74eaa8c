"""Reading rows: files of every form come to the same cases, and every mistake is told with its place."""

import csv
import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.row_suite import SETTING, ScriptedStage, cases_of, suite_in, write_folder

from console.benchmarks.dialogue.data.dataset import KNOWN
from console.benchmarks.dialogue.data.schema import row_schema
from console.benchmarks.dialogue.rules.row import CHECKS
from console.benchmarks.dialogue.rules.script import script_of
from console.core.fault import UsageError
from console.core.outcome import Outcome

ROWS = [
    {"id": "fr", "prompt": "Capital of France?", "contains": "Paris", "category": "europe"},
    {"prompt": "Two and\ntwo?", "number": "4", "cluster": "sums"},
]


def as_csv(rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cases.json", json.dumps(ROWS, indent=1)),
        ("cases.json", json.dumps(ROWS)),
        ("cases.csv", as_csv(ROWS)),
        ("cases.csv", "\ufeff" + as_csv(ROWS).replace(",", ";")),
        ("cases.yaml", "- {id: fr, prompt: Capital of France?, contains: Paris, category: europe}\n"
                       '- prompt: "Two and\\ntwo?"\n  number: "4"\n  cluster: sums\n'),
    ],
)  # fmt: skip
def test_all_forms_of_a_file_come_to_the_same_cases(tmp_path: Path, name: str, text: str) -> None:
    assert cases_of(tmp_path / "a", text, name=name) == cases_of(tmp_path / "b", ROWS)


def test_an_id_is_made_of_the_row(tmp_path: Path) -> None:
    assert [case.id for case in cases_of(tmp_path, ROWS)] == ["fr", "row-2"]


def test_the_suite_names_columns_and_fills_in_defaults(tmp_path: Path) -> None:
    toml = """
[columns]
Answer = "contains"
[defaults]
prompt = "What is the capital of {land}? Write {{name}}."
system = "Be short."
"""
    text = 'land,Answer\nFrance,Paris\n"Korea, South",Seoul\n'
    scripts = [script_of(case) for case in cases_of(tmp_path, text, toml=toml, name="cases.csv")]
    assert [script.turns[0].user for script in scripts] == [
        "What is the capital of France? Write {name}.",
        "What is the capital of Korea, South? Write {name}.",
    ]
    assert scripts[1].system == "Be short."
    assert scripts[1].expect == [{"contains": "Seoul"}]
    assert scripts[0].columns == {"land": "France", "Answer": "Paris"}


def test_braces_of_a_row_are_braces(tmp_path: Path) -> None:
    [case] = cases_of(tmp_path, [{"prompt": "{id} and {nothing}", "equals": "{x}"}])
    assert script_of(case).turns[0].user == "{id} and {nothing}"


@pytest.mark.parametrize(
    ("row", "where", "problem"),
    [
        ('{"prompt": 7, "equals": "x"} ', "", None),
        ('{"prompt": ["x"], "equals": "x"}', "prompt", "must be a string, not a list"),
        ('{"promt": "x", "equals": "x"}', "promt", "is not a field of a row; prompt is"),
        ('{"equals": "x"}', "", "has no question"),
        ('{"prompt": "x"}', "expect", "has no check"),
        ('{"prompt": "x", "turns": ["y"], "equals": "x"}', "turns", "prompt and turns are mutually exclusive"),
        ('{"prompt": "x", "expect": [{"equls": "x"}]}', "expect[0]", "has no check named 'equls'"),
        ('{"prompt": "x", "expect": [{"equals": "x", "regex": "y"}]}', "expect[0]", "is equals and regex at once"),
        ('{"prompt": "x", "expect": [{"equals": 7}]}', "expect[0].equals", "must be a string or a list, not"),
        ('{"prompt": "x", "expect": [{"equals": "x", "ignorecase": true}]}', "expect[0]", "has no field 'ignorecase'"),
        ('{"prompt": "x", "expect": [{"regex": "("}]}', "expect[0].regex", "is not a regular expression"),
        ('{"prompt": "x", "expect": [{"number": "many"}]}', "expect[0].number", "must be a number, not 'many'"),
        ('{"prompt": "x", "expect": [{"number": 1, "tolerance": -1}]}', "expect[0].tolerance", "must not be negative"),
        ('{"prompt": "x", "expect": [{"number": 1, "tolerance": "-5 %"}]}', "expect[0].tolerance", "not be negative"),
        ('{"prompt": "x", "expect": [{"number": 1, "tolerance": "\u22125"}]}', "expect[0].tolerance", "be a number"),
        ('{"prompt": "x", "expect": [{"number": 1, "tolerance": "1e999 %"}]}', "expect[0].tolerance", "be a number"),
        ('{"prompt": "x", "expect": [{"number": 1, "tolerance": "1e9 %"}]}', "expect[0].tolerance", "more than 100%"),
        ('{"prompt": "x", "number": 1, "tolerance": -5}', "tolerance", "but of its check 'number'"),
        ('{"prompt": "x", "number": 1, "tolerance": "1e999 %"}', "tolerance", "but of its check 'number'"),
        ('{"prompt": "x", "number": 1, "which": "any"}', "which", "but of its check 'number'"),
        ('{"prompt": "x", "regex": "x", "ignore_case": true}', "ignore_case", "but of its check 'regex'"),
        ('{"prompt": "x", "regex": "(?R)"}', "expect[0].regex", "recursion such as (?R) is not supported"),
        ('{"prompt": "x", "regex": "a{1000000}b"}', "expect[0].regex", "come to more than 20,000 parts"),
        ('{"prompt": "x", "regex": "((x[)]y{100}){100}|z){3}"}', "expect[0].regex", "come to more than 20,000 parts"),
        ('{"prompt": "x", "expect": [{"json": {"pattern": "(a{999}){999}"}}]}', "expect[0].json", "come to more than"),
        ('{"prompt": "x", "regex": "(a(?1)?b)"}', "expect[0].regex", "recursion such as (?1)"),
        ('{"prompt": "x", "regex": "(?P<n>a(?&n))"}', "expect[0].regex", "recursion such as (?&n)"),
        ('{"prompt": "x", "regex": "(?P<n>a(?P>n))"}', "expect[0].regex", "recursion such as (?P>n)"),
        ('{"prompt": "x", "expect": [{"json": {"pattern": "(?R)"}}]}', "expect[0].json", "recursion such as (?R)"),
        ('{"prompt": "x", "expect": [{"json": {"type": "objekt"}}]}', "expect[0].json", "is not a JSON schema"),
        ('{"prompt": "x", "expect": [{"json": {"$ref": "http://x/y"}}]}', "expect[0].json", "may only point into"),
        ('{"prompt": "x", "expect": [{"calls": [{"f": {}}]}]}', "expect[0].calls[0]", "there is no tool 'f'"),
        ('{"prompt": "x", "expect": [{"judge": true}]}', "expect[0].judge", "there is no rubric"),
        ('{"prompt": "x", "judge": {"rubric": "r", "scale": [5, 1]}}', "judge.scale", "must be ascending"),
        ('{"prompt": "x", "judge": {"rubric": "r", "threshold": 9}}', "judge.threshold", "must be on the scale"),
        ('{"messages": [{"role": "assistant", "content": "hi"}], "equals": "x"}', "messages", "must end with"),
        ('{"prompt": "x", "equals": "x", "id": ""}', "id", None),
        ('{"prompt": "x", "number": NaN}', "", "which are not valid JSON"),
        ('{"prompt": "\\ud800", "equals": "x"}', "", "which are not valid JSON"),
        ('{"prompt": "x", "number": 1e999}', "", "which are not valid JSON"),
        ("[" * 9000, "", "is not JSON"),
        ('"text"', "", "must be a table of fields"),
        ("{", "", "is not JSON"),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_file_line_and_field(tmp_path: Path, row: str, where: str, problem: str | None) -> None:
    folder = write_folder(tmp_path, f'{{"prompt": "fine", "equals": "x"}}\n\n{row}\n')
    if problem is None and not where:
        assert len(list(suite_in(folder).cases((), SETTING))) == 2
        return
    with pytest.raises(UsageError) as caught:
        suite_in(folder).categories()
    message = str(caught.value)
    assert message.startswith(f"{folder}/cases.jsonl:3: {where}: " if where else f"{folder}/cases.jsonl:3: "), message
    assert (problem or "") in message


def branches(levels: int) -> dict[str, Any]:
    """A schema of 2 ** levels alternatives, written out."""
    return {"anyOf": [branches(levels - 1)] * 2} if levels else {"type": ["integer"]}


def test_a_schema_of_too_many_branches_is_refused_at_once(tmp_path: Path) -> None:
    row = {"prompt": "x", "expect": [{"json": branches(12)}]}
    start = time.thread_time()
    with pytest.raises(UsageError, match=r"cases\.jsonl:1: expect\[0\]\.json: .* more than 2,000 keywords"):
        cases_of(tmp_path, [row])
    assert time.thread_time() - start < 5


def test_a_column_named_like_an_option_is_used_where_it_is_named(tmp_path: Path) -> None:
    """As a variable, or beside a check that has no such option."""
    toml = '[defaults]\nprompt = "Give {which}."\n'
    [case] = cases_of(tmp_path / "a", [{"which": "one", "number": 1}], toml=toml)
    assert script_of(case).turns[0].user == "Give one."
    [case] = cases_of(tmp_path / "b", [{"prompt": "x", "tolerance": "high", "contains": "x"}])
    assert script_of(case).columns == {"tolerance": "high"}


def test_all_bad_rows_are_told_at_once(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [{"prompt": number} for number in range(30)])
    with pytest.raises(UsageError) as caught:
        suite_in(folder).categories()
    message = str(caught.value)
    assert "has 30 errors" in message
    assert "… and 10 more" in message
    assert "cases.jsonl:20: " in message
    assert "cases.jsonl:21: " not in message


def test_rows_that_are_no_json_are_told_with_the_others_line_by_line(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [{"prompt": 1}] * 2)
    file = folder / "cases.jsonl"
    doubled = '{"prompt": "a", "expect": [{"equals": "a", "equals": "b"}]}'
    file.write_text(f'{{"prompt": "a", "contians": "b"}}\nno json\n{{"prompt": "a"}}\n{{"number": NaN}}\n{doubled}\n')
    with pytest.raises(UsageError) as caught:
        suite_in(folder).categories()
    lines = [line.split(":")[1] for line in str(caught.value).split("\n") if line.startswith("  cases.jsonl:")]
    assert lines == ["1", "2", "3", "4", "5"]
    assert "cases.jsonl:5: equals: occurs twice" in str(caught.value)


def test_a_key_that_is_twice_in_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [])
    (folder / "cases.jsonl").unlink()
    (folder / "cases.yaml").write_text("- &a {prompt: a, contains: b}\n- *a\n- prompt: a\n  contains: b\n  prompt: c\n")
    with pytest.raises(UsageError, match=r"cases\.yaml:3: prompt: occurs twice"):
        suite_in(folder).categories()


def test_a_cell_that_is_longer_than_any_text_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, [])
    (folder / "cases.jsonl").unlink()
    (folder / "cases.csv").write_text('prompt,contains\n"a\r\nb",' + "x" * (4 * 1024 * 1024 + 1) + "\n")
    with pytest.raises(
        UsageError, match=r"is not CSV: field larger than field limit .*cases\.csv:3|cases\.csv:3.*field"
    ):
        suite_in(folder).categories()


def test_doubled_ids_name_both_places(tmp_path: Path) -> None:
    rows = [{"id": "a", "prompt": "x", "equals": "x"}] * 2
    with pytest.raises(UsageError, match=r"cases.jsonl:2: id: 'a' is already the id of cases.jsonl:1"):
        cases_of(tmp_path, rows)


@pytest.mark.parametrize(
    ("toml", "problem"),
    [
        (
            '[defaults]\nprompt = "{contry}?"\nequals = "x"\n',
            "no row has a value for {contry}\n  Did you mean country?",
        ),
        ("[defaults]\npromt = 'x'\n", "defaults.promt: is not a field of a row\n  Did you mean prompt?"),
        ('[columns]\nLand = "prompt"\n', "columns.Land: no row has this column"),
        ('[columns]\ncountry = "promt"\n', "columns.country: 'promt' is not a field of a row"),
        ("[default]\nprompt = 'x'\n", "default: is not a key of suite.toml\n  Did you mean defaults?"),
    ],
)
def test_mistakes_of_the_suite_file(tmp_path: Path, toml: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        cases_of(tmp_path, [{"country": "France"}], toml=toml)
    assert problem in "\n".join(line.rstrip().replace("    ", "  ") for line in str(caught.value).split("\n"))


def test_a_mistake_in_the_defaults_is_told_once_and_where_it_is(tmp_path: Path) -> None:
    rows = [{"prompt": "x"}, {"prompt": "y"}, {"prompt": "z", "judge": {"categories": {"A": "passd"}}}]
    toml = '[defaults.judge]\nrubric = "r"\nreference = "{prompt}"\ncategories = {A = "fail"}\n'
    with pytest.raises(UsageError) as caught:
        cases_of(tmp_path, rows, toml=toml)
    wrong = "must be 'passed' or 'failed' or a number, not"
    first, default, own = str(caught.value).split("\n")
    assert "has 2 errors" in first
    assert default.endswith(f"suite.toml: defaults.judge.categories[...]: {wrong} 'fail'")
    assert own == f"  cases.jsonl:3: judge.categories[...]: {wrong} 'passd'"
    with pytest.raises(UsageError, match=r"suite\.toml: defaults\.judge: has no field 'eahc'\n +Did you mean each\?"):
        cases_of(tmp_path, rows[:2], toml="[defaults.judge]\nrubric = 'r'\neahc = true\n")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(KNOWN)


@settings(max_examples=200)
@given(st.lists(st.dictionaries(FIELDS | st.text(max_size=5), VALUES, max_size=5), min_size=1, max_size=3))
def test_any_rows_are_cases_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("rows")
    try:
        cases = cases_of(folder, rows)
    except UsageError:
        pass
    else:
        assert len(cases) == len(rows)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.text(min_size=1), st.text(min_size=1)), min_size=1, max_size=5))
def test_texts_come_through_a_table_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    rows = [{"id": f"r{n}", "prompt": prompt, "system": system} for n, (prompt, system) in enumerate(texts)]
    rows = [row for row in rows if row["prompt"].strip() and row["system"].strip() and "\0" not in str(row)]
    rows.append({"id": "last", "prompt": "x", "system": "y"})
    folder = tmp_path_factory.mktemp("table")
    try:
        as_csv(rows).encode()
    except UnicodeEncodeError:
        return
    (folder / "cases.csv").write_bytes(as_csv(rows).encode())
    (folder / "suite.toml").write_text('format = "dialogue"\n[defaults]\nequals = "x"\n')
    scripts = [script_of(case) for case in suite_in(folder).cases((), SETTING)]
    assert [(script.turns[0].user, script.system) for script in scripts] == [(r["prompt"], r["system"]) for r in rows]


STARTER = Path(__file__).resolve().parents[3] / "data" / "dialogue-starter"


STARTER_SUITE = suite_in(STARTER)
STARTER_CASES = list(STARTER_SUITE.cases((), SETTING))
CALLS = st.lists(st.fixed_dictionaries({"name": st.text(max_size=8), "arguments": st.text(max_size=20)}), max_size=3)
GRADES = st.lists(st.fixed_dictionaries({"name": st.text(max_size=6), "grade": st.floats()}), max_size=3)
TURNS = st.fixed_dictionaries(
    {"answer": st.text(max_size=60), "calls": CALLS, "judged": st.lists(st.fixed_dictionaries({"grades": GRADES}))}
)
OUTPUTS = VALUES | st.lists(st.text()) | st.fixed_dictionaries({"turns": st.lists(TURNS, max_size=4)})
"""Outputs of any form, and of the form that a run records."""


def test_the_starter_has_every_kind_of_check_and_its_right_answers_pass() -> None:
    suite = suite_in(STARTER)
    cases = list(suite.cases((), SETTING))
    assert len(cases) >= 24
    text = json.dumps([case.data for case in cases])
    assert [kind for kind in CHECKS if f'"{kind}":' not in text] == ["python_tests"], "which needs a file beside"
    assert suite.roles({}) == ("judge", "user")


@pytest.mark.parametrize("right", [True, False])
async def test_simulated_models_answer_the_starter_right_and_wrong(right: bool) -> None:
    suite = suite_in(STARTER)
    outcomes = [
        suite.score(case, await suite.play(case, ScriptedStage(right), SETTING), SETTING)
        for case in suite.cases((), SETTING)
    ]
    assert {verdict.outcome for verdict in outcomes} == {Outcome.PASSED if right else Outcome.FAILED}


@settings(max_examples=150)
@given(st.integers(min_value=0, max_value=28), OUTPUTS)
def test_any_output_is_judged_and_compared(number: int, output: Any) -> None:
    case = STARTER_CASES[number]
    verdict = STARTER_SUITE.score(case, output, SETTING)
    assert verdict.outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.UNDECIDED)
    assert STARTER_SUITE.compare(case, output, verdict, SETTING).sentence


def test_the_schema_accepts_the_starter_and_refuses_what_the_reader_refuses() -> None:
    schema = row_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for line in (STARTER / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(validator.iter_errors(json.loads(line))) == []
    bad: list[dict[str, Any]] = [
        {"prompt": 7},
        {"expect": [{"equls": "x"}]},
        {"expect": [{"equals": "x", "tolerance": 1}]},
        {"turns": [{"user": "x", "expect": [{"number": []}]}]},
        {"user": {"persona": "nobody"}},
        {"choice": "AB"},
    ]
    assert [row for row in bad if validator.is_valid(row)] == []
