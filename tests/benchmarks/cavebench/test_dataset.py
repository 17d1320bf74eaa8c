"""Reading scenario folders: published layouts, damaged files, what runs in which mode."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.cavebench.data.source import read_source
from console.benchmarks.cavebench.inside.stubs import extract_json_from_response
from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.modes import find_mode
from console.suites.selection import select_cases
from console.suites.suite import SuiteEntry

MODULE = """
def plain(response, runtime, turn, calls): return True
def looks(response, runtime, turn, calls): return runtime.retrieve("x")
validators = {"plain": plain, "looks": looks}
hooks = {"hook": plain}
"""


def suite_of(folder: Path) -> CaveBenchSuite:
    return CaveBenchSuite(SuiteEntry(name="cave", format="cavebench", folder=folder, title="cave"))


def write(folder: Path, *scenarios: dict[str, Any], name: str = "a.json", module: str = MODULE) -> CaveBenchSuite:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(scenarios))
    (folder / "mod.py").write_text(module)
    return suite_of(folder)


def scenario(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "s", "module": "mod", "conversations": [{"id": "c", "turns": list(turns)}], **more}


def ids(suite: CaveBenchSuite, mode: str = "cave", **selection: Any) -> list[str]:
    return [case.id for case in select_cases(suite, Selection(**selection), Setting(mode=mode))]


DAMAGED = {
    "no module": ({"name": "s", "conversations": []}, "has no `module`"),
    "absent module": ({"name": "s", "module": "a.b.gone", "conversations": []}, "neither below"),
    "no conversations": ({"name": "s", "module": "mod"}, "`conversations` must be a list"),
    "turns of the wrong kind": ({"module": "mod", "conversations": [{"turns": {}}]}, "`turns` must be a list"),
    "a turn that is a text": (scenario("q"), "turn 1: is not an object"),  # type: ignore[arg-type]
    "a query of the wrong kind": (scenario({"query": 3}), "`query` must be a string"),
    "unknown argument key": (
        scenario({"expected_function_calls": [{"name": "f", "arguments": [{"name": "a", "values": 1}]}]}),
        "unknown key 'values'",
    ),
    "a call without a name": (scenario({"expected_function_calls": [{}]}), "has no name"),
    "unknown validator": (scenario({"validator": "plian"}), "Did you mean plain"),
    "a call with a list as name": (scenario({"expected_function_calls": [{"name": []}]}), "must be a string"),
    "a validator of the wrong kind": (scenario({"validator": ["plain"]}), "`validator` must be a string"),
    "a cue that is a number": (scenario({"cue": 7}), "`cue` must be an object"),
    "a cue with calls of the wrong kind": (scenario({"cue": {"calls": [["f"]]}}), "pairs of name and arguments"),
    "unknown hook": (scenario({"pre_turn_hook": "none"}), "no pre_turn_hook 'none'"),
    "description of the wrong kind": (scenario(description=3), "`description` must be a string"),
}


@pytest.mark.parametrize(("data", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_named_with_its_place(tmp_path: Path, data: dict[str, Any], message: str) -> None:
    suite = write(tmp_path, scenario(name="fine"), data)
    with pytest.raises(UsageError) as caught:
        suite.categories()
    assert message in str(caught.value)
    assert "a.json: scenario 2" in str(caught.value)


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[{")
    with pytest.raises(UsageError, match=r"a\.json: cannot be read as JSON"):
        suite_of(tmp_path).categories()


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no scenario file"):
        suite_of(tmp_path).categories()


def test_other_json_files_and_results_are_left_alone(tmp_path: Path) -> None:
    suite = write(tmp_path, scenario())
    (tmp_path / "result.json").write_text('{"s": {"conversations": []}}')
    (tmp_path / "data.json").write_text("[1, 2]")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "old.json").write_text(json.dumps([scenario(name="old")]))
    assert ids(suite) == ["s/c"]


def test_names_that_occur_twice_are_told_apart(tmp_path: Path) -> None:
    twice = {"module": "mod", "name": "s", "conversations": [{"id": "c", "turns": []}, {"id": "c", "turns": []}, {}]}
    assert ids(write(tmp_path, twice, twice)) == [
        "s/c", "s/c~2", "s/unnamed_conversation", "s~2/c", "s~2/c~2", "s~2/unnamed_conversation",
    ]  # fmt: skip


def test_old_key_for_the_name_and_no_name_at_all(tmp_path: Path) -> None:
    first = {"module": "mod", "scenario": "old", "conversations": [{"id": "c"}]}
    second = {"module": "mod", "conversations": [{"id": "c"}]}
    assert ids(write(tmp_path, first, second)) == ["old/c", "scenario_2/c"]


def test_module_by_path_and_beside_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "evals" / "family"
    write(
        folder,
        scenario(name="stale", module="benchmarks.elsewhere.mod"),
        scenario(name="right", module="evals.family.mod"),
    )
    suite = suite_of(tmp_path)
    beside = [case.data["beside"] for case in select_cases(suite, Selection(), Setting())]
    assert beside == ["evals/family/mod.py", ""]
    assert {category.group for category in suite.categories()} == {"family"}


@pytest.mark.parametrize(
    ("turn", "modes"),
    [
        ({"query": "q"}, ("cave", "json")),
        ({"query": "q", "validator": "plain"}, ("cave", "json")),
        ({"query": "q", "validator": "looks"}, ("cave",)),
        ({"query": "q", "pre_turn_hook": "hook"}, ("cave",)),
        ({"query": "q", "expected_variable_reads": ["x"]}, ("cave",)),
    ],
)
def test_scenarios_that_need_a_runtime_are_not_offered_in_json_mode(
    tmp_path: Path, turn: dict[str, Any], modes: tuple[str, ...]
) -> None:
    suite = write(tmp_path, scenario(turn))
    assert suite.categories()[0].modes == modes
    assert ids(suite, "json") == (["s/c"] if "json" in modes else [])
    assert ids(suite, "json", categories=("s",)) == ["s/c"]


FACTORY = """
import numpy as np

