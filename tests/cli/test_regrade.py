"""`regrade` at the command line: flips, ranks and noise, and what other verbs say when graders differ."""

import json

import pytest

STRICT = ("--option", 'thresholds={"coherence_score": 90}')


@pytest.fixture
def pair(console) -> list[str]:
    """Two models' loops, the better one first."""
    options = ("-s", "aidan-starter", "-n", "6", "--json", "--quiet")
    return [console("run", "-m", f"sim/{name}", *options).data["run"] for name in ("careful", "hasty")]


def test_flips_and_ranks_are_shown_and_others_say_how_to_grade_alike(console, pair):
    graded = console("regrade", *pair, *STRICT)
    words = " ".join(graded.out.split())
    assert "no calls were made coherence_score 15 → 90" in words
    assert "passed → failed lost coherence causes" in words
    assert "model aidanbench_score before rank after rank sim/careful 12.5 1 .67 1 sim/hasty 3.3 2 .33 2" in words
    again = console("regrade", pair[1], *STRICT, "--json", "--quiet").data
    flipped = sum(int(flip["count"]) for flip in again["flips"])
    assert (flipped > 0, flipped + again["unchanged"], again["calls"]) == (True, 6, 0)
    for command in (("compare", pair[0], again["run"]), ("trends",)):
        shown = " ".join(console(*command).out.split())
        assert "graded differently: coherence_score 15 → 90; `eval-console regrade" in shown, command


def test_the_leaderboard_says_when_its_rows_were_graded_differently(console, pair):
    console("regrade", pair[1], *STRICT, "--quiet")
    shown = " ".join(console("leaderboard").out.split())
    assert "graded differently: coherence_score 15 → 90; `eval-console regrade" in shown


def test_shards_that_were_graded_differently_are_not_merged(console, pair):
    shards = ("-m", "sim/hasty", "-s", "aidan-starter", "-n", "6", "--json", "--quiet")
    one, other = (console("run", *shards, "--shard", f"{number}/2").data["run"] for number in (1, 2))
    strict = console("regrade", other, *STRICT, "--json", "--quiet").data["run"]
    refused = console("merge", one, strict)
    assert refused.code == 2
    assert "grade" in refused.err


def test_a_judge_that_errs_is_measured_by_grading_again(console, home):
    (home / "models.toml").write_text('["rash"]\nmodel_id = "hasty"\nprovider = "simulated"\n')
    options = ("--judge", "rash", "--models", home / "models.toml", "--json", "--quiet")
    run = console("run", "-m", "sim/careful", "-s", "dialogue-starter", *options).data["run"]
    shown = " ".join(console("regrade", run, "-r", "4", "--models", home / "models.toml").out.split())
    assert "variance of a grade: cases" in shown
    assert "two gradings of the same answers must differ by" in shown
    assert "with 4 repeats by" in shown


def test_an_answer_that_is_missing_from_the_journal_breaks_its_case_alone(console, pair, home):
    journal = home / "runs" / pair[1] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    asked = next(n for n, line in enumerate(lines) if b'"t":"asked"' in line and b'"role":"judge"' not in line)
    case = json.loads(lines[asked])["key"][0]
    journal.write_bytes(b"".join(lines[:asked] + lines[asked + 1 :]))
    again = console("regrade", pair[1], "--json", "--quiet")
    assert again.code == 3
    rollouts = console("export", again.data["run"], "--format", "json").data["rollouts"]
    broken = {each["case"]: each for each in rollouts if each["outcome"] == "broken"}
    assert set(broken) == {case}
    assert broken[case]["reason"] == "unanswered"
    assert (again.data["calls"], again.data["unchanged"]) == (0, 5)
