"""The test kit: our own suites keep what it asks for, and one that does not is told what it does not keep."""

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from support.dialogue_suite import DialogueSuite
from support.folder_suites import write_folder_suite

from console.config.paths import find_data_roots
from console.core.case import Case, Setting
from console.core.outcome import Outcome, Verdict
from console.suites.catalog import Catalog
from console.suites.folder_code import FolderCode, open_folder
from console.suites.stage import Stage
from console.suites.suite import Suite, SuiteEntry
from console.testing import SuiteProblems, check_suite

CONFINED = pytest.mark.skipif(
    sys.platform != "linux" or importlib.util.find_spec("cave_agent") is None,
    reason="its code runs only where it can be confined, and with cave-agent",
)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("aidan-starter", {"cases": 2}),
        ("bfcl-starter", {"categories": ["simple_python", "multi_turn_base", "irrelevance"]}),
        ("bfcl-starter", {"categories": ["multi_turn_base"], "cases": 2}),
        ("dialogue-starter", {"cases": 29}),
        pytest.param("cave-starter", {"categories": ["kitchen"], "cases": 1}, marks=[CONFINED, pytest.mark.slow]),
    ],
)
def test_our_own_suites_keep_it(name: str, how: dict[str, Any]) -> None:
    check_suite(Catalog(find_data_roots()).open(name), **how)


def test_a_suite_of_a_folder_keeps_it(tmp_path: Path) -> None:
    folder = write_folder_suite(tmp_path)
    entry = SuiteEntry("cities", "python", folder, "Cities", module="suite.py")
    check_suite(open_folder(FolderCode(entry), entry), cases=4)


def faulty(**parts: Any) -> Suite:
    """A dialogue with other methods for some of its own."""
    methods = {name: staticmethod(part) for name, part in parts.items()}
    return type("Faulty", (DialogueSuite,), methods)(judged=False)


async def _asks_by_chance(case: Case, stage: Stage, setting: Setting) -> Any:
    reply = await stage.ask([{"role": "user", "content": f"{random.random()}"}])
    return [reply.content]


async def _asks_a_user(case: Case, stage: Stage, setting: Setting) -> Any:
    return [(await stage.ask([{"role": "user", "content": "?"}], role="user")).content]


async def _counts_itself(case: Case, stage: Stage, setting: Setting) -> Any:
    await stage.perform("count", [], _three)
    return [f"{random.random()}"]


async def _three() -> int:
    return 3


async def _returns_a_set(case: Case, stage: Stage, setting: Setting) -> Any:
    return {object()}


def _random_verdict(case: Case, output: Any, setting: Setting) -> Verdict:
    return Verdict(Outcome.PASSED, scores={"luck": random.random()})


def _greedy_verdict(case: Case, output: Any, setting: Setting) -> Verdict:
    if output:
        output.clear()
    return Verdict(Outcome.PASSED)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"play": _asks_by_chance}, "it makes other requests than before"),
        ({"play": _counts_itself}, "returns a different output than without the interruption"),
        ({"play": _returns_a_set}, "TypeError"),
        ({"play": _asks_a_user}, "it uses the role user, which `roles` does not name"),
        ({"play": _asks_a_user, "roles": lambda _: ("user",), "roles_of": lambda *_: ()}, "which `roles_of` does not"),
        ({"score": _random_verdict}, "another verdict when called again"),
        ({"score": _greedy_verdict}, "changes its case or output argument"),
        ({"cases": lambda *_: [Case("a", "talk", {"turns": 1})] * 2}, "two cases have the id 'a'"),
        (
            {"cases": lambda *_: [Case(f"{random.random()}", "talk", {"turns": 1})]},
            "different cases when called again",
        ),
        ({"cases": lambda *_: [Case("a", "talks", {"turns": 1})]}, "does not name 'talks'"),
        ({"cases": lambda *_: [Case("a", "talk", {"turns": (1, 2)})]}, "its data is not all JSON"),
    ],
)
def test_what_a_suite_does_not_keep_is_named(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(SuiteProblems) as caught:
        check_suite(faulty(**parts))
    assert problem in str(caught.value)


def test_a_sound_one_is_not_complained_of() -> None:
    check_suite(faulty(), cases=4)
