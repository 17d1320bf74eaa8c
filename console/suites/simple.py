"""`SimpleSuite`: a base for suites of somebody's own, with a default for everything but cases, play and score."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome, Verdict
from console.core.statistics.intervals import mean_interval
from console.suites.metrics import interval_metric, rate_metric, sample_of_results
from console.suites.modes import NATIVE
from console.suites.returned import checked_cases
from console.suites.suite import Category, Metric, Mode, Report, Result, Suite


def verdict(
    passed: bool,
    *,
    reason: str = "",
    expected: Any = None,
    actual: Any = None,
    messages: Sequence[str] = (),
    scores: dict[str, float] | None = None,
) -> Verdict:
    """Return passed or failed.

    Args:
        passed: which of the two.
        reason: why it failed, a word or two; failures are grouped by it.
        expected: what would have passed, shown in Review.
        actual: what was there instead.
        messages: why, in sentences.
        scores: named numbers; the report gives their means.
    """
    detail = {name: value for name, value in (("expected", expected), ("actual", actual)) if value is not None}
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    why = None if passed else reason or "wrong_answer"
    return Verdict(outcome, why, messages=tuple(messages), scores=dict(scores or {}), detail=detail)


class SimpleSuite(Suite):
    """Derive from it and write `cases`, `play` and `score`; override anything else where the default does not fit."""

    needs_roles: tuple[str, ...] = ()
    """Roles besides `model`, such as `judge`, or `user` for a simulated user."""

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the roles that a run with these options needs besides `model`."""
        return self.needs_roles

    def modes(self) -> Sequence[Mode]:
        """Offer one: tools are sent as such. Override it if `play` describes tools in the prompt by `setting.mode`."""
        return (Mode(NATIVE, "native tools", NATIVE),)

    def categories(self) -> Sequence[Category]:
        """Count the cases of each category, in the order in which they occur."""
        setting = Setting(options={option.name: option.default for option in self.options})
        cases = checked_cases(self.cases, self.cases((), setting))
        return [Category(name, count) for name, count in Counter(case.category for case in cases).items()]

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare what the verdict says was expected with what was there."""
        mark = Mark.SAME if verdict.outcome is Outcome.PASSED else Mark.DIFFERS
        reason = (verdict.reason or "").replace("_", " ")
        sentence = ": ".join(filter(None, (reason, *verdict.messages[:1])))
        if "expected" not in verdict.detail:
            return Comparison(sentence, raw=_text(verdict.detail.get("actual", output)))
        actual = _text(verdict.detail.get("actual", output))
        return Comparison(sentence, (Pair(mark, _text(verdict.detail["expected"]), actual, kind="answer"),))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Give the share that passed and the mean of each score, overall and by category."""
        names = dict.fromkeys(result.category for result in results)
        by_category = {name: _metrics([item for item in results if item.category == name]) for name in names}
        return Report(
            _metrics(results),
            by_category if len(by_category) > 1 else {},
            outcomes=dict(Counter(result.verdict.outcome for result in results)),
            reasons=dict(Counter(item.verdict.reason for item in results if item.verdict.reason).most_common()),
        )


def _metrics(results: Sequence[Result]) -> tuple[Metric, ...]:
    graded = [result for result in results if result.graded]
    names = dict.fromkeys(name for result in graded for name in result.verdict.scores)
    means: list[Metric] = []
    for name in names:
        scored = [result for result in graded if name in result.verdict.scores]
        interval = mean_interval(sample_of_results(scored, lambda result, name=name: result.verdict.scores[name]))
        if interval is not None:
            means.append(interval_metric(name, interval, unit="mean"))
    return (rate_metric("accuracy", graded), *means)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
