"""Every verb does its work, in text and as JSON, on real folders."""

import gzip
import itertools
import json
import re

import pytest

from console.cli import doctor_checks
from console.cli.exitcode import Exit


def test_run_reports_and_keeps_a_run(console, home):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "2")
    assert ended.code == Exit.OK
    assert "(simulated)" in ended.out
    assert "completed" in ended.out
    assert "2/2" in ended.err
    assert "simulated, free" in ended.err
    assert [path.name for path in (home / "runs").iterdir()] == [ended.out.split()[0]]


def test_json_has_data_only_on_stdout(console):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--json")
    assert (ended.data["schema"], ended.data["kind"]) == (2, "run")
    assert ended.data["summary"]["planned"] == 1
    assert ended.data["report"]["metrics"]
    assert "1/1" in ended.err


def test_quiet_says_nothing(console):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--quiet", "--json")
    assert ended.err == ""


def test_dry_run_asks_nothing(console, home):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-r", "2", "--dry-run", "--json")
    assert ended.code == Exit.OK
    assert ended.data["rollouts"] == 2
    assert ended.data["calls"] > ended.data["cases"]
    assert not (home / "runs").exists()


def test_dry_run_says_what_each_protocol_takes(console):
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "4", "--dry-run"]
    numbers = console(*line, "--json").data
    chat, single = numbers["protocols"]["environment"], numbers["protocols"]["original"]
    assert (chat["calls"], chat["input_tokens"]) == (numbers["calls"], numbers["input_tokens"])
    assert single["calls"] > chat["calls"]
    assert single["input_tokens"] < chat["input_tokens"]
    other = console(*line, "--option", "protocol=original", "--json").data
    assert other["protocols"] == numbers["protocols"]
    assert other["calls"] == single["calls"]
    shown = console(*line).out
    assert "protocol environment  about" in shown
    assert "protocol original     about" in shown


def test_a_selection_is_kept_in_the_manifest(console):
    ids = "causes-2,causes-1"
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "--ids", ids, "--json", "--quiet")
    assert ended.data["summary"]["planned"] == 2


def test_ids_may_come_from_a_file(console, home):
    (home / "ids.txt").write_text("causes-3\ncauses-4\n")
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", "--ids", "@ids.txt", "--dry-run", "--json")
    assert ended.data["cases"] == 2


def test_a_sample_is_drawn_by_seed(console):
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "--sample", "5", "--quiet", "--json"]
    first, again, other = (console(*line, "--seed", seed).data["run"] for seed in (1, 1, 2))
    ids = [{one["case"] for one in console("review", run, "--all", "--json").lines} for run in (first, again, other)]
    assert len(ids[0]) == 5
    assert ids[0] == ids[1]
    assert ids[0] != ids[2]


@pytest.mark.parametrize(("least", "code"), [("0", Exit.OK), ("100000", Exit.BELOW), ("5", Exit.OK)])
def test_fail_under_decides_the_exit_code(console, least, code):
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "2", "--quiet"]
    ended = console(*line, "--fail-under", least)
    assert ended.code == code


def test_a_cap_stops_and_resume_goes_on(console):
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "6", "-c", "1", "--max-tokens", "9000", "--json"]
    stopped = console(*line)
    assert stopped.code == Exit.BUDGET
    assert stopped.data["summary"]["state"] == "budget"
    assert stopped.data["summary"]["tally"].get("passed", 0) < 6
    assert console("resume", "--json").code == Exit.BUDGET
    on = console("resume", "--max-tokens", "10000000", "--json")
    assert on.code == Exit.OK
    assert "6/6  passed 6" in on.err  # those of the first session too
    assert on.data["summary"]["state"] == "completed"


def test_broken_cases_make_it_inconclusive_and_retry_asks_them_again(console):
    ended = console("run", "-m", "sim/broken", "-s", "aidan-starter", "-n", "8", "--json", "--quiet")
    tally = ended.data["summary"]["tally"]
    assert tally.get("broken", 0) + tally.get("undecided", 0) > 0
    assert ended.code == Exit.INCONCLUSIVE
    again = console("retry", ended.data["run"], "--json")
    assert "are left to run" in again.err
    assert again.data["summary"]["planned"] == 8