def checker(number, key):
    def inner(response, runtime, turn, calls):
        def result():
            return number
        return result() == key
    return inner

def watcher():
    def inner(response, runtime, turn, calls):
        return runtime.retrieve("x")
    return inner

def either(flag):
    def one(response, runtime, turn, calls): return True
    def other(response, runtime, turn, calls): return runtime
    if flag:
        return one
    return other

def rebound():
    def inner(response, runtime, turn, calls): return True
    inner = watcher()
    return inner

def unknown():
    return elsewhere

plain = checker(1, 1)
looks = watcher()
both = either(True)
lost = rebound()
foreign = unknown()
twice = checker(1, 2)
twice = watcher()
validators = {
    "plain": plain, "looks": looks, "both": both, "lost": lost, "foreign": foreign, "twice": twice,
    "made": checker(2, 3), "short": lambda response, runtime, turn, calls: True,
    "long": lambda response, runtime, turn, calls: runtime,
}
"""


def test_a_factory_made_validator_needs_a_runtime_only_if_it_uses_it(tmp_path: Path) -> None:
    validators = ["plain", "looks", "both", "lost", "foreign", "twice", "made", "short", "long"]
    made = [scenario({"query": "q", "validator": name}, name=name) for name in validators]
    suite = write(tmp_path, *made, module=FACTORY)
    assert [item.name for item in suite.categories() if "json" in item.modes] == ["plain", "made", "short"]


@pytest.mark.parametrize(
    ("signature", "unsendable"),
    [
        ("a: int, b: list[str] | None = None", ""),
        ("a: np.ndarray", "np.ndarray of multiply"),
        ("a, *, b: 'list[np.ndarray] | None' = None", "np.ndarray of multiply"),
        ("a: Optional[Frame]", "Frame of multiply"),
        ("a: Annotated[int, 'np.ndarray']", ""),
        ("a: Literal['Frame']", ""),
        ("a: Other", ""),
    ],
)
def test_tools_that_cannot_be_sent_leave_json_mode_out(tmp_path: Path, signature: str, unsendable: str) -> None:
    module = f"""
import numpy as np
from pandas import DataFrame as Frame
from somewhere import Other
def multiply({signature}): return a
def helper(a: np.ndarray): return a
tools = [multiply]
"""
    suite = write(tmp_path, scenario({"query": "q"}), scenario({"query": "q"}, name="t"), module=module)
    assert suite.categories()[0].modes == (("cave",) if unsendable else ("cave", "json"))
    told = [f"json mode leaves out scenarios with tools that have no JSON schema: s ({unsendable}), t ({unsendable})"]
    assert suite.notices(Setting(mode="json")) == (told if unsendable else [])
    assert suite.notices(Setting(mode="cave")) == []


def test_selection_and_its_mistakes(tmp_path: Path) -> None:
    suite = write(tmp_path, *(scenario(name=f"s{n}") for n in range(9)))
    assert ids(suite, limit=2) == ["s0/c", "s1/c"]
    drawn = ids(suite, limit=3, seed=4)
    assert drawn == ids(suite, limit=3, seed=4)
    assert len(set(drawn)) == 3
    assert ids(suite, ids=("s7/c",)) == ["s7/c"]
    for selection in ({"categories": ("s77",)}, {"ids": ("s7/cc",)}):
        with pytest.raises(UsageError, match="Did you mean"):
            ids(suite, **selection)


def test_options_and_modes_that_make_no_sense(tmp_path: Path) -> None:
    suite = write(tmp_path, scenario())
    with pytest.raises(UsageError, match="mode 'speech'"):
        find_mode(suite, "speech")
    assert find_mode(suite, None) == find_mode(suite, "prompt") == "cave"
    assert find_mode(suite, "fc") == "json"
    wrong = ({"max_steps": 0}, "at least"), ({"cell_seconds": -1}, "at least"), ({"max_history": True}, "of type int")
    for options, message in wrong:
        with pytest.raises(UsageError, match=message):
            suite.settle({**{option.name: option.default for option in suite.options}, **options}, {})


def test_what_a_source_cannot_tell_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("validators = dict(a=1)\nfrom other import hooks\n")
    source = read_source(path)
    assert (source.validators, source.hooks) == (None, None)
    assert source.uses_runtime("a")
    path.write_text("def broken(:")
    assert read_source(path).validators is None
    path.write_text("x = 1")
    assert read_source(path).validators == frozenset()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('Here: ```json\n{"a": 1,}\n``` done', {"a": 1}),
        ('The answer is {"a": [1, 2]} as asked.', {"a": [1, 2]}),
        ("{'a': None, 'b': true}", {"a": None, "b": True}),
        ("[1, 2, 3]", [1, 2, 3]),
        ("no data", None),
    ],
)
def test_json_in_answers(text: str, found: Any) -> None:
    assert extract_json_from_response(text) == found
