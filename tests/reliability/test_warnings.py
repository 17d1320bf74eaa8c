"""What a verdict does not say and a reader must know: cut-off answers, other models, costs that nobody knows."""

from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, only_run, right, write_models, write_suite

from console.cli.history import read_overview
from console.insight.failures import GroupBy, group
from console.insight.warnings import is_other
from console.store.runs import RunFolder


def play(console: Any, home: Path, answer: Any, cases: int = 4, price: bool = True) -> Path:
    data = write_suite(home / "data", cases)
    with OpenAIServer(answer) as server:
        path = write_models(home, server)
        if not price:
            path.write_text("\n".join(line for line in path.read_text().split("\n") if not line.startswith("price")))
        assert console("run", "-m", "m", "-s", "lookups", "--data", data, "--quiet").code == 0
    return only_run(home / "runs")


def test_answers_cut_at_the_limit_are_a_group_of_their_own_and_are_said(console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        match number_of(request):
            case 0:
                return right(request)
            case 1:
                return Scripted("let me think", finish="length")
            case 2:
                return Scripted("no calls")
            case _:
                return Scripted("[look_", finish="content_filter")

    run = play(console, home, answer)
    overview = read_overview(RunFolder(run))
    found = group(overview.failures, GroupBy.REASON)
    assert {it.label: [one.key.case for one in it.rollouts] for it in found} == {
        "answer cut at the token limit": ["simple_python_1"],
        "could not parse the answer": ["simple_python_2"],
        "answer withheld by the provider's filter": ["simple_python_3"],
    }
    whole = console("show", run.name).out
    words = "cut at the server's own token limit (finish: length; models.toml sets no max_tokens)"
    assert f"1 rollout ended with an answer that was {words}" in whole
    assert "1 rollout ended with an answer that was cut by the provider's content filter" in whole
    assert "cut off: " in console("show", f"{run.name}#simple_python_1").out
    assert "cut off" not in console("show", f"{run.name}#simple_python_2").out
    summary = console("show", run.name, "--json").data["summary"]
    assert summary["cut"] == {"length": 1, "content_filter": 1}
    assert summary["tally"]["failed"] == 3, "what there was is judged"


def test_another_model_that_answers_is_named_in_the_report_and_beside_the_case(console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        said = right(request)
        said.model = {1: "cheaper-model", 2: "test-model-2026-05-01"}.get(number_of(request), "test-model")
        return said

    run = play(console, home, answer)
    assert "1 rollout answered by cheaper-model instead of test-model" in console("show", run.name).out
    assert "answered by: cheaper-model" in console("show", f"{run.name}#simple_python_1").out
    assert "answered by" not in console("show", f"{run.name}#simple_python_2").out, "a dated edition is the same model"


@pytest.mark.parametrize(
    ("served", "asked", "other"),
    [
        ("gpt-4o-2024-08-06", "openai/gpt-4o", False),
        ("Qwen/Qwen3-32B", "qwen3-32b", False),
        ("claude-x-latest", "claude-x", False),
        ("", "gpt-4o", False),
        ("gpt-4o-mini", "gpt-4o", True),
        ("gpt-4o-mini-2024-07-18", "gpt-4o", True),
        ("gpt-4", "gpt-4o", True),
    ],
)
def test_a_prefix_or_a_date_makes_no_other_model(served: str, asked: str, other: bool) -> None:
    assert is_other(served, asked) is other


def test_a_cost_that_is_not_known_is_said_and_not_taken_for_none(console, home: Path) -> None:
    run = play(console, home, lambda request: right(request, usage=None if number_of(request) else "count"))
    assert " or more (price or usage of 3 rollouts not known in full)" in console("show", run.name).out


def test_without_a_price_the_cost_is_unknown(console, home: Path) -> None:
    run = play(console, home, right, price=False)
    assert "cost unknown (price or usage of 4 rollouts not known in full)" in console("show", run.name).out