def test_nothing_to_resume_has_a_code_of_its_own(console, finished):
    ended = console("resume", finished)
    assert ended.code == Exit.LOCKED
    assert "nothing left to do" in ended.err


def test_a_run_that_was_killed_after_its_last_case_is_closed_by_resume(console, home, finished):
    journal = next((home / "runs").glob("*/journal.jsonl"))
    *kept, closed = journal.read_bytes().splitlines(keepends=True)
    assert b'"t":"closed"' in closed
    journal.write_bytes(b"".join(kept))
    before = console("show", finished, "--json").data["summary"]
    assert before["state"] == "interrupted"
    ended = console("resume", finished, "--json")
    assert ended.code == Exit.OK, ended.err
    assert "0 of 3 cases are left to run" in ended.err
    assert (ended.data["summary"]["state"], ended.data["summary"]["tally"]) == ("completed", before["tally"])
    assert console("resume", finished).code == Exit.LOCKED


def test_failed_cases_are_played_again_only_in_a_run_of_their_own(console, finished):
    before = console("show", finished, "--json").data
    failed = [one["case"] for one in console("review", finished, "--json").lines]
    assert failed
    refused = console("retry", finished, "--status", "failed")
    assert (refused.code, console("retry", finished).code) == (Exit.USAGE, Exit.LOCKED)
    assert f"run --only-failed-of {finished}" in refused.err
    again = console("run", "--only-failed-of", finished, "--json").data
    assert again["summary"]["planned"] == len(failed)
    assert console("show", finished, "--json").data == before


def test_runs_lists_newest_first(console):
    assert console("runs", "--json").data["runs"] == []
    assert "nothing has been run" in console("runs").err
    names = [
        console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--name", name, "--json").data["run"]
        for name in ("a", "b")
    ]
    listed = console("runs", "--json").data["runs"]
    assert sorted(names, reverse=True) == [one["id"] for one in listed]
    assert "simulated" in console("runs").out


