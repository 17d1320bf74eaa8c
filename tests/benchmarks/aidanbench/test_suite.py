"""Options, questions, reports and comparisons of the AidanBench suite, through the suite protocol."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.aidanbench.options import read_options
from console.benchmarks.aidanbench.suite import AidanBenchSuite
from console.core.case import Setting
from console.core.comparison import Mark
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases
from console.suites.suite import Result, Suite

STARTER = Path(__file__).resolve().parents[3] / "data" / "aidan-starter"


@pytest.fixture
def suite() -> AidanBenchSuite:
    return AidanBenchSuite(read_entry(STARTER, "bundled"))


def setting(**options: Any) -> Setting:
    return Setting(options=options)


def test_it_is_a_suite(suite: AidanBenchSuite) -> None:
    typed: Suite = suite
    assert typed.roles({}) == ("judge", "embedding")
    assert set(typed.role_models({})) == {"judge", "embedding"}


def test_bundled_questions_are_many_varied_and_what_the_catalogue_says(suite: AidanBenchSuite) -> None:
    cases = select_cases(suite, Selection(), setting())
    assert len(cases) >= 60
    assert len({case.title for case in cases}) == len({case.id for case in cases}) == len(cases)
    categories = suite.categories()
    assert len(categories) >= 8
    assert sum(category.cases for category in categories) == len(cases)
    provenance = cases[0].data["question_set"]
    assert provenance == {"name": "aidan-starter", "digest": suite.entry.source["digest"]}
    assert cases[0].data["wording"]["name"] == "eval-console"


def test_selection_by_category_id_limit_and_seed(suite: AidanBenchSuite) -> None:
    assert {case.category for case in select_cases(suite, Selection(categories=("stories",)), setting())} == {"stories"}
    assert [case.id for case in select_cases(suite, Selection(ids=("nature-3", "causes-1")), setting())] == [
        "causes-1",
        "nature-3",
    ]
    drawn = select_cases(suite, Selection(limit=5, seed=3), setting())
    assert drawn == select_cases(suite, Selection(limit=5, seed=3), setting())
    assert drawn != select_cases(suite, Selection(limit=5), setting())
    with pytest.raises(UsageError, match="Did you mean stories"):
        select_cases(suite, Selection(categories=("storys",)), setting())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_question": 3}, "Did you mean num_questions"),
        ({"num_questions": 0}, "at least 1"),
        ({"num_questions": True}, "of type int"),
        ({"max_turns": -1}, "at least 0"),
        ({"temperature": -0.1}, "at least 0"),
        ({"temperature": float("nan")}, "must be a number"),
        ({"max_tokens": 1.5}, "of type int"),
        ({"reward_mode": "novelty"}, "Did you mean novelty_sum"),
        ({"protocol": "env"}, "cannot be"),
        ({"thresholds": {"coherence": 3}}, "Did you mean coherence_score"),
        ({"thresholds": {"coherence_score": "15"}}, "must be a number"),
        ({"thresholds": {"coherence_score": float("nan")}}, "must be a number"),
        ({"thresholds": [15]}, "must be a table"),
        ({"questions": []}, "at least one question"),
        ({"questions": ["", "x"]}, "item 1 is not a string"),
        ({"questions": "Why?"}, "at least one question"),
        ({"questions": ["a"], "questions_path": "x.txt"}, "cannot be combined"),
        ({"questions_path": "missing.txt"}, "cannot be read"),
        ({"dataset": "missing.jsonl"}, "cannot be read"),
        ({"judge_model": " "}, "must not be empty"),
        ({"judge_api_base_url": "ftp://x"}, "must begin with http"),
        ({"judge_api_base_url": "http://host:port/v1"}, "must name a host"),
        ({"embedding_api_base_url": "localhost:8000"}, "must begin with http"),
        ({"embedding_api_base_url": "http://h/v1/chat/completions"}, "must end before"),
        ({"use_llm_similarity": "yes"}, "of type bool"),
    ],
)
def test_wrong_options_are_said_before_anything_is_asked(
    suite: AidanBenchSuite, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        select_cases(suite, Selection(), setting(**options))


def test_partial_thresholds_are_completed() -> None:
    limits = read_options({"thresholds": {"coherence_score": 30}}).thresholds
    assert limits == (30, 0.15, 0.15)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("list.json", '["One?", "Two?", 3]', ["One?", "Two?", "3"]),
        ("lines.txt", "One?\n\n  Two?  \n", ["One?", "Two?"]),
        ("bom.txt", "\ufeffOne?\n", ["One?"]),
    ],
)
def test_questions_path(suite: AidanBenchSuite, tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    cases = select_cases(suite, Selection(), setting(questions_path=str(path)))
    assert [case.title for case in cases] == expected
    assert cases[0].data["question_set"]["name"] == name


@pytest.mark.parametrize("text", ["{}", "7", "[", "", "\n\n", '[{"question": "x"}]'])
def test_a_questions_file_without_questions_is_refused(suite: AidanBenchSuite, tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"q\.json"):
        select_cases(suite, Selection(), setting(questions_path=str(path)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.jsonl", '{"question": "One?", "x": 1}\n\n{"question": "Two, too?"}\n'),
        ("d.json", '[{"question": "One?"}, {"question": "Two, too?"}]'),
        ("d.csv", 'id,question\n1,One?\n2,"Two, too?"\n'),
    ],
)
def test_local_datasets(suite: AidanBenchSuite, tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    cases = select_cases(suite, Selection(), setting(dataset=str(path)))
    assert [case.title for case in cases] == ["One?", "Two, too?"]
    path.write_text(text.replace("question", "questoin"))
    with pytest.raises(UsageError, match="no field `question`"):
        select_cases(suite, Selection(), setting(dataset=str(path)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"question": "One?"}\n{"question"\n', "line 2 is not JSON"),
        ("a.json", "[" * 100_000, "is damaged"),
        ("a.json", '{"question": "One?"}', "must contain a list of objects"),
        ("a.csv", "id,questions\n1,One?\n", "Did you mean to rename 'questions'"),
        ("a.txt", "One?", "has an unsupported format"),
        ("a.parquet", "rubbish", "a.parquet"),
    ],
)
def test_a_bad_dataset_is_named_with_its_trouble(
    name: str, content: str, said: str, suite: AidanBenchSuite, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError) as caught:
        suite.settle({"dataset": str(tmp_path / name)}, {})
    assert said in str(caught.value)


def test_a_package_that_is_missing_is_named_with_its_extra(
    suite: AidanBenchSuite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "datasets", None)
    (tmp_path / "a.parquet").write_bytes(b"")
    for name in (str(tmp_path / "a.parquet"), "someone/questions"):
        with pytest.raises(UsageError, match=r"is needed to read this dataset") as caught:
            suite.settle({"dataset": name}, {})
        assert ".[datasets]" in str(caught.value)


def test_parquet_when_it_can_be_read(suite: AidanBenchSuite, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    parquet.write_table(arrow.table({"question": ["One?", "Two?"], "n": [1, 2]}), path)
    assert [case.title for case in select_cases(suite, Selection(), setting(dataset=str(path)))] == ["One?", "Two?"]


def test_settled_options_hold_the_questions_and_the_chosen_models(suite: AidanBenchSuite, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("One?\nTwo?\nThree?\n")
    given = {"questions_path": str(path), "num_questions": 2, "thresholds": {"coherence_score": 20}}
    settled = suite.settle(given, {"judge": "my-judge", "embedding": "local/minilm"})
    path.unlink()
    assert settled == json.loads(json.dumps(settled))
    assert [case.title for case in select_cases(suite, Selection(), setting(**settled))] == ["One?", "Two?"]
    assert suite.settle(settled, {}) == settled
    roles = suite.role_models(settled)
    assert (roles["judge"].model, roles["judge"].is_default) == ("my-judge", False)
    assert "local embedding" in suite.report([], setting(**settled)).metrics[0].note


def test_documents_role_arguments(suite: AidanBenchSuite) -> None:
    roles = suite.role_models(
        {"judge_model": "o1-mini", "judge_api_base_url": "http://127.0.0.1:1/v1", "judge_api_key_var": "OTHER_KEY"}
    )
    assert (roles["judge"].base_url, roles["judge"].api_key_env) == ("http://127.0.0.1:1/v1", "OTHER_KEY")
    assert not roles["judge"].is_default
    assert roles["embedding"].is_default
    assert roles["embedding"].model == "text-embedding-3-large"
    assert roles["embedding"].fallback == "local/minilm"


def test_estimates_grow_as_the_protocols_do(suite: AidanBenchSuite) -> None:
    case = select_cases(suite, Selection(limit=1), setting())[0]
    chat = suite.estimate(case, setting(max_turns=20))
    single = suite.estimate(case, setting(max_turns=20, protocol="original"))
    assert chat.calls == single.calls == 17
    assert chat.roles["embedding"].calls == chat.roles["judge"].calls == 17
    assert chat.input_tokens > 4 * single.input_tokens
    told = next(option.meaning for option in suite.options if option.name == "protocol")
    figures = re.findall(r"(\w+): .*?about (\d+) calls and ([\d,]+) input tokens", told)
    assert [protocol for protocol, _, _ in figures] == ["environment", "original"]
    for protocol, calls, tokens in figures:
        expected = suite.estimate(case, setting(protocol=protocol))
        assert expected.calls == int(calls)
        assert expected.input_tokens == pytest.approx(int(tokens.replace(",", "")), rel=0.05)
    pairs = suite.estimate(case, setting(max_turns=20, use_llm_similarity=True)).roles["judge"].calls - 17
    assert pairs == 17 * 16 / 2


def turn(answer: str, c: float | None, e: float, accepted: bool | None, **more: Any) -> dict[str, Any]:
    return {"answer": answer, "reply": f"<answer>{answer}</answer>", "coherence": c, "novelty": e} | {
        "accepted": accepted,
        **more,
    }


LOOP = [
    turn("red", 80, 1.0, True),
    turn("blue", 70, 0.5, True, nearest=0, similarity=0.5),
    turn("blue!", 75, 0.1, False, nearest=1, similarity=0.9, reason="low_embedding_novelty", judge=["75"]),
]


def test_score_recomputes_everything_from_the_turns(suite: AidanBenchSuite) -> None:
    case = select_cases(suite, Selection(limit=1), setting())[0]
    verdict = suite.score(case, LOOP, setting())
    assert (verdict.outcome, verdict.reason) == (Outcome.PASSED, "low_embedding_novelty")
    assert verdict.scores == pytest.approx(
        {
            "reward": 2,
            "aidanbench_score": 2,
            "format_reward": 1.0,
            "avg_coherence": 75,
            "avg_embedding_novelty": 0.75,
            "sum_embedding_novelty": 1.5,
            "avg_llm_novelty": 0,
        }
    )
    assert suite.score(case, LOOP, setting(reward_mode="novelty_sum")).scores["reward"] == 1.5
    capped = suite.score(case, LOOP[:2], setting(max_turns=2))
    assert (capped.reason, capped.detail["official_reason"], capped.scores["reward"]) == ("max_turns", "", 2)
    failed = suite.score(case, [turn("x", 3, 1.0, False)], setting())
    assert (failed.outcome, failed.reason, failed.scores["reward"]) == (Outcome.FAILED, "low_coherence", 0)


def test_a_novelty_at_its_threshold_passes_only_in_the_original_protocol(suite: AidanBenchSuite) -> None:
    case = select_cases(suite, Selection(limit=1), setting())[0]
    tie = [turn("red", 80, 1.0, True), turn("blue", 70, 0.15, True), turn("x", 15, 0.5, False)]
    assert suite.score(case, tie, setting()).scores["reward"] == 1
    assert suite.score(case, tie, setting()).reason == "threshold"
    assert suite.score(case, tie, setting(protocol="original")).scores["reward"] == 2


@pytest.mark.parametrize("output", [None, [], {}, "x", [1], [{"answer": "x"}], [turn("x", "ten", 1.0, True)]])
def test_a_damaged_output_is_broken_and_never_a_score(suite: AidanBenchSuite, output: Any) -> None:
    case = select_cases(suite, Selection(limit=1), setting())[0]
    verdict = suite.score(case, output, setting())
    assert (verdict.outcome, verdict.scores) == (Outcome.BROKEN, {})
    assert suite.compare(case, output, verdict, setting()).sentence


def test_comparison_puts_the_colliding_answers_side_by_side(suite: AidanBenchSuite) -> None:
    case = select_cases(suite, Selection(limit=1), setting())[0]
    found = suite.compare(case, LOOP, suite.score(case, LOOP, setting()), setting())
    assert found.sentence == "repeated itself after 2 accepted answers"
    assert [pair.actual for pair in found.pairs] == ["red", "blue", "blue!"]
    last = found.pairs[-1]
    assert (last.mark, last.expected, last.turn) == (Mark.DIFFERS, "blue", 2)
    assert [(row.name, row.mark, row.decisive) for row in last.rows] == [
        ("coherence", Mark.SAME, False),
        ("novelty", Mark.DIFFERS, True),
    ]
    assert last.rows[0].note == "75"


def result(case: str, rollout: int, reward: float | None) -> Result:
    if reward is None:
        return Result(case, "a", rollout, Verdict(Outcome.UNDECIDED, reason="unreadable_judge"))
    outcome = Outcome.PASSED if reward else Outcome.FAILED
    return Result(case, "a", rollout, Verdict(outcome, reason="low_coherence", scores={"reward": reward}))


def test_report_sums_question_means_with_an_interval_over_rollouts(suite: AidanBenchSuite) -> None:
    results = [result("q1", 0, 4), result("q1", 1, 8), result("q2", 0, 1), result("q2", 1, 0), result("q3", 0, None)]
    report = suite.report(results, setting())
    total, mean = report.metrics[:2]
    assert (total.name, total.value, total.count) == ("total", 6.5, 4)
    assert mean.value == 3.25
    assert total.low is not None
    assert total.high is not None
    assert total.low < 6.5 < total.high
    assert "1 questions have no graded loop" in total.note
    assert report.cases["q1"][0].value == 6
    assert report.reasons == {"low_coherence": 4, "unreadable_judge": 1}
    assert report.outcomes == {Outcome.PASSED: 3, Outcome.FAILED: 1, Outcome.UNDECIDED: 1}
    single = suite.report(results[:1], setting()).metrics[0]
    assert (single.value, single.low) == (4, None)
    assert suite.report([], setting()).metrics[0].value is None


@pytest.mark.parametrize(("mode", "same"), [("count", "aidanbench_score"), ("novelty_sum", "sum_embedding_novelty")])
def test_the_reward_is_reported_once_and_no_count_is_below_zero(suite: AidanBenchSuite, mode: str, same: str) -> None:
    results: list[Result] = []
    for case, counts in (("q1", (12, 12)), ("q2", (0, 0))):
        for rollout, count in enumerate(counts):
            novelty = count / 4
            scores = {"aidanbench_score": float(count), "sum_embedding_novelty": novelty, "avg_coherence": 70.0}
            scores["reward"] = scores[same]
            results.append(Result(case, "a", rollout, Verdict(Outcome.PASSED, scores=scores)))
    metrics = suite.report(results, setting(reward_mode=mode)).metrics
    assert same not in {metric.name for metric in metrics}, "`mean` is the same number with another interval"
    assert len(metrics) == 4
    assert all(metric.low is not None and metric.low >= 0 for metric in metrics)
