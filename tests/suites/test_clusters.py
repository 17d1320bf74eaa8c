"""Which cases go together: prompts about the same functions, conversations of a scenario, what a field says."""

import json
from pathlib import Path

import pytest

from console.benchmarks.bfcl.rules.entry import Entry
from console.config.paths import find_data_roots
from console.core.case import Setting
from console.core.outcome import Outcome, Verdict
from console.suites.catalog import Catalog
from console.suites.metrics import basis_words, rate_metric
from console.suites.suite import Result

ROOT = Path(__file__).resolve().parents[2]


def opened(name: str):
    return Catalog(find_data_roots(ROOT / "data")).open(name)


@pytest.mark.parametrize(
    ("case", "category", "cluster"),
    [
        ("live_simple_3-2-1", "live_simple", "functions 2"),
        ("live_parallel_multiple_20-17-2", "live_parallel_multiple", "functions 17"),
        ("simple_python_3", "simple_python", ""),
        ("multi_turn_base_1", "multi_turn_base", ""),
    ],
)
def test_live_prompts_about_the_same_functions_go_together(case: str, category: str, cluster: str) -> None:
    entry = Entry(id=case, category=category, question=[[{"role": "user", "content": "?"}]])
    assert entry.case().cluster == cluster


def test_conversations_of_a_scenario_go_together() -> None:
    cases = list(opened("cave-starter").cases((), Setting(mode="cave")))
    assert all(case.cluster == case.category for case in cases)
    assert len({case.cluster for case in cases}) == 7


def test_a_question_says_what_it_shares(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "suite.toml").write_text('format = "aidanbench"\ntitle = "mine"\n')
    rows = [{"question": "A use for a brick?", "cluster": "bricks"}, {"question": "Why did Rome fall?"}]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    cases = list(Catalog(find_data_roots(tmp_path)).open("mine").cases((), Setting()))
    assert [case.cluster for case in cases] == ["bricks", ""]


def _results(clusters: int, of_each: int) -> list[Result]:
    return [
        Result(
            f"c{group}-{n}", "live", 0, Verdict(Outcome.PASSED if group % 2 else Outcome.FAILED), cluster=f"g{group}"
        )
        for group in range(clusters)
        for n in range(of_each)
    ]


def test_few_clusters_are_said_to_be_few() -> None:
    few, many = rate_metric("accuracy", _results(10, 10)), rate_metric("accuracy", _results(20, 10))
    assert "few clusters: the interval is rough" in few.note
    assert many.note == ""
    assert (few.cases, few.rollouts, few.clusters, few.method) == (100, 100, 10, "clustered wilson")
    assert (basis_words(few), basis_words(many)) == ("100 cases in 10 clusters", "200 cases in 20 clusters")
    assert few.high - few.low > many.high - many.low
    alone = rate_metric("accuracy", [Result(f"c{n}", "live", 0, Verdict(Outcome.PASSED)) for n in range(6)])
    repeated = rate_metric("accuracy", [Result("c", "live", n, Verdict(Outcome.PASSED)) for n in range(3)])
    assert basis_words(repeated) == "1 case, 3 rollouts"
    assert (alone.note, alone.method, basis_words(alone)) == ("", "wilson", "6")
