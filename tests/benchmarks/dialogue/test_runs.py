"""Runs of rows over the loopback: tools, judges, simulated users, versions of a prompt, a kill in mid-conversation."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted, last_text
from support.folder_suites import CITIES, write_folder_suite
from support.row_suite import write_folder

from console.core.record import Asked, Finished, Noted, Scored
from console.store.journal import JournalReader
from console.store.runs import RunFolder

ROOT = Path(__file__).resolve().parents[3]
TOOL = {"name": "berth", "parameters": {"type": "object", "properties": {"nights": {"type": "integer"}}}}


def journal(runs: Path) -> list[Any]:
    [folder] = [path for path in runs.iterdir() if (path / "run.json").exists()]
    return JournalReader(folder / "journal.jsonl").read_new()


def finished(runs: Path) -> dict[str, Finished]:
    ended = [record for record in journal(runs) if isinstance(record, Finished)]
    assert len({record.key for record in ended}) == len(ended), "a case was finished twice"
    return {record.key.case: record for record in ended}


def write_models(folder: Path, server: OpenAIServer) -> Path:
    """Write the models `m`, `grader`, `second` and `visitor`, each known to the server by its name."""
    tables = [
        f'[{name}]\nmodel_id = "{name}"\nbase_url = "{server.base_url}"\nlimits = {{ backoff_s = 0.01 }}\n'
        for name in ("m", "grader", "second", "visitor")
    ]
    path = folder / "models.toml"
    path.write_text("\n".join(tables))
    return path


@pytest.fixture
def play(console, home: Path):
    """Play rows against a server and return the ended conversations by case."""

    def run(rows: Any, answer: Any, *more: str, toml: str = "") -> dict[str, Finished]:
        write_folder(home / "data" / "mine", rows, toml=toml)
        with OpenAIServer(answer, models=("m", "grader", "second", "visitor")) as server:
            models = write_models(home, server)
            line = (
                "run",
                "-m",
                "m",
                "-s",
                "mine",
                "--models",
                models,
                "--data",
                home / "data",
                "--runs",
                home / "runs",
            )
            ended = console(*line, "--yes", "--quiet", *more)
        run.out = ended.out  # type: ignore[attr-defined]
        assert ended.code in (0, 3, 4), ended.err
        return finished(home / "runs")

    return run


def test_tools_are_answered_from_the_row_and_an_unknown_call_gets_an_error(play, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        results = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        if len(results) < 3:
            return Scripted(calls=[("berth", {"nights": 2 + len(results)})])
        return Scripted(" / ".join(results))

    canned = [
        {"tool": "berth", "arguments": {"nights": 2}, "result": {"berth": "C7"}},
        {"tool": "berth", "arguments": {"nights": 3}, "error": "full"},
    ]
    [record] = play([{"prompt": "?", "tools": [TOOL], "tool_results": canned, "contains": "C7"}], answer).values()
    said = record.output["turns"][0]["answer"]
    assert said == '{"berth": "C7"} / {"error": "full"} / {"error": "no result is known for this call of berth"}'
    assert record.calls == 4
    [note] = [item for item in journal(home / "runs") if isinstance(item, Noted) and item.kind == "no_result"]
    assert note.data["arguments"] == '{"nights": 4}'


def test_calls_without_any_result_end_their_turn_and_the_next_one_goes_on(play) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        assert [message["role"] for message in request["messages"]][-2:] != ["assistant", "user"], "calls are answered"
        return Scripted("done") if last_text(request) == "thanks" else Scripted(calls=[("berth", {"nights": 2})])

    turns = [{"user": "?", "expect": [{"calls": [{"berth": {"nights": 2}}]}]}, {"user": "thanks"}]
    [record] = play([{"turns": turns, "tools": [TOOL], "equals": "done"}], answer).values()
    assert (record.verdict.outcome, record.calls) == ("passed", 2)


def test_a_model_that_only_calls_is_stopped(play) -> None:
    canned = [{"tool": "berth", "result": "C7"}]
    row = {"prompt": "?", "tools": [TOOL], "tool_results": canned, "equals": "x"}
    always = lambda request: Scripted(calls=[("berth", {"nights": 1})])  # noqa: E731
    [record] = play([row], always, "--option", "max_steps=3").values()
    assert (record.calls, record.verdict.reason) == (3, "step_limit")


CRITERIA = {"criteria": [{"name": "true", "weight": 3}, {"name": "kind", "threshold": 2}], "threshold": 3}


def grades(true: Any, kind: Any) -> str:
    listed = [{"name": "kind", "why": "so", "grade": kind}, {"name": "true", "why": "because", "grade": true}]
    return json.dumps({"grades": listed})


@pytest.mark.parametrize(
    ("replies", "outcome", "reason", "asked"),
    [
        ([grades(5, 2)], "passed", None, 1),
        ([grades(3, 2)], "failed", "low_grade", 1),
        ([grades(5, 1)], "failed", "low_grade", 1),
        (["I think 5", f"```json\n{grades(5, 2)}\n```"], "passed", None, 2),
        ([grades(9, 2), grades("5", 2)], "undecided", "judge_unreadable", 2),
        (['{"grades": [{"name": "true", "grade": 5}]}', grades(float("nan"), 1)], "undecided", "judge_unreadable", 2),
    ],
)
def test_a_judge_is_read_strictly_asked_again_once_and_then_leaves_it_open(
    play, home: Path, replies: list[str], outcome: str, reason: str | None, asked: int
) -> None:
    judged: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> Scripted:
        if request["model"] != "grader":
            return Scripted("An answer.")
        judged.append(request)
        return Scripted(replies[len(judged) - 1])

    [record] = play([{"prompt": "A question?", "judge": CRITERIA}], answer, "--judge", "grader").values()
    assert (record.verdict.outcome, record.verdict.reason) == (outcome, reason)
    assert len(judged) == asked
    assert "A question?" in judged[0]["messages"][0]["content"]
    assert "An answer." in judged[0]["messages"][0]["content"]
    if asked == 2:
        assert "could not be read" in judged[1]["messages"][-1]["content"]
    scores = {item.name: (item.value, item.threshold) for item in journal(home / "runs") if isinstance(item, Scored)}
    decided = outcome != "undecided"
    assert scores["kind"] == (record.verdict.scores["kind"] if decided else None, 2.0)
    assert scores["true"] == (record.verdict.scores["true"] if decided else None, 3.0)


def test_a_second_judge_grades_too_and_decides_nothing(play, console, home: Path) -> None:
    def answer(request: dict[str, Any]) -> Scripted:
        by_model = {"grader": grades(5, 5), "second": grades(1, 5)}
        return Scripted(by_model.get(request["model"], "An answer."))

    rows = [{"prompt": f"{n}?", "judge": CRITERIA} for n in range(2)]
    ended = play(rows, answer, "--judge", "grader", "--judge", "second", "--name", "two")
    assert {record.verdict.outcome for record in ended.values()} == {"passed"}
    shown = console("show", "two", "--runs", home / "runs", "--data", home / "data").out
    assert "grader and second: agree in " in shown


def test_only_the_simulated_side_of_a_comparison_is_marked_as_such(play, console, home: Path) -> None:
    play([{"prompt": "a?", "equals": "a"}], lambda request: Scripted("a"), "--name", "real")
    places = ("--runs", home / "runs", "--data", home / "data")
    assert console("run", "-m", "sim/careful", "-s", "mine", "--name", "sim", "--yes", "--quiet", *places).code == 0
    first, second = console("compare", "real", "sim", *places).out.splitlines()[:2]
    assert (first.split()[0], "simulated" in first) == ("A", False)
    assert (second.split()[0], "(simulated)" in second) == ("B", True)


def test_a_simulated_user_leads_sees_the_other_side_and_says_why_it_stops(play, home: Path) -> None:
    seen: list[list[str]] = []

    def answer(request: dict[str, Any]) -> Scripted:
        if request["model"] == "visitor":
            seen.append([f"{message['role']}: {message['content']}" for message in request["messages"][1:]])
            lines = ["I need a berth.", "Nine metres.", "<end>I have one</end>"]
            return Scripted(lines[len(seen) - 1])
        return Scripted("How long?" if len(seen) == 1 else "C7.")

    user = {"goal": "Get a berth for the Petrel.", "knows": {"length": 9}, "stop": "when you have it"}
    [record] = play([{"user": user, "equals": "C7."}], answer, "--user", "visitor").values()
    assert record.verdict.outcome == "passed"
    assert record.output["stopped"] == "I have one"
    assert [turn["user"] for turn in record.output["turns"]] == ["I need a berth.", "Nine metres."]
    assert seen[-1][1:] == ["assistant: I need a berth.", "user: How long?", "assistant: Nine metres.", "user: C7."]
    [note] = [item for item in journal(home / "runs") if isinstance(item, Noted) and item.kind == "user_stopped"]
    assert note.data == {"goal": user["goal"], "why": "I have one"}


@pytest.mark.parametrize(
    ("said", "stopped", "turns"),
    [("Go on.", "after 2 turns", 2), ("  ", "it wrote nothing", 0), ("<end></end>", "it said", 0)],
)
def test_a_simulated_user_that_never_ends_is_ended(play, said: str, stopped: str, turns: int) -> None:
    rows = [{"user": {"goal": "all", "max_turns": 2}, "contains": "ok"}]
    reply = lambda request: Scripted(said if request["model"] == "visitor" else "ok")  # noqa: E731
    [record] = play(rows, reply, "--user", "visitor").values()
    assert record.output["stopped"].startswith(stopped)
    assert len(record.output["turns"]) == turns
    assert record.verdict.outcome == ("passed" if turns else "failed")


@pytest.mark.parametrize(("role", "row"), [("judge", {"judge": "r"}), ("user", {"user": {"goal": "g"}, "equals": "x"})])
def test_a_role_without_a_model_is_refused_before_anything_is_asked(console, home: Path, role: str, row: Any) -> None:
    write_folder(home / "data" / "mine", [({} if "user" in row else {"prompt": "?"}) | row])
    with OpenAIServer() as server:
        models = write_models(home, server)
        ended = console("run", "-m", "m", "-s", "mine", "--models", models, "--data", home / "data", "--yes")
        assert server.requests == []
    assert (ended.code, f"{role}: the suite needs a model for the role {role}" in ended.err) == (2, True)


MIXED: list[dict[str, Any]] = [
    {"category": "plain", "prompt": "?", "equals": "ok"},
    {"category": "judged", "prompt": "?", "judge": "fine?"},
    {"id": "chat", "category": "talk", "user": {"goal": "g", "max_turns": 1}, "equals": "ok"},
]


def test_a_run_needs_only_the_roles_of_its_selected_cases(play, home: Path) -> None:
    asked: list[str] = []

    def answer(request: dict[str, Any]) -> Scripted:
        asked.append(request["model"])
        return Scripted("ok")

    ended = play(MIXED, answer, "--category", "plain")
    assert ([item.verdict.outcome for item in ended.values()], asked) == (["passed"], ["m"])
    [folder] = (home / "runs").glob("*-mine-*")
    assert RunFolder(folder).manifest().roles == {}


@pytest.mark.parametrize(
    ("selected", "given", "code", "words"),
    [
        (("--category", "judged"), (), 2, "--judge: the suite needs a model for the role judge\n"),
        (("--category", "judged"), ("--user", "visitor"), 2, "--judge: the suite needs a model for the role judge\n"),
        (("--category", "talk"), ("--judge", "grader"), 2, "--user: the suite needs a model for the role user\n"),
        (("--ids", "chat"), ("--judge", "grader"), 2, "--user: the suite needs a model for the role user\n"),
        ((), ("--judge", "grader"), 2, "--user: the suite needs a model for the role user\n"),
        (("-n", "1"), (), 0, ""),
        (("-n", "2"), ("--judge", "grader"), 0, ""),
        (("--category", "plain"), ("--judge", "grader"), 0, "no selected case needs the role judge, so grader is not"),
        (("--category", "plain"), ("--embedding", "m"), 2, "does not use the role embedding"),
    ],
)
def test_a_role_is_asked_for_where_a_selected_case_needs_it(
    console, home: Path, selected: tuple[str, ...], given: tuple[str, ...], code: int, words: str
) -> None:
    write_folder(home / "data" / "mine", MIXED)
    with OpenAIServer() as server:
        places = ("--models", write_models(home, server), "--data", home / "data")
        ended = console("run", "-m", "m", "-s", "mine", *places, "--dry-run", *selected, *given)
        assert server.requests == []
    assert (ended.code, words in ended.err) == (code, True), ended.err


def test_a_second_judge_may_be_an_option_and_must_be_a_model(console, home: Path) -> None:
    write_folder(home / "data" / "mine", MIXED)
    with OpenAIServer() as server:
        line = ("run", "-m", "m", "-s", "mine", "--models", write_models(home, server), "--data", home / "data")
        line = (*line, "--dry-run", "--judge", "grader", "--user", "visitor", "--option")
        named, unknown = (console(*line, f"second_judge_model={name}") for name in ("second", "nobody"))
    assert named.code == 0, named.err
    assert (unknown.code, "no model is named 'nobody'" in unknown.err) == (2, True), unknown.err


def test_two_suites_share_the_roles_out_second_judge_included(console, home: Path) -> None:
    write_folder(home / "data" / "mine", MIXED[:2])
    write_folder(home / "data" / "plain", MIXED[:1])
    with OpenAIServer() as server:
        line = ("run", "-m", "m", "-s", "mine", "-s", "plain", "--models", write_models(home, server))
        ended = console(*line, "--data", home / "data", "--dry-run", "--judge", "grader", "--judge", "second")
    assert ended.code == 0, ended.err


def test_a_suite_in_python_can_tell_the_roles_of_its_cases(console, home: Path) -> None:
    by_case = 'needs_roles = ("user",)\n\n    def roles_of(self, cases, setting):\n        return BODY\n'
    line = ("run", "-m", "m", "-s", "cities", "--data", home / "data", "--dry-run")
    ended: dict[str, Any] = {}
    for name, body in {
        "some": '["user"] if any(case.category == "large" for case in cases) else []',
        "nonsense": "7",
    }.items():
        code = CITIES.replace('needs_roles = ("user",)\n', by_case.replace("BODY", body))
        shutil.rmtree(home / "data", ignore_errors=True)
        write_folder_suite(home / "data", code=code)
        assert console("allow", "cities", "--data", home / "data").code == 0
        with OpenAIServer() as server:
            models = write_models(home, server)
            for category in ("small", "large"):
                ended[f"{name} {category}"] = console(*line, "--models", models, "--category", category)
    assert {name: item.code for name, item in ended.items()} == {
        "some small": 0, "some large": 2, "nonsense small": 2, "nonsense large": 2
    }  # fmt: skip
    assert "needs a model for the role user" in ended["some large"].err
    assert "`roles_of` of the suite cities failed: it returned 7" in ended["nonsense small"].err


def test_versions_of_a_prompt_are_cases_of_one_run_and_compared_row_by_row(play, console, home: Path) -> None:
    (home / "short.txt").write_text("Be short: {question}\n")
    (home / "long.txt").write_text("{prompt} Say why.")
    rows: list[Any] = [
        {"id": f"q{n}", "question": f"{n}?", "prompt": f"What is {n}?", "equals": "ok"} for n in range(3)
    ]
    rows.append({"id": "talk", "question": "?", "turns": ["One?", "Two?"], "equals": "ok"})
    prompts: list[str] = []

    def answer(request: dict[str, Any]) -> Scripted:
        prompts.append(last_text(request))
        return Scripted("ok" if "short" in prompts[-1] or "0" in prompts[-1] else "no")

    ended = play(rows, answer, "--vary", f"prompt={home}/short.txt,{home}/long.txt", "--name", "v")
    assert sorted(ended) == ["q0@long", "q0@short", "q1@long", "q1@short", "q2@long", "q2@short", "talk"]
    assert sorted(prompts)[0] == "Be short: 0?"
    assert "What is 2? Say why." in prompts
    (home / "short.txt").unlink()
    shown = console("show", "v", "--runs", home / "runs", "--data", home / "data", "--json").data
    metrics = {metric["name"]: metric for metric in shown["report"]["metrics"]}
    assert metrics["short: accuracy"]["value"] == 1
    assert metrics["long: accuracy"]["value"] == pytest.approx(1 / 3)
    assert metrics["long \u2212 short"]["value"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("prompt", "does not name a field to vary"),
        ("promt=a.txt", "must vary either prompt or system"),
        ("prompt=none.txt", "none.txt cannot be read"),
        ("prompt=bad.txt", "no row has a value for {nothing}"),
    ],
)
def test_a_version_that_cannot_be_played_is_refused(console, home: Path, text: str, problem: str) -> None:
    write_folder(home / "data" / "mine", [{"prompt": "?", "equals": "x"}])
    (home / "bad.txt").write_text("{nothing}")
    ended = console("run", "-m", "sim/careful", "-s", "mine", "--data", home / "data", "--yes", "--vary", text)
    assert (ended.code, problem in ended.err) == (2, True), ended.err


def test_rows_are_selected_as_cases_of_any_suite_and_saved_outputs_checked(console, home: Path) -> None:
    def played(*more: str) -> list[str]:
        name = f"s{len(list((home / 'runs').glob('*')))}"
        arguments = ("run", "-m", "sim/careful", "-s", "dialogue-starter", "--runs", home / "runs", "--yes", "--quiet")
        assert console(*arguments, "--name", name, *more).code == 0
        [folder] = (home / "runs").glob(f"*-{name}-*")
        return [
            item.key.case for item in JournalReader(folder / "journal.jsonl").read_new() if isinstance(item, Finished)
        ]

    assert sorted(played("--category", "choices")) == ["bow", "fog", "tide"]
    assert sorted(played("--ids", "ship,knots")) == ["knots", "ship"]
    assert len(played("-n", "4")) == 4
    assert sorted(played("--sample", "5", "--seed", "7")) == sorted(played("--sample", "5", "--seed", "7"))
    lines = home / "outputs.jsonl"
    lines.write_text(
        '{"id": "tide", "output": "B"}\n{"id": "tied", "output": "B"}\n{"id": "units", "output": ["9", "914.5"]}\n'
    )
    answers = console("check", "dialogue-starter", lines).lines
    assert [answer.get("valid") for answer in answers] == [True, None, True]
    assert "Did you mean tide?" in str(answers[1])


class Visit:
    """A model, a judge and a user of long conversations, who can call for a kill."""

    def __init__(self, kill_at: int = 0) -> None:
        self.requests, self.kill_at, self.reached = 0, kill_at, threading.Event()

    def __call__(self, request: dict[str, Any]) -> Scripted:
        self.requests += 1
        if self.kill_at and self.requests >= self.kill_at:
            self.reached.set()
        slow = 0.02 if self.kill_at else 0.0
        if request["model"] == "grader":
            return Scripted('{"grades": [{"name": "rubric", "why": "fine", "grade": 5}]}', itl_s=slow)
        if request["model"] == "visitor":
            said = sum(message["role"] == "assistant" for message in request["messages"])
            return Scripted("<end>enough</end>" if said == 4 else f"Question {said}?", itl_s=slow)
        if request["messages"][-1]["role"] == "user":
            return Scripted(calls=[("berth", {"nights": len(request["messages"])})], itl_s=slow)
        return Scripted(f"Answer {len(request['messages'])}.", itl_s=slow)


def test_killed_in_mid_conversation_and_resumed_pays_one_call_twice_at_most(home: Path) -> None:
    canned = [{"tool": "berth", "result": "C7"}]
    rows = [
        {"id": f"v{n}", "user": {"goal": f"g{n}"}, "tools": [TOOL], "tool_results": canned, "judge": "fine?"}
        for n in range(3)
    ]
    write_folder(home / "data" / "mine", rows)

    def line(verb: str, name: str, *more: str) -> list[str]:
        places = ("--models", str(home / "models.toml"), "--data", str(home / "data"), "--runs", str(home / name))
        return [sys.executable, "-m", "console", verb, *places, "--yes", "--quiet", *more]

    run = ("-m", "m", "-s", "mine", "--judge", "grader", "--user", "visitor", "-c", "2")
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    calm = Visit()
    with OpenAIServer(calm, models=("m", "grader", "visitor")) as server:
        write_models(home, server)
        subprocess.run(line("run", "calm", *run), env=env, check=True, stdout=subprocess.DEVNULL, timeout=60)
    assert calm.requests == 3 * (5 + 8 + 1)
    killed = Visit(kill_at=calm.requests // 2)
    with OpenAIServer(killed, models=("m", "grader", "visitor")) as server:
        write_models(home, server)
        with subprocess.Popen(line("run", "killed", *run), env=env, stdout=subprocess.DEVNULL) as process:
            assert killed.reached.wait(60)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        server.wait_until_left()
        kept, sent = sum(isinstance(record, Asked) for record in journal(home / "killed")), killed.requests
        assert 0 < kept < calm.requests
        subprocess.run(line("resume", "killed"), env=env, check=True, stdout=subprocess.DEVNULL, timeout=60)
    assert sent - kept == killed.requests - calm.requests <= 2
    calm_ends, killed_ends = finished(home / "calm"), finished(home / "killed")
    assert {name: (end.verdict, end.output) for name, end in calm_ends.items()} == {
        name: (end.verdict, end.output) for name, end in killed_ends.items()
    }
