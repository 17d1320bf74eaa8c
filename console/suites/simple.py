"""`SimpleSuite`: a base class for user-written suites, with defaults for everything except cases, play and score."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome, Verdict
from console.suites.metrics import rate_metric, score_metrics
from console.suites.modes import NATIVE
from console.suites.returned import checked_cases
from console.suites.suite import Category, Metric, Mode, Report, Result, Suite

UNNAMED = "wrong_answer"
"""Reason of a failure that the suite does not name."""
UNKNOWN = "no_grade"
"""Reason of an undecided case that the suite does not name."""


def verdict(
    passed: bool | None,
    *,
    reason: str = "",
    expected: Any = None,
    actual: Any = None,
    messages: Sequence[str] = (),
    scores: dict[str, float] | None = None,
) -> Verdict:
    """Create a verdict.

    Args:
        passed: the outcome; None if undecided, because no grade could be determined.
        reason: cause in a word or two if it has not passed, used to group failures.
        expected: the expected answer, shown in Review.
        actual: the actual answer.
        messages: explanations in sentences.
        scores: named numbers; the report shows their means.
    """
    detail = {name: value for name, value in (("expected", expected), ("actual", actual)) if value is not None}
    outcome = Outcome.UNDECIDED if passed is None else Outcome.PASSED if passed else Outcome.FAILED
    why = None if passed else reason or (UNKNOWN if passed is None else UNNAMED)
    return Verdict(outcome, why, messages=tuple(messages), scores=dict(scores or {}), detail=detail)


class SimpleSuite(Suite):
    """Base class for suites that define `cases`, `play` and `score`; override other methods as needed."""

    needs_roles: tuple[str, ...] = ()
    """Roles other than `model`, such as `judge`, or `user` for a simulated user."""

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        return self.needs_roles

    def modes(self) -> Sequence[Mode]:
        """Return the native mode only. Override it if `play` also supports `setting.mode` "prompt"."""
        return (Mode(NATIVE, "native tools", NATIVE),)

    def categories(self) -> Sequence[Category]:
        """Return the categories in the order of the cases, with their counts."""
        setting = Setting(options={option.name: option.default for option in self.options})
        cases = checked_cases(self.cases, self.cases((), setting))
        return [Category(name, count) for name, count in Counter(case.category for case in cases).items()]

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare the verdict's `expected` with its `actual`, or with the output."""
        mark = Mark.SAME if verdict.outcome is Outcome.PASSED else Mark.DIFFERS
        reason = (verdict.reason or "").replace("_", " ")
        sentence = ": ".join(filter(None, (reason, *verdict.messages[:1])))
        if "expected" not in verdict.detail:
            return Comparison(sentence, raw=_text(verdict.detail.get("actual", output)))
        actual = _text(verdict.detail.get("actual", output))
        return Comparison(sentence, (Pair(mark, _text(verdict.detail["expected"]), actual, kind="answer"),))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Report pass rate and mean scores, overall and by category."""
        by_category = {
            name: self._metrics([result for result in results if result.category == name])
            for name in dict.fromkeys(result.category for result in results)
        }
        return Report(
            self._metrics(results),
            by_category if len(by_category) > 1 else {},
            outcomes=dict(Counter(result.verdict.outcome for result in results)),
            reasons=dict(Counter(item.verdict.reason for item in results if item.verdict.reason).most_common()),
        )

    def _metrics(self, results: Sequence[Result]) -> tuple[Metric, ...]:
        graded = [result for result in results if result.graded]
        return (rate_metric("accuracy", graded), *score_metrics(graded, self.scales, self.units, self._rates(graded)))

    def _rates(self, graded: Sequence[Result]) -> Collection[str] | None:
        """Return the scores that may be rates; None for all."""
        del graded
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
