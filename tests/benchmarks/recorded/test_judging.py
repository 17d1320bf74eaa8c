"""Answers of two and more runs judged in pairs, over the loopback: bias, strengths, caps, a kill, and the screens."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.row_suite import write_folder
from support.screen_text import see, text_of

from console.cli.history import read_overview
from console.config.paths import WorkspacePaths
from console.core.record import Asked
from console.store.journal import JournalReader
from console.store.run_list import find_run
from console.suites.catalog import find_suite
from console.suites.report import build_report, results_of
from console.tui.app import ConsoleApp

ROOT = Path(__file__).resolve().parents[3]
MODELS = ("plain", "kind", "wordy")
PROMPTS = [f"Tell guest {number} that we are full." for number in range(6)]
BOTH = re.compile(r"<first>\n(.*?)\n</first>\n\n<second>\n(.*?)\n</second>", re.DOTALL)


def reply(grade: str, why: str) -> Scripted:
    return Scripted(json.dumps({"grades": [{"name": "rubric", "why": why, "grade": grade}]}))


def kinder(first: str, second: str) -> Scripted:
    """Prefer the answer that says sorry, wherever it stands."""
    better = ("sorry" in first) - ("sorry" in second)
    return reply({1: "FIRST", 0: "TIE", -1: "SECOND"}[better], f"kinder than {second}" if better > 0 else "so so")


def always_first(first: str, second: str) -> Scripted:
    return reply("FIRST", "it stands first")


class Table:
    """Three models that answer by their name, and a judge."""

    def __init__(self, judge: Any = kinder) -> None:
        self.judge, self.judged, self.stop_at, self.reached = judge, 0, 0, threading.Event()

    def __call__(self, request: dict[str, Any]) -> Scripted:
        text = request["messages"][0]["content"]
        if request["model"] == "grader":
            self.judged += 1
            [(first, second)] = BOTH.findall(text)
            if self.stop_at and self.judged >= self.stop_at:
                self.reached.set()
                return replace(self.judge(first, second), latency_s=600.0)
            return self.judge(first, second)
        guest = re.findall(r"\d", text)[0]
        if guest == "0":  # all say the same
            return Scripted("We are full.")
        answers = {
            "plain": "Full.",
            "kind": f"I am sorry, guest {guest}.",
            "wordy": "We are really quite full, you see.",
        }
        return Scripted(answers[request["model"]])


@pytest.fixture
def played(console, home: Path):
    """Play the rows with each model, and return a way to let a judge compare them."""
    table = Table()
    write_folder(
        home / "data" / "mine", [{"id": f"g{n}", "prompt": text, "regex": "."} for n, text in enumerate(PROMPTS)]
    )
    with OpenAIServer(table, models=(*MODELS, "grader")) as server:
        lines = [
            f'[{name}]\nmodel_id = "{name}"\nbase_url = "{server.base_url}"\nlimits = {{ backoff_s = 0.01 }}\n'
            for name in (*MODELS, "grader")
        ]
        (home / "models.toml").write_text("\n".join(lines))
        places = ("--models", home / "models.toml", "--data", home / "data", "--runs", home / "runs")
        for model in MODELS:
            ended = console("run", "-m", model, "-s", "mine", "--name", model, *places, "--yes", "--quiet")
            assert ended.code == 0, ended.err

        def judge(*words: str, by: Any = kinder) -> Any:
            table.judge = by
            return console("judge", *words, "--judge", "grader", *places, "--quiet", "--json")

        judge.table, judge.server = table, server  # type: ignore[attr-defined]
        judge.places = places  # type: ignore[attr-defined]
        yield judge


def metrics(ended: Any) -> dict[str, Any]:
    return {metric["name"]: metric for metric in ended.data["report"]["metrics"]}


def test_the_win_rate_is_that_of_the_first_run_and_equal_answers_cost_nothing(played, console) -> None:
    ended = played("kind", "plain")
    assert ended.code == 0, ended.err
    rate = metrics(ended)["win rate"]
    assert rate["value"] == pytest.approx((5 + 0.5) / 6)
    assert 0 < rate["low"] < rate["value"] < rate["high"] <= 1
    assert rate["cases"] == 6
    assert metrics(ended)["TIE"]["value"] == pytest.approx(1 / 6)
    assert played.table.judged == 10, "two orders of five pairs that differ"
    assert metrics(ended)["chose the first answer"]["value"] == 0.5
    other = metrics(played("plain", "kind"))
    assert other["win rate"]["value"] == pytest.approx(1 / 12)


def test_a_judge_that_takes_the_first_is_exposed_and_decides_nothing(played) -> None:
    found = metrics(played("kind", "plain", by=always_first))
    assert found["win rate"]["value"] == 0.5
    assert found["chose the first answer"]["value"] == 1.0


def test_several_runs_are_judged_in_all_pairs_and_get_strengths(played, console, home: Path) -> None:
    def longer(first: str, second: str) -> Scripted:
        return reply("FIRST" if len(first) > len(second) else "SECOND", "longer")

    ended = played("kind", "plain", "wordy", "--length-control", by=longer)
    found = metrics(ended)
    assert [found[name]["value"] for name in ("kind : plain", "kind : wordy", "plain : wordy")] == [
        pytest.approx(value / 6) for value in (5.5, 0.5, 0.5)
    ]
    strong = {name: found[name]["value"] for name in ("wordy", "kind", "plain")}
    assert strong["wordy"] > strong["kind"] > strong["plain"]
    assert sum(strong.values()) == pytest.approx(3000)
    fair = {name: found[f"{name}, at equal length"]["value"] for name in strong}
    assert found["log-odds by length"]["value"] > 0
    assert fair["wordy"] - fair["plain"] < strong["wordy"] - strong["plain"]
    [board] = console("leaderboard", "-s", "mine pairwise", *played.places, "--json").data["boards"]
    assert [row["model"] for row in board["rows"]] == ["wordy", "kind", "plain"]
    cells = board["rows"][0]["cells"]
    assert cells["win rate"]["value"] == pytest.approx(11 / 12)
    assert cells["strength"]["value"] == pytest.approx(strong["wordy"])
    assert cells["strength"]["low"] <= cells["strength"]["value"] <= cells["strength"]["high"]


def test_review_has_both_answers_and_the_words_of_both_orders(played, console) -> None:
    run = played("kind", "plain").data["run"]
    case = console("show", f"{run}#g1", *played.places, "--json").data
    [pair] = case["comparison"]["pairs"]
    question, answer, *words = pair["rows"]
    assert PROMPTS[1] in question["expected"][0]
    assert (answer["actual"], answer["expected"]) == ("I am sorry, guest 1.", ["Full."])
    assert [(row["name"], row["actual"], row["note"]) for row in words] == [
        ("kind shown first", "kind is better", "kinder than Full."),
        ("plain shown first", "kind is better", "so so"),
    ]


def test_bad_requests_ask_nothing(played, console) -> None:
    for words, message in (
        (["kind"], "two different runs"),
        (["kind", "kind"], "two different runs"),
        (["kind", "plain", "--limit", "0"], "limit"),
        (["kind", "nobody"], "nobody"),
    ):
        ended = console("judge", *words, "--judge", "grader", *played.places, "--quiet")
        assert ended.code == 2, words
        assert message in ended.err
    ended = console("judge", "kind", "plain", *played.places, "--quiet")
    assert ended.code == 2
    assert "judge" in ended.err
    run = played("kind", "plain").data["run"]
    before = played.table.judged
    assert console("judge", run, "kind", "--judge", "grader", *played.places).code == 2
    assert console("regrade", run, *played.places).code == 2
    assert played.table.judged == before


def test_killed_and_capped_it_goes_on_and_pays_one_call_twice_at_most(played, console, home: Path) -> None:
    capped = played("kind", "plain", "--max-tokens", "1")
    assert capped.code == 4, "a run that hits its cap"
    table = played.table
    table.judged, table.stop_at, table.judge = 0, 4, kinder
    places = [str(part) for part in played.places]
    line = [sys.executable, "-m", "console", "judge", "kind", "wordy", "--judge", "grader", *places, "--quiet"]
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, env=env, stdout=subprocess.DEVNULL, cwd=home) as process:
        assert table.reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.wait()
    played.server.wait_until_left()
    table.stop_at = 0
    folder = find_run(home / "runs", "kind-vs-wordy")
    kept, sent = (
        sum(isinstance(record, Asked) for record in JournalReader(folder.journal_path).iter_all()),
        table.judged,
    )
    ended = console("resume", folder.name, *places, "--quiet", "--json")
    assert ended.code == 0, ended.err
    assert table.judged == 10 + sent - kept
    assert metrics(ended)["win rate"]["value"] == pytest.approx((5 + 0.5) / 6)


def test_the_screen_has_both_answers_on_one_line_at_every_size(played, home: Path) -> None:
    run = played("kind", "plain").data["run"]

    async def look(size: tuple[int, int]) -> None:
        app = ConsoleApp(WorkspacePaths(runs=home / "runs", data=home / "data"))
        app.navigator.start_with("review", run, "g1")
        async with app.run_test(size=size) as pilot:
            words = "I am sorry, guest 1." if size[1] < 30 else "kind shown first  kind is better"
            await see(pilot, words)
            [line] = [line for line in text_of(app).splitlines() if "I am sorry, guest 1." in line]
            assert "Full." in line

    for size in ((80, 24), (130, 36), (160, 45)):
        asyncio.run(look(size))


def test_what_the_app_counts_is_enough_for_the_report_of_the_command(played, console, home: Path) -> None:
    ended = played("kind", "plain", "wordy", "--length-control")
    run = find_run(home / "runs", ended.data["run"])
    suite = find_suite(run.manifest(), home / "data")
    report = build_report(suite, results_of(read_overview(run).fold), run.manifest().setting)
    assert {metric.name: metric.value for metric in report.metrics} == {
        name: metric["value"] for name, metric in metrics(ended).items()
    }
