"""`branch --decide` finds a step that was planted in a conversation, and does not pay for it twice."""

import json
import re
from pathlib import Path

import pytest

from console.cli.exitcode import Exit
from console.core.record import Asked
from console.store.journal import JournalReader
from console.store.runs import RunFolder

MODEL = "sim/careful"


@pytest.mark.parametrize(
    ("suite", "category", "mode"),
    [
        ("bfcl-starter", "multi_turn_base", "fc"),
        ("dialogue-starter", "bookings", ""),
        pytest.param("cave-starter", "", "json", marks=pytest.mark.slow),
    ],
)
def test_a_planted_step_is_found(console, home, suite: str, category: str, mode: str) -> None:
    options = [*(["--category", category] if category else []), *(["--mode", mode] if mode else [])]
    run = console("run", "-s", suite, "-m", MODEL, *options, "--limit", "4", "--yes", "--quiet", "--json").data
    records = list(JournalReader(Path(run["folder"]) / "journal.jsonl").iter_all())
    passed = {it.key.case for it in records if getattr(it, "verdict", None) and it.verdict.outcome == "passed"}
    asked = [it for it in records if isinstance(it, Asked) and it.role == "model" and it.key.case in passed]
    case = max(dict.fromkeys(it.key.case for it in asked), key=[it.key.case for it in asked].count)
    replies = sorted((it for it in asked if it.key.case == case), key=lambda it: it.n)
    planted = next(it for it in reversed(replies[:-1]) if it.reply.tool_calls)
    (home / "bad.txt").write_text("── assistant ──\nI would rather not.\n")
    at = f"{planted.turn + 1}.{planted.step + 1}"
    spoilt = console("branch", f"{run['run']}#{case}", "--at", at, "--reply", "bad.txt", "--json").data
    assert (spoilt["passed"], spoilt["graded"]) == (0, 1), "what is planted decides"
    found = console("branch", f"{spoilt['run']}#{case}", "--decide", "-r", "12", "--json")
    assert found.code == Exit.OK, found.err
    told = json.loads(found.out.splitlines()[-1])
    assert told["step"] == at, told
    assert "said “I would rather not.”" in told["sentence"]
    before = len(list((home / "runs").iterdir()))
    again = console("branch", f"{spoilt['run']}#{case}", "--decide", "-r", "12")
    assert len(list((home / "runs").iterdir())) == before, "nothing is played twice"
    assert "◀ here" in again.out
    if suite == "bfcl-starter":
        more = console("branch", f"{spoilt['run']}#{case}", "--decide", "-r", "14", "--json")
        curve = json.loads(more.out.splitlines()[-1])["curve"]
        assert curve[0]["graded"] == 12 + 14, "more continuations are played, and added to those before"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "category", "mode"),
    [("bfcl-starter", "multi_turn_base", "fc"), ("bfcl-starter", "multi_turn_miss_func", "fc"),
     ("dialogue-starter", "bookings", ""), ("cave-starter", "", "json")],
)  # fmt: skip
def test_planted_steps_of_many_conversations_are_found_in_95_of_100(
    console, home, monkeypatch, suite: str, category: str, mode: str, record_property
) -> None:
    """One call of a conversation that passes becomes a refusal, at each step at which this makes it fail."""
    seeds = iter(range(1, 1000))
    monkeypatch.setattr("console.engine.experiment.new_seed", lambda: next(seeds))
    options = [*(["--category", category] if category else []), *(["--mode", mode] if mode else [])]
    run = console("run", "-s", suite, "-m", MODEL, *options, "-n", "8", "--yes", "--quiet", "--json").data
    records = list(JournalReader(Path(run["folder"]) / "journal.jsonl").iter_all())
    passed = {it.key.case for it in records if getattr(it, "verdict", None) and it.verdict.outcome == "passed"}
    calling = [it for it in records if isinstance(it, Asked) and it.role == "model" and it.reply.tool_calls]
    (home / "bad.txt").write_text("── assistant ──\nI would rather not.\n")
    planted, found = list[tuple[str, str]](), list[tuple[str, str]]()
    for it in [it for it in calling if it.key.case in passed][:14]:
        case, at = it.key.case, f"{it.turn + 1}.{it.step + 1}"
        spoilt = console("branch", f"{run['run']}#{case}", "--at", at, "--reply", "bad.txt", "--json").data
        if (spoilt["passed"], spoilt["graded"]) == (0, 1):
            planted.append((case, at))
            ended = console("branch", f"{spoilt['run']}#{case}", "--decide", "-r", "12", "--json")
            found.append((case, json.loads(ended.out.splitlines()[-1])["step"]))
    assert len(planted) >= 3
    wrong = [pair for pair in zip(planted, found, strict=True) if pair[0] != pair[1]]
    assert len(wrong) <= 0.05 * len(planted), (len(planted), wrong)
    record_property("planted", len(planted))


