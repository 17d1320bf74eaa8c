"""What served a run: provider and fingerprint are journaled per call, summed up, and said above comparisons."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, records, right, write_models, write_suite

from console.core.record import Asked, Finished
from console.core.run import Summary, Tally
from console.insight.servers import change_words, comparison_words, trend_words

Answer = Callable[[dict[str, Any]], Scripted]


def by(provider: str = "", fingerprint: str = "", **headers: str) -> Answer:
    fields = {"provider": provider or None, "system_fingerprint": fingerprint or None}
    extra = {name: value for name, value in fields.items() if value}

    def answer(request: dict[str, Any]) -> Scripted:
        said = right(request)
        said.extra, said.headers = extra, headers
        return said

    return answer


def play(console: Any, home: Path, *answers: Answer) -> list[str]:
    """Play a run for each answer; return their ids."""
    data, runs = write_suite(home / "data", 4), list[str]()
    for answer in answers:
        with OpenAIServer(answer) as server:
            write_models(home, server)
            ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "--quiet", "--json")
            assert ended.code == 0, ended.err
            runs.append(ended.data["run"])
    return runs


def test_what_served_is_journaled_per_call_and_said_above_comparisons(console, home: Path) -> None:
    a, b = play(console, home, by("vendor-x", "fp_1"), by("Vendor; Y\n", "fp_2"))
    journal = records(home / "runs" / b)
    replies = [record.reply for record in journal if isinstance(record, Asked)]
    assert {(reply.provider, reply.fingerprint) for reply in replies} == {("Vendor_Y", "fp_2")}
    assert {record.server for record in journal if isinstance(record, Finished)} == {"Vendor_Y fp_2"}
    assert "served by test-model, vendor-x fp_1" in console("show", a).out
    assert console("show", a, "--json").data["summary"]["servers"] == {"vendor-x fp_1": 4}
    sentence = "served by A: test-model, vendor-x fp_1; B: test-model, Vendor_Y fp_2"
    text = console("compare", a, b).out
    assert text.index(sentence) < text.index("B − A: ")
    assert sentence in console("compare", a, b, "--format", "markdown").out.replace("\\", "")
    assert sentence in console("compare", a, b, "--fail-if-worse", "--margin", "0.9").out
    assert console("compare", a, b, "--json").data["b"]["served_by"] == "test-model, Vendor_Y fp_2"
    trend = "the last run was served by test-model, Vendor_Y fp_2; the one before by test-model, vendor-x fp_1"
    assert trend in " ".join(console("trends").out.split())


def test_a_header_names_the_provider_behind_a_gateway(console, home: Path) -> None:
    (run,) = play(console, home, by(x_inference_provider="together"))
    assert console("show", run, "--json").data["summary"]["servers"] == {"together": 4}


def test_a_change_within_a_run_is_said(console, home: Path) -> None:
    (run,) = play(console, home, lambda request: by("vendor-x", "fp_1" if number_of(request) else "fp_0")(request))
    shown = console("show", run).out
    assert "served by 2 servers: vendor-x fp_1 (3), vendor-x fp_0 (1)" in shown


def test_nothing_is_said_of_servers_that_say_nothing(console, home: Path) -> None:
    a, b = play(console, home, by(), by())
    assert "served by" not in console("show", a).out + console("compare", a, b).out + console("trends").out
    assert "server" not in json.dumps([json.loads(line) for line in (home / "runs" / a / "journal.jsonl").open()])


def test_vendors_are_compared_side_by_side_with_what_the_check_of_each_found(console, home: Path) -> None:
    data = write_suite(home / "data", 4)
    with OpenAIServer(by("east")) as east, OpenAIServer(by("west")) as west:
        (home / "models.toml").write_text(
            f'["q@east"]\nmodel_id = "test-model"\nbase_url = "{east.base_url}"\n'
            f'["q@west"]\nmodel_id = "test-model"\nbase_url = "{west.base_url}"\n'
        )
        assert "a call" in console("doctor", "--try", "q@west").out
        ended = console("run", "-m", "q@east", "-m", "q@west", "-s", "lookups", "--data", data, "--quiet")
    assert ended.code == 0, ended.err
    runs = [run["id"] for run in console("runs", "--json").data["runs"]]
    a, b = sorted(runs, key=lambda run: "west" in run)
    text = " ".join(console("compare", a, b).out.split())
    assert "served by A: test-model, east; B: test-model, west" in text
    assert "B: the last check of q@west's endpoint (20" in text
    assert "A: the last check" not in text


def run(served: dict[str, int], servers: dict[str, int]) -> Summary:
    return Summary("r", 0.0, "s", "m", False, 4, Tally(), "completed", served=served, servers=servers)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (run({"m": 4}, {}), run({"m": 4}, {}), ""),
        (run({"m-2026": 4}, {}), run({"m-2026": 4}, {}), "both served by m-2026"),
        (run({}, {}), run({"m": 4}, {"fp": 4}), "served by A: unknown; B: m, fp"),
    ],
)
def test_words_of_two_runs(a: Summary, b: Summary, words: str) -> None:
    assert comparison_words(a, b, ["m"]) == words


def test_many_servers_are_summed_up() -> None:
    words = change_words(run({}, {f"fp_{number}": 10 - number for number in range(7)}))
    assert words == "served by 7 servers: fp_0 (10), fp_1 (9), fp_2 (8), fp_3 (7) and 3 more"
    assert trend_words([run({}, {"a": 1}), run({}, {})]) == ""