def test_models_say_whether_their_key_is_there(console, home, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    (home / "models.toml").write_text(
        '[mine]\nmodel_id = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "MY_KEY"\n'
    )
    found = {one["name"]: one for one in console("models", "--json").data["models"]}
    assert not found["mine"]["ready"]
    assert found["sim/careful"]["simulated"]
    monkeypatch.setenv("MY_KEY", "sk-canary-0123456789")
    ended = console("models")
    assert "MY_KEY" in ended.out
    assert "canary" not in ended.out + ended.err


def test_suites_and_one_of_them(console):
    names = [one["name"] for one in console("suites", "--json").data["suites"]]
    assert "aidan-starter" in names
    shown = console("suites", "aidan-starter", "--json").data
    assert sum(one["cases"] for one in shown["categories"]) > 0
    assert "max_turns" in console("suites", "aidan-starter").out


def test_show_a_run_and_a_case(console, finished):
    assert "completed" in console("show", finished).out
    assert console("show", "latest", "--json").data["run"] == finished
    case = console("review", finished, "--all", "--json").lines[0]["case"]
    text = console("show", f"{finished}#{case}").out
    assert case in text
    assert "[1.1] user" in text
    shown = console("show", f"latest#{case}", "--json").lines[0]
    assert shown["calls"][0]["messages"]
    assert shown["finished"]["verdict"]["outcome"]


def test_failures_are_grouped(console, finished):
    failed = console("review", finished, "--json").lines
    for by in ("reason", "category", "function", "outcome", "tag", "none"):
        groups = console("failures", finished, "--by", by, "--json").data["groups"]
        assert sum(group["count"] for group in groups) == len(failed)
    messages = console("failures", finished, "--by", "none", "--json").data["groups"][0]["messages"]
    given = {ended["case"]: ended["verdict"].get("messages", [""])[0] for ended in failed}
    assert messages == {case: message for case, message in given.items() if message}
    assert str(len(failed)) in console("failures", finished).out


def test_failures_show_expected_beside_actual_on_request(console, finished):
    assert "coherence: > 15" not in console("failures", "latest").out
    assert "coherence: > 15" in console("failures", "latest", "--diff").out


def test_review_shows_expected_beside_actual(console, finished):
    ended = console("review", finished, "--json")
    assert all(one["outcome"] != "passed" for one in ended.lines)
    assert all(one["comparison"]["pairs"] for one in ended.lines)
    assert ended.lines[0]["case"] in console("review", finished).out


def test_watch_tells_a_finished_run_from_its_start(console, finished):
    ended = console("watch", finished)
    assert ended.code == Exit.OK
    assert len(ended.out.splitlines()) == 3
    kinds = [line["record"]["t"] for line in console("watch", finished, "--json").lines]
    assert kinds[0] == "opened"
    assert kinds[-1] == "closed"
    assert kinds.count("finished") == 3


def test_check_judges_a_line_for_a_line(console, home):
    rows = [{"case": "a", "kind": "coherence", "text": "<coherence_score>87</coherence_score>", "value": 1}]
    (home / "in.jsonl").write_text("\n".join(map(json.dumps, rows * 2)) + "\n")
    with gzip.open(home / "in.jsonl.gz", "wt") as file:
        file.write(json.dumps(rows[0]) + "\n")
    plain = console("check", "aidanbench", "in.jsonl")
    assert plain.code == Exit.OK
    assert [line["case"] for line in plain.lines] == ["a", "a"]
    assert plain.lines[0]["value"] == 87
    assert console("check", "aidanbench", "in.jsonl.gz").lines == plain.lines[:1]


def test_check_reads_stdin(console, monkeypatch):
    import io
    import sys

    line = json.dumps({"case": "x", "kind": "answer", "text": "<answer>yes</answer>"})
    stdin = io.TextIOWrapper(io.BytesIO(line.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert console("check", "aidanbench").lines == [{"case": "x", "value": "yes"}]


def test_doctor_looks_at_everything(console):
    ended = console("doctor", "--json", "--offline")
    areas = {one["area"] for one in ended.data["findings"]}
    assert {"system", "terminal", "models", "data", "runs", "sandbox"} <= areas
    assert all(one["hint"] for one in ended.data["findings"] if one["state"] == "bad")
    assert "✓ python" in console("doctor", "--offline").out


def test_doctor_names_what_is_not_installed(console, home, monkeypatch):
    monkeypatch.setitem(doctor_checks.EXTRAS, "serve", ("no_such_module", "the app in a browser"))
    ended = console("doctor", "--offline", "--data", home / "nothing", "--json")
    assert ended.code == Exit.USAGE, "a folder that is named must be there"
    findings = console("doctor", "--offline", "--json").data["findings"]
    absent = {item["name"]: item["hint"] for item in findings if item["state"] == "absent"}
    assert absent.pop("serve").endswith("pip install -e '.[serve]'")
    official = {item["name"]: item["hint"] for item in findings if item["name"] in absent and item["area"] == "data"}
    assert official == {name: f"eval-console pull {name}" for name in official}
    assert "– serve: not installed" in console("doctor", "--offline").out


def test_help_and_version(console):
    ended = console("--help")
    assert ended.code == 0
    assert "engine" not in ended.out.replace("engine process", "")
    assert console("--version").out.startswith("eval-console ")
    assert "--max-cost" in console("run", "--help").out
    assert "--partial-eval" in console("bfcl", "evaluate", "--help").out


def test_options_may_stand_before_the_verb(console, home):
    (home / "elsewhere").mkdir()
    ended = console("--runs", home / "elsewhere", "runs", "--json")
    assert ended.data["runs"] == []
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--json"]
    assert console("--runs", home / "elsewhere", *line).data["folder"].startswith(str(home / "elsewhere"))


def test_a_matrix_is_one_run_for_each_model_and_suite(console, home):
    line = ["run", "-m", "sim/careful", "-m", "sim/hasty", "-s", "aidan-starter", "-s", "bfcl-starter/simple_python"]
    dry = console(*line, "-n", "1", "--dry-run", "--max-cost", "2")
    assert "together: 4 runs, 4 rollouts" in dry.out
    assert ", each with a cap of $2.00" in dry.out
    ended = console(*line, "-n", "1", "--name", "pair", "--json", "--quiet")
    assert ended.code == Exit.OK
    assert len(ended.lines) == 4
    assert all("-pair-sim-" in one["run"] for one in ended.lines)
    assert {(one["summary"]["model"], one["summary"]["suite"]) for one in ended.lines} == {
        (model, suite) for model in ("sim/careful", "sim/hasty") for suite in ("aidan-starter", "bfcl-starter")
    }


def test_a_preset_is_saved_listed_by_name_and_overridden(console, home):
    saved = console("run", "-m", "sim/careful", "-s", "aidan-starter", "--sample", "3", "--save-preset", "small")
    assert saved.code == Exit.OK
    assert "presets.toml" in saved.err
    assert console("run", "--preset", "small", "--dry-run", "--json").data["cases"] == 3
    assert console("run", "--preset", "small", "-n", "2", "-r", "4", "--dry-run", "--json").data["rollouts"] == 4
    (home / "presets.toml").write_text("[other]\nlimit = many\n")
    damaged = console("run", "--preset", "other")
    assert damaged.code == Exit.USAGE
    assert "presets.toml:2" in damaged.err
    assert console("run", "--preset", "smal").err.count("Did you mean small?") == 1


def test_only_the_failed_cases_of_a_run(console, home):
    first = console("run", "-m", "sim/hasty", "-s", "bfcl-starter/simple_python", "--json", "--quiet").data
    failed = first["summary"]["tally"]["failed"]
    again = console("run", "-m", "sim/careful", "--only-failed-of", "latest", "--json", "--quiet").data
    assert again["summary"]["planned"] == failed > 0
    assert f'"parent":"{first["run"]}"' in (home / "runs" / again["run"] / "run.json").read_text()


def test_the_queue_is_listed_moved_and_cancelled(console, home, monkeypatch):
    from console.engine import runner

    monkeypatch.setattr(runner, "detach", lambda *_: None)
    line = ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--queue", "--json"]
    names = [console(*line).data["run"] for _ in range(3)]
    assert console("queue", "up", names[2]).code == Exit.OK
    listed = console("queue", "--json").data["queue"]
    assert [row["run"] for row in listed] == [names[0], names[2], names[1]]
    assert {row["state"] for row in listed} == {"queued"}
    assert names[2] in console("queue").out
    assert console("queue", "cancel", names[0]).code == Exit.OK
    assert (home / "runs" / ".trash" / names[0]).is_dir()
    again = console("queue", "cancel", names[1], names[1])
    assert again.code == Exit.USAGE
    assert "is not in the queue" in again.err
    assert console("queue", "cancel", "all").code == Exit.OK
    assert console("queue", "--json").data["queue"] == []
    assert "queue is empty" in console("queue", "go").err
    assert console("queue", "up").code == Exit.USAGE


_CODE = re.compile(r"\b[a-z]+_[a-z_]+\b")


def test_a_person_reads_reasons_in_words_and_a_program_codes(console):
    ended = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", 40)
    codes = console("show", "latest", "--json").data["summary"]["reasons"]
    assert any(_CODE.search(code) for code in codes)
    for code, text in itertools.product(codes, (ended.out + ended.err, console("show", "latest").out)):
        assert code not in text
    assert "wrong function" in ended.out
    case = console("review", "latest", "--json").lines[0]
    assert case["verdict"]["reason"] not in console("show", f"latest#{case['case']}").out
