"""Pulling: sources are read, never run; what is not the pinned text is kept but not called comparable."""

import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.aidanbench.conversation.wording import OURS, read_wording
from console.benchmarks.aidanbench.data.pull import changed_texts, pull
from console.benchmarks.aidanbench.data.source import Source
from console.benchmarks.aidanbench.suite import AidanBenchSuite
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.pull import Pull
from console.suites.selection import select_cases

PROMPTS = """
raise SystemExit("run")

def gen_answer(question, previous_answers, cot=False):
    base_prompt = "Q <question>" + question + "</question>\\n"
    if cot:
        base_prompt += "think"
    base_prompt += "One {brace}.\\n"
    if previous_answers:
        previous_answers_str = "x".join([f"<{a}>" for a in previous_answers])
        base_prompt += ("Not these:" "\\n" + previous_answers_str + "\\nend")
    return base_prompt

def judge_answer(question, answer):
    prompt = "Judge " + question + ": " + answer
    return prompt

async def judge_similarity(question, answer1, answer2):
    prompt = f"Compare {question}: {answer1} / {answer2}"
"""
ENVIRONMENT = """
def _build_prompt(question, prev_answers):
    base_prompt = "Q <question>" + question + "</question>\\n"
    if prev_answers:
        prev_str = "a"
        base_prompt += "ANEW\\n" + prev_str
    return base_prompt
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "benchmark").mkdir(parents=True)
    (folder / "benchmark" / "prompts.py").write_text(PROMPTS)
    (folder / "benchmark" / "question_list.py").write_text('questions = [\n "One?",\n "Two?" ]\n')
    return folder


def test_a_checkout_becomes_a_suite_that_tells_its_wording(tmp_path: Path, checkout: Path) -> None:
    said: list[str] = []
    folder = pull(Pull(tmp_path / "data", said.append, checkout, accepts_digest=True))
    suite = AidanBenchSuite(read_entry(folder, "pulled"))
    cases = select_cases(suite, Selection(), Setting())
    assert [(case.id, case.title) for case in cases] == [("q01", "One?"), ("q02", "Two?")]
    assert cases[0].data["wording"]["name"] == OURS.name
    assert (
        select_cases(suite, Selection(), Setting(options={"protocol": "original"}))[0].data["wording"]["name"]
        == "changed"
    )
    assert not suite.entry.comparable
    assert sum(line.startswith("accepted despite a digest mismatch") for line in said) == 5, (
        "the questions, four prompts"
    )
    wording = read_wording(folder)
    assert wording.first == "Q <question>{question}</question>\nOne {brace}.\n"
    assert wording.followup_original == "Not these:\n{previous_answers}\nend"
    assert wording.similarity == "Compare {question}: {answer1} / {answer2}"
    assert wording.followup_environment == OURS.followup_environment


def test_the_environments_followup_is_taken_when_its_source_is_there(tmp_path: Path, checkout: Path) -> None:
    (checkout / "environments" / "aidanbench").mkdir(parents=True)
    (checkout / "environments" / "aidanbench" / "aidanbench.py").write_text(ENVIRONMENT)
    wording = read_wording(pull(Pull(tmp_path / "data", lambda line: None, checkout, accepts_digest=True)))
    assert wording.followup_environment == "ANEW\n{previous_answers}"
    assert wording.name_for("environment") == "changed"


def test_our_wording_is_not_the_official_one() -> None:
    assert len(changed_texts(OURS)) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def gen_answer(: pass", "not Python"),
        ("x = 1", "no function"),
        ("def gen_answer():\n    pass", "does not build"),
        ("def gen_answer():\n    base_prompt = open('x').read()", "unsupported way"),
        ("def gen_answer(name):\n    base_prompt = 'a' + name", "unsupported way"),
        ("def gen_answer(question):\n    base_prompt = f'{question!r}'", "unsupported way"),
    ],
)
def test_sources_that_are_not_understood_are_refused(tmp_path: Path, checkout: Path, text: str, message: str) -> None:
    (checkout / "benchmark" / "prompts.py").write_text(text)
    with pytest.raises(UsageError, match=message):
        pull(Pull(tmp_path / "data", lambda line: None, checkout, accepts_digest=True))


@pytest.mark.parametrize("text", ["questions = []", "questions = [1]", "questions = load()", "other = ['a']"])
def test_question_lists_hold_literal_texts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.py"
    path.write_text(text)
    with pytest.raises(UsageError, match="no list of strings"):
        Source(path).texts("questions")


def test_a_failed_pull_leaves_the_old_one_alone(tmp_path: Path, checkout: Path) -> None:
    folder = pull(Pull(tmp_path / "data", lambda line: None, checkout, accepts_digest=True))
    before = (folder / "suite.toml").read_text()
    with pytest.raises(UsageError, match=r"contains no benchmark/question_list\.py"):
        pull(Pull(tmp_path / "data", lambda line: None, tmp_path / "data"))
    assert (folder / "suite.toml").read_text() == before
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["aidanbench"]


def test_without_network_the_other_way_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(opener: object, address: str, **_: Any) -> None:
        raise urllib.error.URLError(f"no route to {address}")

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", refuse)
    with pytest.raises(UsageError, match="--from PATH"):
        pull(Pull(tmp_path / "data", lambda line: None))
