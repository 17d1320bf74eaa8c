"""Play, verdict and blame on a small airline and telephone company of our own."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.tau2_edition import BAGS, write_edition

from console.benchmarks.tau2.data.editions import Edition, editions
from console.benchmarks.tau2.data.pull import pull
from console.benchmarks.tau2.rules.evaluate import UnreadableJudge, read_judge
from console.benchmarks.tau2.suite import Tau2Suite
from console.core.case import Case, Setting
from console.core.comparison import Mark
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.exchange.suspects import expected_lines
from console.suites.pull import Pull
from console.suites.suite import Result, SuiteEntry
from console.testing.stage import CutOff, MemoryStage
from console.tui.screens.review.views import expected_text

SETTING = Setting(mode="fc")


@pytest.fixture
def suite(tmp_path: Path) -> Tau2Suite:
    write_edition(tmp_path / "1.0.1")
    return Tau2Suite(SuiteEntry("tau2", "tau2", tmp_path, "τ²"))


def case_of(suite: Tau2Suite, name: str) -> Case:
    return next(case for case in suite.cases((), SETTING) if case.id == name)


def play(suite: Tau2Suite, case: Case, stage: MemoryStage) -> Any:
    return asyncio.run(suite.play(case, stage, SETTING))


def judged(suite: Tau2Suite, name: str, *said: dict[str, Any], reason: str = "user_stop") -> Verdict:
    """Judge a conversation; calls get the results of our tools, which only have to be there."""
    messages: list[dict[str, Any]] = []
    for number, message in enumerate(said):
        calls = [{"id": f"c{number}", **call} for call in message.get("tool_calls", ())]
        messages.append({**message, "tool_calls": calls} if calls else message)
        messages += [{"role": "tool", "id": call["id"], "content": "{}"} for call in calls]
    return suite.score(case_of(suite, name), {"messages": messages, "reason": reason}, SETTING)


def agent(text: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text or None, **({"tool_calls": list(calls)} if calls else {})}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


STOP = user("Bye. ###STOP###")


def test_scripted_sides_play_all_domains(suite: Tau2Suite) -> None:
    for case in suite.cases((), SETTING):
        output = play(suite, case, MemoryStage(case.id))
        assert suite.score(case, output, SETTING).outcome is Outcome.PASSED, case.id
        wrong = play(suite, case, MemoryStage(case.id, right=False))
        assert suite.score(case, wrong, SETTING).outcome is Outcome.FAILED, case.id


@pytest.mark.parametrize("name", ["airline_0", "telecom_data"])
def test_a_conversation_goes_on_after_any_step(suite: Tau2Suite, name: str) -> None:
    case = case_of(suite, name)
    whole = MemoryStage(name)
    output = play(suite, case, whole)
    for count in range(len(whole.journal)):
        cut = MemoryStage(name, cut_after=count)
        with pytest.raises(CutOff):
            play(suite, case, cut)
        rest = MemoryStage(name, journal=cut.journal)
        assert play(suite, case, rest) == output
        assert (rest.unused, rest.journal) == (0, whole.journal)


def test_each_side_sees_its_own_calls_only(suite: Tau2Suite) -> None:
    requests: dict[str, list[Any]] = {"model": [], "user": []}

    class Seen(MemoryStage):
        async def ask(self, messages: Any, **kwargs: Any) -> Any:
            requests[kwargs.get("role", "model")].append((messages, kwargs))
            return await super().ask(messages, **kwargs)

    play(suite, case_of(suite, "telecom_data"), Seen("x"))
    messages, kwargs = requests["user"][-1]
    assert [message["role"] for message in messages][:3] == ["system", "user", "assistant"]
    assert messages[1]["content"] == "Hi! How can I help you today?"
    names = [call["function"]["name"] for item in messages for call in item.get("tool_calls", ())]
    assert names == ["toggle_data"]
    assert kwargs["params"] == {"temperature": 0.0, "seed": kwargs["params"]["seed"], "tool_choice": "auto"}
    messages, _ = requests["model"][-1]
    names = [call["function"]["name"] for item in messages for call in item.get("tool_calls", ())]
    assert names == ["enable_roaming"]


def test_criteria_of_another_edition_grade_unchanged_conversations(suite: Tau2Suite) -> None:
    write_edition(suite.entry.folder / "inspect")
    tasks = suite.entry.folder / "inspect/domains/airline/tasks.json"
    tasks.write_text(tasks.read_text().replace('"total_baggages": 2', '"total_baggages": 3'))
    own = Setting(mode="fc", options={"edition": "1.0.1"})
    other = Setting(mode="fc", options={"edition": "1.0.1", "criteria": "inspect"})
    [case] = [case for case in suite.cases(("airline",), other) if case.id == "airline_1"]
    stage = MemoryStage("airline_1")
    output = play(suite, case_of(suite, "airline_1"), stage)
    assert suite.score(case_of(suite, "airline_1"), output, own).outcome is Outcome.PASSED
    assert suite.score(case, output, other).outcome is Outcome.FAILED
    assert play(suite, case, MemoryStage("airline_1", journal=stage.journal)) == output
    assert "criteria inspect" in suite.report([], other).metrics[0].note


def test_a_task_whose_expected_call_fails_is_no_fair_one(suite: Tau2Suite) -> None:
    case = case_of(suite, "airline_1")
    assert suite.contradiction(case, SETTING) == ""
    raw = json.dumps(case.data).replace("AB12CD", "ZZ99ZZ")
    broken = msgspec.structs.replace(case, data=json.loads(raw))
    assert "update_reservation_baggages of the expected calls fails" in suite.contradiction(broken, SETTING)


def test_a_wrong_call_is_the_agents_fault_and_shown_in_the_world(suite: Tau2Suite) -> None:
    wrong = {"name": "update_reservation_baggages", "arguments": {**BAGS, "total_baggages": 3}}
    said = (user("Two bags."), agent("", wrong), agent("Done."), STOP)
    verdict = judged(suite, "airline_1", *said)
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "wrong_world")
    assert verdict.detail["blame"]["who"] == "agent"
    case = case_of(suite, "airline_1")
    comparison = suite.compare(case, {"messages": _messages(said), "reason": "user_stop"}, verdict, SETTING)
    [state] = [pair for pair in comparison.pairs if pair.kind == "state"]
    assert state.expected == "reservations AB12CD"
    assert [(row.name, row.expected, row.actual) for row in state.rows] == [("total_baggages", ("2",), "3")]
    assert "blame" in [pair.kind for pair in comparison.pairs]
    assert "blame" not in expected_text(comparison)
    assert "blame" not in "".join(expected_lines(comparison))


def test_what_differs_in_a_passed_task_is_marked_as_not_counting(suite: Tau2Suite) -> None:
    wrong = {"name": "update_reservation_baggages", "arguments": {**BAGS, "total_baggages": 3}}
    output = {"messages": _messages((user("Two bags."), agent("", wrong), agent("Done."), STOP)), "reason": "user_stop"}
    case = case_of(suite, "airline_1")
    criteria = {**case.data["task"]["evaluation_criteria"], "reward_basis": ["COMMUNICATE"]}
    task = {**case.data["task"], "evaluation_criteria": criteria}
    lenient = msgspec.structs.replace(case, data={**case.data, "task": task})
    verdict = suite.score(lenient, output, SETTING)
    assert verdict.outcome is Outcome.PASSED
    comparison = suite.compare(lenient, output, verdict, SETTING)
    assert {pair.mark for pair in comparison.pairs} <= {Mark.SAME, Mark.OMITTED}
    [state] = [pair for pair in comparison.pairs if pair.kind == "state"]
    assert (state.mark, state.note) == (Mark.OMITTED, "does not count")
    assert [row.mark for row in state.rows] == [Mark.OMITTED]
    failed = msgspec.structs.replace(verdict, outcome=Outcome.FAILED, reason="wrong_words")
    [state] = [pair for pair in suite.compare(lenient, output, failed, SETTING).pairs if pair.kind == "state"]
    assert state.mark is Mark.OMITTED


def test_a_world_that_is_right_without_any_action_is_no_fault_of_the_grader(suite: Tau2Suite) -> None:
    output = {"messages": [user("How much?"), agent("1234.5"), STOP], "reason": "user_stop"}
    case = case_of(suite, "airline_2")
    comparison = suite.compare(case, output, suite.score(case, output, SETTING), SETTING)
    assert comparison.rule == "passed; what counts: DB, COMMUNICATE; right without any action"
    assert not comparison.note


def _messages(said: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    first, call, last, stop = said
    calls = [{"id": "c", **item} for item in call["tool_calls"]]
    return [first, {**call, "tool_calls": calls}, {"role": "tool", "id": "c", "content": "{}"}, last, stop]


def test_an_expected_call_that_its_tool_refuses_is_the_agents_fault(suite: Tau2Suite) -> None:
    call = {"id": "c", "name": "cancel_reservation", "arguments": {}, "requestor": "assistant"}
    refused = {"role": "tool", "id": "c", "content": "Error: no reservation_id", "error": True}
    messages = [user("Cancel."), {"role": "assistant", "tool_calls": [call]}, refused, agent("Done."), STOP]
    case = case_of(suite, "airline_0")
    verdict = suite.score(case, {"messages": messages, "reason": "user_stop"}, SETTING)
    assert verdict.subject == "agent: failed write"


def test_a_call_is_not_refused_because_another_with_its_id_was(suite: Tau2Suite) -> None:
    unknown = {"id": "c", "name": "enable_roaming_now", "arguments": {}, "requestor": "assistant"}
    switch = {"id": "c", "name": "toggle_data", "arguments": {}, "requestor": "user"}
    messages = [
        user("Help."),
        {"role": "user", "tool_calls": [switch]},
        {"role": "tool", "id": "c", "requestor": "user", "content": "Mobile Data is now ON."},
        {"role": "assistant", "tool_calls": [unknown]},
        {"role": "tool", "id": "c", "content": "Error: Tool 'enable_roaming_now' not found.", "error": True},
        agent("Done."),
        STOP,
    ]
    verdict = suite.score(case_of(suite, "telecom_data"), {"messages": messages, "reason": "user_stop"}, SETTING)
    assert verdict.subject == "agent: missing write"
    assert "failed_write" not in [sign["sign"] for sign in verdict.detail["blame"]["signs"]]


def test_the_spelling_of_a_number_is_the_graders_fault(suite: Tau2Suite) -> None:
    spelled = {"name": "update_reservation_baggages", "arguments": {**BAGS, "total_baggages": 2.0}}
    verdict = judged(suite, "airline_1", user("Two bags."), agent("", spelled), agent("Done."), STOP)
    assert (verdict.outcome, verdict.subject) == (Outcome.FAILED, "grader: number spelling")


def test_a_format_of_an_amount_is_the_graders_fault(suite: Tau2Suite) -> None:
    verdict = judged(suite, "airline_2", user("How much?"), agent("It is $1,234.50."), STOP)
    assert verdict.outcome is Outcome.PASSED  # commas do not count
    other = judged(suite, "airline_2", user("How much?"), agent("It is $1 234.50."), STOP)
    assert (other.outcome, other.reason) == (Outcome.FAILED, "not_said")


@pytest.mark.parametrize(
    ("said", "sign"),
    [
        ((agent("I will cancel AB12CD. Do you confirm?"), user("Yes. ###STOP###")), "user: stopped early"),
        ((agent("One moment."), user("Bye. ###TRANSFER###")), "user: transfer without transfer"),
        ((agent("Which?"), user("It is ZZ99YY."), agent("Done."), STOP), "user: invented"),
    ],
)
def test_faults_of_the_user(suite: Tau2Suite, said: tuple[dict[str, Any], ...], sign: str) -> None:
    verdict = judged(suite, "airline_0", user("Please cancel."), *said)
    assert (verdict.outcome, verdict.subject) == (Outcome.FAILED, sign)


def test_a_silent_user_leaves_a_case_undecided_and_a_silent_agent_fails_it(suite: Tau2Suite) -> None:
    case = case_of(suite, "airline_0")
    silent: dict[str, Any] = {"messages": [], "reason": "", "silence": "empty_message"}
    assert suite.score(case, {**silent, "silent": "user"}, SETTING).outcome is Outcome.UNDECIDED
    assert suite.score(case, {**silent, "silent": "model"}, SETTING).reason == "empty_message"


def test_a_limit_fails_without_evaluation(suite: Tau2Suite) -> None:
    verdict = judged(suite, "airline_0", user("Please cancel."), reason="max_steps")
    assert (verdict.outcome, verdict.reason, verdict.scores["reward"]) == (Outcome.FAILED, "max_steps", 0.0)


def test_the_report_says_what_the_user_spoiled(suite: Tau2Suite) -> None:
    spoiled = judged(suite, "airline_0", user("Please cancel."), agent("Wait."), user("Bye. ###TRANSFER###"))
    passed = judged(suite, "airline_2", user("How much?"), agent("1234.5"), STOP)
    results = [Result("a", "airline", 0, spoiled), Result("b", "airline", 0, passed)]
    metrics = {metric.name: metric.value for metric in suite.report(results, SETTING).metrics}
    assert metrics["pass^1"] == 0.5
    assert metrics["blame: user"] == 1.0
    assert metrics["pass^1 without user faults"] == 1.0


def test_editions_lie_beside_each_other(tmp_path: Path) -> None:
    write_edition(tmp_path / "checkout" / "data" / "tau2")
    request = Pull(tmp_path / "root", lambda _: None, tmp_path / "checkout", accepts_digest=True)
    write_edition(tmp_path / "root" / "tau2" / "inspect")
    folder = pull(request)
    assert list(editions(folder)) == ["1.0.1", "inspect"]
    assert "comparable = false" in (folder / "suite.toml").read_text()
    with pytest.raises(UsageError, match="digest mismatch"):
        pull(Pull(tmp_path / "root", lambda _: None, tmp_path / "checkout"))


@pytest.mark.parametrize(
    ("name", "in_wheel", "upstream"),
    [
        ("domains/airline/policy", "Rules.\n", "Rules."),
        ("domains/retail/policy", "Rules.\n", "Rules.\n"),
        ("domains/mock/policy", "Only users can create tasks\nNo.\n", "Only users can create tasks \nNo."),
    ],
)
def test_texts_of_the_wheel_are_read_as_upstream_wrote_them(
    tmp_path: Path, name: str, in_wheel: str, upstream: str
) -> None:
    path = tmp_path / "inspect" / f"{name}.txt"
    path.parent.mkdir(parents=True)
    path.write_text(in_wheel)
    assert Edition("inspect", tmp_path / "inspect").text(name) == upstream


def test_a_judges_reply_nested_without_end_is_unreadable_like_any_other() -> None:
    with pytest.raises(UnreadableJudge, match="nested"):
        read_judge('{"results": ' + "[" * 100_000)
