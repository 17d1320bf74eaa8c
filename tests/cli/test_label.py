"""People beside judges: the blind queue, the corrected score, a second reader, settling, export and import."""

import io
import json
import re
import sys
from functools import partial

import pytest

from console.core.annotation import NO_ANNOTATION


@pytest.fixture
def judged(console) -> str:
    ended = console("run", "-m", "sim/hasty", "-s", "dialogue-starter", "--json", "--quiet")
    return ended.data["run"]


@pytest.fixture
def label_run(console, monkeypatch):
    def label(run: str, keys: str, *options: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(keys.split(" ")).replace("_", " ") + "\n"))
        return console("label", run, *options)

    return label


@pytest.fixture
def label(judged, label_run):
    return partial(label_run, judged)


def lines(console, run, home):
    console("labels", run, "--export", str(home / "out.jsonl"))
    return [json.loads(line) for line in (home / "out.jsonl").read_text().splitlines()]


def test_verdicts_stay_hidden_and_the_score_is_corrected(console, judged, label, home):
    ended = label(" ".join("pf" * 10), "--reader", "ann", "--blind")
    assert "the judge: " not in ended.out
    assert "20 labeled · judge alone .448 · corrected" in " ".join(ended.out.split())
    written = lines(console, judged, home)
    assert len(written) == 20
    assert {line["reader"] for line in written} == {"ann"}
    assert all(line["blind"] and line["grader"] for line in written)
    shown = console("show", judged, "--json").data
    assert shown["summary"]["tally"]["passed"] == 13  # no score has changed
    for form in ("markdown", "html"):
        assert console("export", judged, "--format", form, "-o", str(home / form)).code == 0
        assert "corrected by people" in (home / form).read_text()
    export = console("export", judged, "--format", "csv").out
    assert sum("ann passed" in line or "ann failed" in line for line in export.splitlines()) == 20


def test_back_takes_the_last_label_back_and_a_remark_is_kept(console, judged, label, home):
    label("p b f q", "--reader", "ann")
    (only,) = lines(console, judged, home)
    assert only["verdict"] == "failed"


def test_a_second_reader_gets_the_same_answers_and_disagreements_are_settled(console, judged, label, home):
    label("p p p p p p q", "--reader", "ann")
    label("p p f f p p q", "--reader", "bea")
    written = lines(console, judged, home)
    in_time = sorted(written, key=lambda line: line["at"])
    of = {who: [line["case"] for line in in_time if line["reader"] == who] for who in ("ann", "bea")}
    assert set(of["ann"]) == set(of["bea"])
    assert of["ann"] != of["bea"]
    ended = console("labels", judged)
    assert "readers disagree about 2 answers" in ended.out
    label("p f", "--reader", "cem", "--settle")
    assert "readers disagree" not in console("labels", judged).out
    settled = [line for line in lines(console, judged, home) if line.get("settled")]
    assert sorted(line["verdict"] for line in settled) == ["failed", "passed"]


