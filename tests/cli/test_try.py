"""A change is tried on the failures of a run and a guard, with its effect on the whole suite."""

import json
import re

import pytest

from console.cli.exitcode import Exit
from console.core.record import Asked
from console.core.request import Thread
from console.store.journal import JournalReader
from console.store.runs import RunFolder

RUN = ("run", "-s", "bfcl-starter", "--category", "non_live,live", "--yes", "--quiet", "--json")


@pytest.fixture
def recorded(console) -> str:
    return console(*RUN, "-m", "sim/hasty").data["run"]


def test_a_change_is_tried_and_reported_in_a_sentence_a_table_and_a_diff(console, home, recorded):
    (home / "a.txt").write_text("You are careful.\n")
    ended = console(
        "try", recorded, "--set", "system=a.txt", "-m", "sim/careful", "-n", "20", "--guard", "30", "--seed", "7"
    )
    assert ended.code == Exit.OK, ended.err
    assert "of 20 failures " in ended.out
    assert " would anyway), of 30 passed " in ended.out
    assert "points [+" in ended.out
    assert "on the whole suite; from 50 calls, a full run needs 73" in ended.out
    assert "+You are careful." in ended.out
    assert "fixed   chosen  " in ended.out
    new = next(it["id"] for it in console("runs", "--json").data["runs"] if it["parent"] == recorded)
    again = console("try", new, "--report", "--json").data
    assert again["sentence"] in ended.out
    assert again["effect"]["low"] > 0
    assert len(again["cases"]["fixed"]) == again["chosen"]["passed"]
    assert (again["chosen"]["cases"], again["guard"]["cases"], again["calls"]) == (20, 30, 50)
    assert (again["run"], again["parent"]) == (new, recorded)


def test_where_nothing_is_changed_nothing_is_shown_with_and_without_an_unchanged_arm(console, home, recorded):
    """The recorded failures that pass now are luck, and so are the passed ones that fail."""
    (home / "a.txt").write_text("Be exact.")
    (home / "b.txt").write_text("Be exact. ")
    one, two = ["--set", "system=a.txt"], ["--set", "system=a.txt,b.txt"]
    for more in (one, [*one, "--control"], two):
        told = console("try", recorded, *more, "-r", "2", "--seed", "7", "--json").lines
        assert len(told) == 1 + (more is two)
        for it in told:
            assert it["effect"]["low"] <= 0 <= it["effect"]["high"], it["sentence"]
            assert it["control"] is ("--control" in more)
            assert it["chosen"]["expected"] is not None
            adjusted = it["effect"]["p_holm"]
            assert (adjusted is None) is (len(told) == 1)
            assert adjusted is None or adjusted >= it["effect"]["p"]


