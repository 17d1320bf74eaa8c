"""Every official multi-turn ground truth passes when a model plays it, in both modes, on the official simulators."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.bfcl.simulators.host import close_hosts
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Key, Setting
from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall
from console.core.outcome import Outcome
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

DATA = Path(__file__).resolve().parents[3] / "data" / "bfcl"

pytestmark = pytest.mark.skipif(not (DATA / "suite.toml").is_file(), reason="official data not pulled")


class Rightly:
    """A stage whose model always answers right."""

    key = Key("x")

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        role: str = "model",
        params: dict[str, Any] | None = None,
        turn: int = 0,
        step: int = 0,
        scripted: Callable[[], ScriptedAnswers] | None = None,
    ) -> Reply:
        assert scripted is not None
        right = scripted().right
        if not right.calls:
            return Reply(right.content)
        if tools:
            return Reply(
                None, tuple(ToolCall(str(n), name, json.dumps(args)) for n, (name, args) in enumerate(right.calls))
            )
        return Reply("[" + ", ".join(f"{name}({_arguments(args)})" for name, args in right.calls) + "]")

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        raise AssertionError("nothing is embedded")

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        return await action()

    def score(self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0) -> None:
        raise AssertionError("nothing is scored while playing")

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        raise AssertionError("nothing is noted")


def _arguments(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


@pytest.fixture(scope="module")
def suite() -> Iterator[BfclSuite]:
    yield BfclSuite(read_entry(DATA))
    close_hosts()


@pytest.mark.parametrize(
    ("category", "mode"),
    [
        ("miss_func", "fc"),
        *(
            pytest.param(category, mode, marks=pytest.mark.slow)
            for category, mode in (
                ("base", "prompt"),
                ("base", "fc"),
                ("miss_func", "prompt"),
                ("miss_param", "prompt"),
                ("miss_param", "fc"),
                ("long_context", "prompt"),
                ("long_context", "fc"),
            )
        ),
    ],
)
async def test_ground_truth_passes(suite: BfclSuite, category: str, mode: str):
    setting = Setting(mode=mode)
    cases = select_cases(suite, Selection(categories=(f"multi_turn_{category}",)), setting)
    outputs = [await suite.play(case, Rightly(), setting) for case in cases]
    verdicts = [suite.score(case, output, setting) for case, output in zip(cases, outputs, strict=True)]
    assert len(verdicts) == 200
    assert [
        case.id for case, verdict in zip(cases, verdicts, strict=True) if verdict.outcome is not Outcome.PASSED
    ] == []
