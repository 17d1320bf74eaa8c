"""Choices, judges' replies, points and code: our verdicts against recorded ones of Inspect and lm_eval, 500 each.

The texts are ours. Where both read a verdict, it is the same; the patterns list all texts that only one of them reads.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.dialogue.rules.code_tests import code_in
from console.benchmarks.dialogue.rules.letter_choice import BRIER, check_by_logprob, letter_probabilities
from console.benchmarks.dialogue.rules.row import Choice
from console.benchmarks.dialogue.rules.text_checks import letter_in
from console.core.chat import TokenLogprob
from console.suites.judging.judge import category_in
from console.suites.judging.rubric import Criterion, Grade, Rubric, weighted_mean
from console.testing.stage import MemoryStage

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded_verdicts.json").read_text(encoding="utf-8"))
ONLY_OURS = {
    "letters by inspect_ai": [
        r"\(?[A-D][.)]*( \w+)?|\*\*[A-D]\*\*|\\boxed\{.\}",  # theirs needs the word ANSWER
        r"(Option|The answer is|The correct answer is|I choose|Final answer:) .*",
        r"ANSWER: [A-D] [A-Z].*|ANSWER: [A-D], because .*",  # theirs takes all that follows for the answer
        r"ANSWER: E",  # not among the choices, so wrong either way
    ],
    "letters by lm_eval": [
        r"[A-D]\.?|\*\*[A-D]\*\*|\\boxed\{.\}",  # theirs needs a colon, parentheses, or the text of a choice
        r"(Option|The answer is|I choose) .*",
        r"(?i)(.*\n)*\**answer ?:\s?[$*]*[a-e][$*.]*",
    ],
    "grades by inspect_ai": [r"[CPI]"],  # the grade alone
    "simpleqa by inspect_evals": [],
}
ONLY_THEIRS = {
    "letters by inspect_ai": [],
    "letters by lm_eval": [r"ANSWER: [A-D](, )?[A-D]", r"Lisbon|Vienna|Oslo|Rome"],  # the first of two; the text alone
    "grades by inspect_ai": [r"GRADE: (Correct|Partial|Incorrect)"],  # we compare with the names that were asked for
    "simpleqa by inspect_evals": [
        r"[ABC], because .*|[ABC] rather than [ABC]\.|.* So [ABC]\.|The grade is [ABC]\.|No Answer [ABC]",
        # above: within a sentence
        r"|CORRECT|INCORRECT|NOT_ATTEMPTED|[A-Z][a-z ]+\.",  # no grade counts as C there; we ask again
    ],
}


def kinds_of(patterns: list[str], text: str) -> bool:
    return any(re.fullmatch(pattern, text) for pattern in patterns)


@pytest.mark.parametrize("source", sorted(ONLY_OURS))
def test_what_both_read_is_the_same_and_the_rest_is_listed(source: str) -> None:
    texts = RECORDED[source.partition(" by ")[0]]
    wrong = list[tuple[str, str, str]]()
    for text, theirs in zip(texts, RECORDED[source], strict=True):
        if source.startswith("letters"):
            ours = letter_in(text) or "-"
        else:
            ours = category_in(text, "CPI" if source.startswith("grades") else "ABC") or "-"
        is_listed = kinds_of(ONLY_OURS[source] if theirs == "-" else ONLY_THEIRS[source] if ours == "-" else [], text)
        if ours != theirs and not is_listed:
            wrong.append((text, ours, theirs))
    assert wrong == []


def test_the_most_probable_letter_and_its_brier_score_are_those_of_lm_eval() -> None:
    right = f"{int(RECORDED['right by lm_eval'], 16):0500b}"
    rows = zip(RECORDED["logprobs"], right, RECORDED["brier by lm_eval"], strict=True)
    for (logprobs, gold), theirs, brier in rows:
        top = tuple(zip(("A", " B", "C", "D"), logprobs, strict=True))
        finding = check_by_logprob(
            Choice("ABCD"[gold], "logprob"), letter_probabilities([TokenLogprob("A", logprobs[0], top)], 4)
        )
        assert (finding.holds, finding.scores[BRIER]) == (theirs == "1", pytest.approx(brier, abs=1e-8))


def test_letters_of_a_real_model_are_chosen_as_by_lm_eval() -> None:
    """Recorded: SmolLM2-135M-Instruct on llama.cpp, 50 questions of ours in 4 forms, 24 tokens of each answer.

    A line has the tokens, the top 20 of the first, and the log probabilities of A to D that lm_eval 0.4.13 judged by.
    """
    lines = (Path(__file__).parent / "letters_of_a_real_model.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 200
    for line in lines:
        texts, top, theirs = json.loads(line)
        first = TokenLogprob(texts[0], top[texts[0]], tuple(top.items()))
        ours = letter_probabilities([first, *(TokenLogprob(text, -0.1) for text in texts[1:])], 4)
        total = sum(map(math.exp, theirs))
        expected = {letter: math.exp(number) / total for letter, number in zip("ABCD", theirs, strict=True)}
        assert max(ours, key=ours.__getitem__) == max(expected, key=expected.__getitem__), line
        assert ours == pytest.approx(expected, abs=1e-3)


def test_points_are_those_of_healthbench() -> None:
    for items, theirs in zip(RECORDED["points"], RECORDED["points by inspect_evals"], strict=True):
        criteria = [Criterion(f"{place}", weight=points) for place, (points, _) in enumerate(items)]
        grades = [Grade(f"{place}", float(is_met)) for place, (_, is_met) in enumerate(items)]
        ours = weighted_mean(grades, Rubric(criteria=criteria, scale=[0.0, 1.0], clip=False))
        assert ours == pytest.approx(theirs, abs=1e-8)


def answer_of(name: str, number: int, form: int) -> str:
    code = RECORDED["functions"][name]["codes"][number]
    text = RECORDED["forms"][form].replace("§", code).replace("¤", code.rstrip())
    return text.replace("¢", code.replace("\n", "\r\n"))


def test_code_is_found_in_every_form_of_answer() -> None:
    forms = [form for form, text in enumerate(RECORDED["forms"]) if "```" in text]
    assert len(forms) > 12
    for name, number, form in RECORDED["answers"]:
        code = RECORDED["functions"][name]["codes"][number]
        if form in forms:
            assert code_in(answer_of(name, number, form)).replace("\r", "").strip() == code.strip()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_code_passes_where_it_passes_in_inspect() -> None:
    passed = f"{int(RECORDED['passed by inspect_evals'], 16):0500b}"
    ours, wrong = dict[tuple[str, str], bool](), dict[str, set[str]]()
    for (name, number, form), theirs in zip(RECORDED["answers"], passed, strict=True):
        code = code_in(answer_of(name, number, form)).replace("\r", "").strip()
        if (name, code) not in ours:
            tests = "\n".join(RECORDED["functions"][name]["tests"])
            result = await MemoryStage("case").run_code(code, tests=tests, timeout=5, stdin="")
            ours[name, code] = result.passed
        if ours[name, code] != (theirs == "1"):
            wrong.setdefault(code, set()).add(RECORDED["forms"][form])
    assert wrong.pop("import sys\nsys.exit(0)"), "theirs takes code that ends with status 0 before its tests for right"
    assert {form for forms in wrong.values() for form in forms} == {"  ```python\n§  ```"}, "an indented closing fence"
