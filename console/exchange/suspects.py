"""Answers and keys of a suite's runs, for the search for suspect ground truths, and decisions on keys."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console.config.paths import find_data_roots
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.exchange.run_reader import RunReader
from console.insight.comparison_side import case_digest
from console.insight.conversation import Conversation, actual_text
from console.insight.rollout import Rollout
from console.insight.suspects import GivenAnswer, ThreeScores, three_scores
from console.store.errata import AMBIGUOUS, RIGHT, WRONG, Erratum, errata_path
from console.store.notes import Notes, user_name
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite
from console.suites.stage import repeat_prefix

_NO_CALLS = ("answer", "judge", "result")
"""Kinds of pairs whose rows are not arguments."""
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class SuiteAnswers:
    """Graded answers of several runs. Texts are untrusted."""

    runs: dict[str, RunFolder] = field(default_factory=dict[str, RunFolder])
    """The run read for each model."""
    by_case: dict[str, dict[str, GivenAnswer]] = field(default_factory=dict[str, dict[str, GivenAnswer]])
    """Answers by case and model."""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    prompts: dict[str, str] = field(default_factory=dict[str, str])
    digests: dict[str, str] = field(default_factory=dict[str, str])
    doubts: dict[str, str] = field(default_factory=dict[str, str])
    """Reasons, other than its answers, to doubt a case; by case."""

    def mark(self, case: str) -> str:
        """Return the reason for doubting a case in a few words; empty if there is none."""
        return self.doubts.get(case, "").partition(":")[0]

    def of_model(self, model: str) -> dict[str, GivenAnswer]:
        """Return the answers of one model by case."""
        return {case: given[model] for case, given in self.by_case.items() if model in given}


def read_answers(runs: Sequence[RunFolder], data: Path | None) -> SuiteAnswers:
    """Read the first rollout of each case of several runs, of which the first of each model counts.

    Raises:
        UsageError: a folder is not a run.
    """
    answers = SuiteAnswers()
    for folder in runs:
        reader = RunReader(folder)
        model = reader.manifest.model.name
        if model in answers.runs:
            continue
        answers.runs[model] = folder
        suite = open_run_suite(reader.manifest, data)
        for (case, _), annotation in Notes(folder.path).annotations().items():
            if annotation.dispute:
                answers.doubts[case] = "disputed"
        for case in _graded_both_ways(reader):
            answers.doubts.setdefault(case, "judge contradicts itself")
        for (case, rollout), played in reader.side.rollouts.items():
            if rollout or not played.graded or played.outcome not in (Outcome.PASSED, Outcome.FAILED):
                continue
            conversation = reader.conversation(played.key)
            answers.by_case.setdefault(case, {})[model] = given_answer(suite, conversation, played)
            if case not in answers.keys:
                key = expected_lines(suite.compare(conversation.case, conversation.finished))
                answers.keys[case] = "; ".join(key)
                answers.prompts[case] = conversation.case.title if conversation.case is not None else ""
                answers.digests[case] = case_digest(conversation.case) if conversation.case is not None else ""
                if why := suite.contradiction(conversation.case):
                    answers.doubts[case] = f"known defect: {why}"
    return answers


def given_answer(suite: RunSuite, conversation: Conversation, played: Rollout) -> GivenAnswer:
    """Return the answer to a case in a normal form, which is equal for answers that the grader treats as equal."""
    comparison = suite.compare(conversation.case, conversation.finished)
    return GivenAnswer(played.outcome is Outcome.PASSED, _answer(comparison, actual_text(conversation)))


def _graded_both_ways(reader: RunReader) -> set[str]:
    """Return the cases with an answer that the judge both passed and failed."""
    repeats = reader.manifest.judge_repeats
    outcomes: dict[tuple[str, int], set[Outcome]] = {}
    for (case, rollout), played in reader.side.rollouts.items() if repeats > 1 else ():
        if played.outcome is not None and played.outcome.is_graded:
            outcomes.setdefault((case, rollout // repeats), set()).add(played.outcome)
    both = {case for (case, _), graded in outcomes.items() if len(graded) > 1}
    return both | {case for (case, _), played in reader.side.rollouts.items() if _contradicts_itself(played)}


def _contradicts_itself(played: Rollout) -> bool:
    """Return whether the judge, when asked again about an answer, decided differently."""
    for name, track in played.tracks.items():
        again = played.tracks.get(f"{repeat_prefix(2)}{name}")
        limit = track.threshold or 0.0
        for first, second in zip(track.values, again.values if again is not None else (), strict=False):
            if first is not None and second is not None and (first >= limit) is not (second >= limit):
                return True
    return False


def _answer(comparison: Comparison | None, text: str) -> str:
    if comparison is None or not comparison.pairs:
        return plain(text)
    parts: list[str] = []
    for pair in comparison.pairs:
        if not pair.actual:
            continue
        rows = sorted(f"{row.name}={plain(row.actual)}" for row in pair.rows if row.actual is not None)
        parts.append(f"{plain(pair.actual)}({', '.join(rows)})" if rows else plain(pair.actual))
    return "; ".join(parts) or plain(text)


def expected_lines(comparison: Comparison | None) -> list[str]:
    """Return the expected answer, calls with their arguments. Untrusted text."""
    parts: list[str] = []
    for pair in comparison.expectations if comparison is not None else ():
        if pair.expected:
            rows = [f"{row.name}={' | '.join(row.expected)}" for row in pair.rows if row.expected]
            is_call = rows and pair.kind not in _NO_CALLS
            parts.append(f"{pair.expected}({', '.join(rows)})" if is_call else pair.expected)
    return parts


def errata_file(data: Path | None, suite: str) -> Path:
    """Return the file with the errata of a suite, in the user's data folder."""
    roots = find_data_roots(data)
    return errata_path(roots.user[0] if roots.user else Path("data"), suite)


