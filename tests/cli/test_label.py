"""People beside judges: the blind queue, the corrected score, a second reader, settling, export and import."""

import io
import json
import sys

import pytest

from console.core.annotation import NO_ANNOTATION


@pytest.fixture
def judged(console) -> str:
    ended = console("run", "-m", "sim/hasty", "-s", "dialogue-starter", "--json", "--quiet")
    return ended.data["run"]


@pytest.fixture
def label(console, judged, monkeypatch):
    def run(keys: str, *options: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(keys.split(" ")) + "\n"))
        return console("label", judged, *options)

    return run


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