def test_single_answers_of_loops_are_labeled_round_by_round(console, label_run, home):
    loops = console("run", "-m", "sim/hasty", "-s", "aidan-starter", "-n", "12", "--json", "--quiet").data["run"]
    ended = label_run(loops, " ".join("f" * 60), "--reader", "ann")
    shown = re.findall(r"answer of round \d+ to (.+)\n(.+)\n", ended.out)
    assert len(set(shown)) == len(shown)
    assert not any("answer>" in answer for _, answer in shown)
    written = lines(console, loops, home)
    rounds = {(line["case"], line["round"]) for line in written}
    assert len(rounds) == len(written) > len(shown)  # what a loop repeats is shown once, and labeled in all rounds
    assert f"{len(written)} rounds labeled · judge alone" in " ".join(ended.out.split())
    assert {line["round"] for line in written} > {1}
    shown = console("show", loops, "--json").data
    assert shown["corrected"]["as_graded"] is None  # the score is a mean of accepted answers
    people = console("labels", loops, "--json").data["people"]
    assert console("export", loops, "--format", "json").data["judging"]["people"] == people
    assert (people["of_rounds"], people["labeled"]) == (True, len(written))
    assert sum(part["judged"] for part in people["confusion"]) == shown["summary"]["tally"]["calls"] // 2
    disagreed = console("failures", loops, "--filter", "is:passed judge:disagrees", "--json").out
    assert any(line["case"] in disagreed for line in written)
    label_run(loops, "p f p q", "--reader", "bea")
    again = lines(console, loops, home)
    assert {(it["case"], it["round"]) for it in again if it["reader"] == "bea"} < {
        (it["case"], it["round"]) for it in written
    }
    other = console("regrade", loops, "--judge", "sim/judge", "--json", "--quiet").data["people"]
    assert [each["labeled"] for each in other] == [people["labeled"] - other[0]["unsettled"]] * 2
    bad = home / "bad.jsonl"
    bad.write_text(json.dumps({**written[0], "round": 99}) + "\n")
    assert "has no judged round 99" in console("labels", loops, "--import", str(bad)).err


def test_each_criterion_is_graded_and_the_judge_is_measured_on_it(console, judged, label, home):
    first = {"case": "explain-tide", "rollout": 1, "reader": "bea", "verdict": "failed", "grades": {"true": 5}}
    (home / "in.jsonl").write_text(json.dumps(first) + "\n")
    assert console("labels", judged, "--import", str(home / "in.jsonl")).code == 0
    label("5 3 b 2 c_quite_dry 4 q", "--reader", "ann")
    (_, own) = lines(console, judged, home)
    assert own["grades"] == {"true": 5, "simple": 2, "kind": 4}
    assert own["verdict"] == "failed"
    assert "true: judge and people agree on 1 of 1" in console("labels", judged).out
    criteria = console("labels", judged, "--json").data["people"]["criteria"]
    assert {each["name"] for each in criteria} == {"true", "simple", "kind"}
    (home / "in.jsonl").write_text(json.dumps({**first, "grades": {"true": 6}}) + "\n")
    assert "not from 1 to 5" in console("labels", judged, "--import", str(home / "in.jsonl")).err


def test_labels_made_elsewhere_are_read_and_listed_by_the_filter(console, judged, home):
    cases = console("review", judged, "--all", "--json").lines
    passed = next(case["case"] for case in cases if case["outcome"] == "passed")
    line = {"case": passed, "rollout": 1, "reader": "dan", "verdict": "failed"}
    (home / "in.jsonl").write_text(json.dumps(line) + "\n")
    assert console("labels", judged, "--import", str(home / "in.jsonl")).code == 0
    listed = console("failures", judged, "--filter", "is:passed judge:disagrees", "--json").out
    assert passed in listed
    assert NO_ANNOTATION.people is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "in.jsonl:1"),
        ('{"case": "nobody", "rollout": 1, "reader": "a", "verdict": "passed"}', "no rollout 1 of 'nobody'"),
        ('{"case": "knots", "rollout": 1, "reader": "a", "verdict": "good"}', "passed, failed, unclear"),
    ],
)
def test_bad_lines_are_refused_and_nothing_is_written(console, judged, home, line, words):
    (home / "in.jsonl").write_text(line + "\n")
    ended = console("labels", judged, "--import", str(home / "in.jsonl"))
    assert ended.code == 2
    assert words in ended.err
    assert lines(console, judged, home) == []


def test_another_judge_is_measured_against_the_labels_at_once(console, judged, label):
    label(" ".join("pf" * 12), "--reader", "ann", "--blind")
    ended = console("regrade", judged, "--judge", "sim/judge")
    said = " ".join(ended.out.split())
    assert "old grading agrees with people on" in said
    assert "new grading agrees with people on" in said
    people = console("regrade", judged, "--judge", "sim/judge", "--json").data["people"]
    assert [each["labeled"] for each in people] == [24, 24]