def decision_on(
    answers: SuiteAnswers, case: str, decision: str, *, answer: str = "", reason: str = "", reader: str = ""
) -> Erratum:
    """Return a reader's decision on the key of a case, signed and dated; the right answer of a wrong key may be given.

    Raises:
        KeyError: no run has the case.
    """
    date = time.strftime("%Y-%m-%d", time.gmtime())
    right = plain(answer) if decision == WRONG else ""
    return Erratum(case, answers.digests[case], decision, reader or user_name(), date, reason, right)


def valid_errata(answers: SuiteAnswers, errata: Mapping[str, Erratum]) -> dict[str, Erratum]:
    """Return the errata of cases that have not changed since."""
    digests = answers.digests
    return {case: each for case, each in errata.items() if digests.get(case, each.digest) == each.digest}


def scores_of_models(answers: SuiteAnswers, errata: Mapping[str, Erratum]) -> dict[str, ThreeScores]:
    """Return the three scores of each model."""
    valid = valid_errata(answers, errata)
    wrong = {case: each.answer for case, each in valid.items() if each.decision == WRONG}
    ambiguous = frozenset(case for case, each in valid.items() if each.decision == AMBIGUOUS)
    return {model: three_scores(answers.of_model(model), wrong, ambiguous) for model in answers.runs}


def plain(text: str) -> str:
    """Return a text with case and whitespace normalized."""
    return _SPACE.sub(" ", text).strip().casefold()


def errata_markdown(suite: str, answers: SuiteAnswers, errata: Mapping[str, Erratum]) -> str:
    """Return wrong and ambiguous keys as the text of an upstream issue."""
    parts = [f"# Ground truths of {suite}\n"]
    for case, erratum in sorted(errata.items()):
        if erratum.decision == RIGHT:
            continue
        given = answers.by_case.get(case, {})
        answers_of_models = "\n".join(f"    {model}: {answer.answer}" for model, answer in sorted(given.items()))
        parts.append(
            f"## {case}: {erratum.decision}\n\nPrompt:\n\n    {answers.prompts.get(case, '')}\n\nKey:\n\n"
            f"    {answers.keys.get(case, '')}\n\nAnswers:\n\n{answers_of_models}\n"
            + (f"\nRight:\n\n    {erratum.answer}\n" if erratum.answer else "")
            + (f"\n{erratum.reason}\n" if erratum.reason else "")
            + f"\n({erratum.reader}, {erratum.date})\n"
        )
    return "\n".join(parts)
