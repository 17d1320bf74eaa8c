"""The rules of the checker, each by cases of our own: they hold where neither official data nor verdicts are there.

`checker_cases.jsonl` has one case a line: the rule with its section of the specification, the functions (a parameter
that ends in `?` is optional; `array of integer` names the type of items), the ground truth, what the model says, and
the expected error type, or null where the answer is right.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.conformance import BfclLineChecker

CASES = [json.loads(line) for line in Path(__file__).with_name("checker_cases.jsonl").read_text("utf-8").splitlines()]
SUITE = (
    'format = "bfcl"\ntitle = "Rules"\ndata = "."\n[source]\nname = "rules"\nversion = "1"\nlicence = "Apache-2.0"\n'
)
FILES = {"web_search_base": "web_search"}
"""Categories whose entries lie in the file of another name."""


def function(name: str, parameters: dict[str, str]) -> dict[str, Any]:
    """Return a function document from its short form."""
    properties: dict[str, Any] = {}
    for parameter, words in parameters.items():
        outer, _, inner = words.partition(" of ")
        properties[parameter.rstrip("?")] = {"type": outer} | ({"items": {"type": inner}} if inner else {})
    required = [parameter for parameter in parameters if not parameter.endswith("?")]
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": required}}


def id_of(number: int) -> str:
    category = CASES[number]["category"]
    return f"{category}_{number}-0-0" if category.startswith("live_") else f"{category}_{number}"


def write_dataset(folder: Path) -> None:
    """Write one entry for each case, in the official layout."""
    (folder / "possible_answer").mkdir()
    (folder / "suite.toml").write_text(SUITE)
    for number, case in enumerate(CASES):
        file = FILES.get(case["category"], case["category"])
        entry = {
            "id": id_of(number).replace(case["category"], file),
            "question": [[{"role": "user", "content": "Do."}]],
        }
        functions = [function(name, parameters) for name, parameters in case["docs"].items()]
        entry |= {"function": functions} if functions else {"involved_classes": ["WebSearchAPI"]}
        with (folder / f"BFCL_v4_{file}.json").open("a") as lines:
            lines.write(json.dumps(entry) + "\n")
        if case["truth"] is not None:
            with (folder / "possible_answer" / f"BFCL_v4_{file}.json").open("a") as lines:
                lines.write(json.dumps({"id": entry["id"], "ground_truth": case["truth"]}) + "\n")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the verdicts of all cases, judged as `eval-console check bfcl` judges a file of them."""
    folder = tmp_path_factory.mktemp("rules")
    write_dataset(folder)
    how = ("mode", "u2d")
    rows = [
        {"id": id_of(number), "output": case["says"]} | {key: case[key] for key in how if key in case}
        for number, case in enumerate(CASES)
    ]
    with BfclLineChecker(folder) as checker:
        return checker.check(rows)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case['rule']}" for case in CASES])
def test_a_rule(verdicts: list[Any], number: int):
    case, verdict = CASES[number], verdicts[number]
    assert (verdict["valid"], verdict["error_type"]) == (case["error"] is None, case["error"]), verdict


def test_every_kind_of_rule_has_answers_that_hold_and_answers_that_do_not():
    sections = {True: Counter[str](), False: Counter[str]()}
    for case in CASES:
        sections[case["error"] is None][case["rule"].split(" ", 1)[0]] += 1
    assert sections[True].keys() >= {
        "5.1",
        "5.2",
        "5.6",
        "6.1",
        "6.2",
        "6.3",
        "6.4",
        "7",
        "7.1",
        "7.3",
        "7.4",
        "8",
        "9.8",
    }
    assert sections[True].keys() <= sections[False].keys()
    assert len({case["rule"] for case in CASES}) == len(CASES)