def test_of_cases_that_failed_now_and_then_as_many_would_pass_anyway(console, home):
    words = ("--category", "non_live", "-m", "sim/hasty", "-r", "4", "-n", "12", "--yes", "--quiet", "--json")
    run = console("run", "-s", "bfcl-starter", *words).data["run"]
    means: dict[str, float] = {}
    for it in console("export", run, "--format", "json").data["rollouts"]:
        means[it["case"]] = means.get(it["case"], 0.0) + (it["outcome"] == "passed") / 4
    often = [mean for mean in means.values() if 0 < mean < 1]
    assert len(often) > 3, "failed in some of their rollouts"
    (home / "a.txt").write_text("Be exact.")
    told = console("try", run, "--set", "system=a.txt", "--seed", "7", "--json").data
    failed = [mean for mean in means.values() if mean < 1]
    assert told["chosen"]["cases"] == len(failed)
    assert sum(failed) <= told["chosen"]["expected"] + 1e-9 <= len(failed)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "no change was given"),
        (["-m", "sim/careful", "--control"], "also be played by the other model"),
        (["--set", "system"], "has no value"),
        (["--set", "reply=a.txt"], "applies to one conversation only"),
        (["--set", "tool.nobody.description=a.txt"], "changes nothing in the recorded requests"),
        (["--set", "system=a.txt", "--filter", "reason:nothing"], "matches reason:nothing"),
        (["--set", "system=nowhere.txt"], "nowhere.txt"),
        (
            ["--set", "system=a.txt,a.txt", "--set", "user=a.txt,a.txt,a.txt"],
            "the changes have different numbers of texts",
        ),
        (["--report"], "not a trial of a change"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_anything_is_asked(console, home, finished, words, why):
    (home / "a.txt").write_text("x")
    ended = console("try", finished, *words)
    assert ended.code == Exit.USAGE
    assert why in ended.err


def test_a_stratum_without_a_drawn_case_makes_the_sentence_impossible(console, home, recorded):
    (home / "a.txt").write_text("x")
    ended = console("try", recorded, "--set", "system=a.txt", "-n", "5", "--guard", "0", "--json")
    assert ended.code == Exit.INCONCLUSIVE
    told = json.loads(ended.out)
    assert told["effect"] is None
    assert "the effect on the whole suite is unknown" in told["sentence"]


def test_a_trial_ends_at_the_look_that_decides_it_and_its_interval_is_that_of_the_look(console, home, recorded):
    (home / "a.txt").write_text("x")
    words = ["--set", "system=a.txt", "-m", "sim/careful", "--until", "decided", "--seed", "7"]
    told = console("try", recorded, *words, "--json").data
    assert told["effect"]["low"] >= 0
    summary = next(it for it in console("runs", "--json").data["runs"] if it["id"] == told["run"])
    assert summary["state"] == "decided"
    assert told["calls"] < summary["planned"]
    assert "better, decided at look" in console("try", told["run"], "--report").out
    for option in (["--until", "decided"], ["--keep", "both"]):
        refused = console("try", recorded, "--set", "system=a.txt,a.txt", *option)
        assert (refused.code, "is limited to one change" in refused.err) == (Exit.USAGE, True)


def test_what_failed_goes_on_from_the_turn_that_failed_beside_an_unchanged_arm(console, home):
    run = console("run", "-s", "bfcl-starter", "--category", "multi_turn_base", "--mode", "fc", "--yes", "--quiet",
                  "--json", "-m", "sim/hasty", "-r", "2").data["run"]  # fmt: skip
    (home / "a.txt").write_text("You are careful.")
    told = console("try", run, "--set", "system=a.txt", "--from", "failure", "--seed", "1", "--json")
    assert told.data["control"]
    folder = home / "runs" / told.data["run"]
    beginnings = json.loads((folder / "run.json").read_text())["experiment"]["beginnings"]
    assert beginnings, "a later turn failed in some case"
    assert all(it["turn"] > 0 for it in beginnings.values())
    assert "of 4 cases continue from the turn that failed" in told.err
    estimate = re.search(r"about ([\d,]+) calls, ([\d,]+) tokens", told.err)
    assert estimate is not None
    calls, tokens = (int(number.replace(",", "")) for number in estimate.groups())
    tally = RunFolder(folder).summary().tally
    assert calls / 1.5 <= tally.calls <= calls * 1.5, "what was paid is about what was said before"
    assert tokens / 1.5 <= tally.input_tokens + tally.output_tokens <= tokens * 1.5


def test_a_change_is_kept_as_a_preset_that_plays_the_whole_suite_with_it(console, home, recorded, monkeypatch):
    monkeypatch.setenv("EVAL_CONSOLE_PRESETS", str(home / "presets.toml"))
    (home / "a.txt").write_text("Be exact.\n")
    told = console("try", recorded, "--set", "system=a.txt", "--set", "params.temperature=0.2", "-n", "2", "--guard",
                   "6", "--keep", "exact", "--json").data  # fmt: skip
    assert told["calls"] == 8
    whole = console("run", "--preset", "exact", "--yes", "--quiet", "--json").data
    manifest = json.loads((home / "runs" / whole["run"] / "run.json").read_text())
    assert manifest["selection"] == {"categories": ["non_live", "live"]}
    assert whole["summary"]["planned"] == 73
    journal = (home / "runs" / whole["run"] / "journal.jsonl").read_text()
    assert journal.count('{"role":"system","content":"Be exact."}') >= 73
    assert journal.count('"temperature":0.2') >= 73
    board = console("leaderboard", "--json").lines
    assert whole["run"] not in json.dumps(board), "another prompt is not the benchmark"
    (home / "presets.toml").write_text('[x]\nmodels=["sim/hasty"]\nsuites=["bfcl-starter"]\nset={sytem="x"}\n')
    refused = console("run", "--preset", "x", "--yes")
    assert (refused.code, "Did you mean system?" in refused.err) == (Exit.USAGE, True)


def test_an_edit_of_prompts_that_differ_is_made_in_each_also_by_its_preset(console, home, monkeypatch):
    """The prompts of BFCL without native tools hold the functions of their case."""
    monkeypatch.setenv("EVAL_CONSOLE_PRESETS", str(home / "presets.toml"))
    run = console("run", "-s", "bfcl-starter", "--category", "non_live", "--mode", "prompt", "-n", "12", "-m",
                  "sim/hasty", "--yes", "--quiet", "--json").data["run"]  # fmt: skip
    asked = prompts(home, run)
    (home / "a.txt").write_text(next(iter(asked.values())) + "\nDates as YYYY-MM-DD.\n")
    told = console("try", run, "--filter", "is:passed", "--set", "system=a.txt", "--keep", "dates", "--json")
    assert "the lines that you changed are changed in each" in told.err
    assert told.data["changes"][0]["diff"][-1] == "+Dates as YYYY-MM-DD."
    whole = console("run", "--preset", "dates", "--yes", "--quiet", "--json").data["run"]
    assert prompts(home, whole) == {case: f"{text}\nDates as YYYY-MM-DD." for case, text in asked.items()}
    for case, text in prompts(home, told.data["run"]).items():
        assert text == f"{asked[case]}\nDates as YYYY-MM-DD."


def prompts(home, run):
    """The system prompt of each case, as it was sent."""
    records = JournalReader(home / "runs" / run / "journal.jsonl").iter_all()
    return {it.key.case: it.messages[0]["content"] for it in records if isinstance(it, Asked)}


def test_the_users_words_are_edited_where_the_prompt_holds_the_functions(console, home):
    run = console("run", "-s", "bfcl-starter", "--category", "multi_turn_base", "--mode", "prompt", "-n", "1", "-m",
                  "sim/careful", "--yes", "--quiet", "--json").data["run"]  # fmt: skip
    case = console("export", run, "--format", "json").data["rollouts"][0]["case"]
    records = [it for it in JournalReader(home / "runs" / run / "journal.jsonl").iter_all() if isinstance(it, Asked)]
    point = next(it for it in records if it.turn == 1 and it.step == 0)
    (home / "user.txt").write_text("Forget it.\n")
    told = console("branch", f"{run}#{case}", "--at", f"{point.turn + 1}.1", "--set", "user=user.txt", "--json").data
    assert told["changes"][0]["diff"][-1] == "+Forget it."
    sent = conversation_of(home, told["run"])
    before = conversation_of(home, run)
    place = len(before[point.n]) - 1
    assert sent[point.n][:place] == before[point.n][:place], "system prompt and the turn before are as they were"
    assert sent[point.n][place] == {"role": "user", "content": "Forget it."}
    assert all(messages[place]["content"] == "Forget it." for n, messages in sent.items() if n >= point.n)


def conversation_of(home, run):
    """The messages of each request of the model, by its number, as they were sent."""
    thread, sent = Thread(), {}
    for record in JournalReader(home / "runs" / run / "journal.jsonl").iter_all():
        if isinstance(record, Asked):
            sent[record.n] = thread.expand(record).messages
    return sent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suite", "category", "mode", "start"),
    [
        *(
            (*played, start)
            for start in ("start", "failure")
            for played in (
                ("bfcl-starter", "multi_turn_base,multi_turn_miss_func", "fc"),
                ("bfcl-starter", "non_live,live", "prompt"),
                ("dialogue-starter", "bookings,visitors", ""),
                ("cave-starter", "", "json"),
            )
        ),
        ("aidan-starter", "", "", "start"),  # a loop has no failure to begin from
    ],
)
def test_a_trial_takes_about_what_was_said_before(console, home, suite, category, mode, start: str) -> None:
    options = [*(["--category", category] if category else []), *(["--mode", mode] if mode else [])]
    run = console("run", "-s", suite, "-m", "sim/hasty", *options, "--yes", "--quiet", "--json").data["run"]
    (home / "a.txt").write_text("Be exact.")
    chosen = ["--filter", "is:passed,failed", "-n", "20"] if suite == "aidan-starter" else []
    words = ("--set", "system=a.txt", "--seed", "7", "-r", "2", "--from", start, *chosen)
    ended = console("try", run, *words, "--json")
    price = re.search(r"about ([\d,]+) calls?, ([\d,]+) tokens", ended.err)
    assert price, ended.err
    tally = RunFolder(home / "runs" / ended.data["run"]).summary().tally
    paid = tally.calls, tally.input_tokens + tally.output_tokens
    for number, amount in zip(price.groups(), paid, strict=True):
        likely = int(number.replace(",", ""))
        assert likely / 1.5 <= amount <= likely * 1.5, (ended.err, paid)