@pytest.mark.parametrize(
    ("suite", "mode"), [("bfcl-starter", "fc"), pytest.param("cave-starter", "json", marks=pytest.mark.slow)]
)
def test_a_branch_of_what_was_cut_short_is_priced_by_the_runs_before(
    console, home, monkeypatch, suite: str, mode: str
) -> None:
    monkeypatch.setattr("console.engine.experiment.new_seed", lambda: 7)
    words = ["--category", "multi_turn_base", "--limit", "2"] if suite == "bfcl-starter" else ["--limit", "4"]
    run = console("run", "-s", suite, "-m", MODEL, "--mode", mode, *words, "--yes", "--quiet", "--json").data["run"]
    rollouts = console("export", run, "--format", "json").data["rollouts"]
    whole = max((it for it in rollouts if it["outcome"] == "passed"), key=lambda it: it["calls"])
    (home / "bad.txt").write_text("── assistant ──\nI would rather not.\n")
    spoilt = console("branch", f"{run}#{whole['case']}", "--at", "1.1", "--reply", "bad.txt", "--json").data
    assert spoilt["calls"] < whole["calls"] - 1, "cut short"
    ended = console("branch", f"{spoilt['run']}#{whole['case']}", "-r", "4", "--json")
    price = re.search(
        r"about (\d+) calls?, .*95 %: (\d+) to (\d+) calls, .*; based on 2 recordings of the case", ended.err
    )
    assert price, ended.err
    about, low, high = map(int, price.groups())
    assert low <= ended.data["calls"] <= high, ended.err
    assert about / 1.5 <= ended.data["calls"] <= about * 1.5, ended.err


def test_what_did_not_fail_is_refused(console, finished) -> None:
    rollouts = console("export", finished, "--format", "json").data["rollouts"]
    case = next(it["case"] for it in rollouts if it["outcome"] == "passed")
    ended = console("branch", f"{finished}#{case}", "--decide")
    assert (ended.code, "only a failure" in ended.err) == (Exit.USAGE, True)
    assert console("branch", f"{finished}#{case}", "--decide", "--at", "1.1").code == Exit.USAGE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "category", "mode"),
    [
        ("bfcl-starter", "multi_turn_base", "fc"),
        ("bfcl-starter", "multi_turn_miss_func", "fc"),
        ("dialogue-starter", "bookings", ""),
        ("cave-starter", "", "json"),
    ],
)
def test_a_search_takes_about_what_was_said_before(console, home, monkeypatch, suite, category, mode) -> None:
    """Within a factor of 1.5 of its calls and tokens: of the search that finds a step, or of the start alone."""
    options = [*(["--category", category] if category else []), *(["--mode", mode] if mode else [])]
    words = ("-m", "sim/hasty", *options, "-r", "3", "-n", "6", "--yes", "--quiet", "--json")
    run = console("run", "-s", suite, *words).data["run"]
    seeds = iter(range(1, 1000))
    monkeypatch.setattr("console.engine.experiment.new_seed", lambda: next(seeds))
    rollouts = console("export", run, "--format", "json").data["rollouts"]
    failed = [(it["case"], it["rollout"] + 1) for it in rollouts if it["outcome"] == "failed"][:4]
    assert failed
    for case, rollout in failed:
        ended = console("branch", f"{run}#{case}", "--rollout", str(rollout), "--decide", "-r", "8", "--json")
        curve = json.loads(ended.out.splitlines()[-1])["curve"]
        tallies = [RunFolder(home / "runs" / it["run"]).summary().tally for it in curve]
        is_start_alone = len(curve) == 1 and "if none passes" in ended.err
        words = "{} if none passes" if is_start_alone else "about {}"
        said = re.search(words.format(r"([\d,]+) calls?, ([\d,]+) tokens, simulated"), ended.err)
        assert said, ended.err
        paid = sum(it.calls for it in tallies), sum(it.input_tokens + it.output_tokens for it in tallies)
        for number, amount in zip(said.groups(), paid, strict=True):
            expected = int(number.replace(",", ""))
            assert expected / 1.5 <= amount <= expected * 1.5, (case, rollout, ended.err, paid)
