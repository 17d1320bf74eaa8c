"""Verdict on one pair: the first answer passes if it is not worse than the second."""

from typing import Any

import msgspec

from console.core.case import Case
from console.core.outcome import Outcome, Verdict
from console.core.ready_type import ready_type
from console.suites.judging.rubric import CHOSE_FIRST, TIED, Judgement, Rubric, scores_of

NO_TEXT = "(no text)"
RUBRIC = "The better answer does what the user asked: it is correct, complete, clear, and no longer than needed."


def rubric_of(case: Case, words: str) -> Rubric:
    """Return the judge's question about a pair."""
    return Rubric(words, against=case.data["answers"][1] or NO_TEXT)


def judgement_of(output: Any) -> Judgement | None:
    """Return an output as a judgement, or None if it is not one."""
    try:
        return msgspec.convert(output, ready_type(Judgement))
    except msgspec.ValidationError:
        return None


def score(case: Case, output: Any, words: str) -> Verdict:
    """Return the verdict on a judged pair; the win rate counts only for pairs of the first run."""
    judgement = judgement_of(output)
    if judgement is None or not judgement.grades:
        problem = judgement.problem if judgement is not None else "the output is not a judgment"
        return Verdict(Outcome.UNDECIDED, "judge_unreadable", messages=(problem,))
    [grade] = judgement.grades
    scores = scores_of(judgement.grades, rubric_of(case, words))
    if not grade.votes:  # equal answers, for which no judge was asked
        del scores[CHOSE_FIRST]
    first, _ = case.data["pair"]
    if first:  # with several runs, the win rate is that of the first one
        scores = {name: value for name, value in scores.items() if name == CHOSE_FIRST}
    detail = {
        "pair": case.data["pair"],
        "won": grade.grade,
        "lengths": [len(answer) for answer in case.data["answers"]],
        "cluster": case.cluster,
    }
    messages = tuple(filter(None, (grade.why,)))
    if grade.grade >= TIED:
        return Verdict(Outcome.PASSED, messages=messages, scores=scores, detail=detail)
    return Verdict(Outcome.FAILED, "worse_answer", messages=messages, scores=scores, detail=detail)
