"""Answers and keys of a suite's runs, as the search for suspect ground truths compares them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.exchange.run_reader import RunReader
from console.insight.comparison_side import case_digest
from console.insight.conversation import actual_text
from console.insight.suspects import GivenAnswer
from console.store.runs import RunFolder
from console.suites.run_suite import open_run_suite

_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class SuiteAnswers:
    """Graded answers of several runs. Texts are foreign."""

    runs: dict[str, RunFolder] = field(default_factory=dict[str, RunFolder])
    """By model."""
    by_case: dict[str, dict[str, GivenAnswer]] = field(default_factory=dict[str, dict[str, GivenAnswer]])
    """By case and model."""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    prompts: dict[str, str] = field(default_factory=dict[str, str])
    digests: dict[str, str] = field(default_factory=dict[str, str])

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
        for (case, rollout), played in reader.side.rollouts.items():
            if rollout or not played.graded or played.outcome not in (Outcome.PASSED, Outcome.FAILED):
                continue
            conversation = reader.conversation(played.key)
            comparison = suite.compare(conversation.case, conversation.finished)
            given = GivenAnswer(played.outcome is Outcome.PASSED, _answer(comparison, actual_text(conversation)))
            answers.by_case.setdefault(case, {})[model] = given
            if case not in answers.keys:
                answers.keys[case] = _key(comparison)
                answers.prompts[case] = conversation.case.title if conversation.case is not None else ""
                answers.digests[case] = case_digest(conversation.case) if conversation.case is not None else ""
    return answers


def _answer(comparison: Comparison | None, text: str) -> str:
    """Return an answer in a form that is equal for answers that the grader holds equal."""
    if comparison is None or not comparison.pairs:
        return plain(text)
    parts: list[str] = []
    for pair in comparison.pairs:
        if not pair.actual:
            continue
        rows = sorted(f"{row.name}={plain(row.actual)}" for row in pair.rows if row.actual is not None)
        parts.append(f"{plain(pair.actual)}({', '.join(rows)})" if rows else plain(pair.actual))
    return "; ".join(parts) or plain(text)


def _key(comparison: Comparison | None) -> str:
    parts: list[str] = []
    for pair in comparison.pairs if comparison is not None else ():
        if pair.expected:
            rows = (f"{row.name}={' | '.join(row.expected)}" for row in pair.rows if row.expected)
            shown = ", ".join(rows)
            parts.append(f"{pair.expected}({shown})" if shown else pair.expected)
    return "; ".join(parts)


def plain(text: str) -> str:
    """Return a text without differences of case and white space."""
    return _SPACE.sub(" ", text).strip().casefold()
