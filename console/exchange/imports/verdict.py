"""Verdicts for samples that another tool scored; scores keep their names. Pure.

1 and C mean passed, 0 and I failed. Any other number is a score without a verdict: it becomes the run's headline
(`Manifest.headline`), and a rollout passes at 1 or more, as in Inspect's own `pass_at` and `at_least`. Between 0 and 1
it fails, with its own reason, unless the tool says whether it passed. A rollout without a score is undecided.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, cast

from console.core.outcome import Outcome, Verdict
from console.exchange.imports.log import LogSample, LogScore
from console.exchange.imports.numbers import score_number

_ERROR_NAME = re.compile(r"[A-Za-z_][\w.]{0,60}(?=[:(])")
RECORDED_ERROR = "error in the log"
"""Reason of a sample that ended with an error."""
NOT_SCORED = "no score in the log"
"""Reason of a sample without a score."""
INVALIDATED = "invalidated in the log"
"""Reason of a sample whose result somebody declared invalid."""
RIGHT = 1 - 1e-9
"""Lowest score that passes; the tolerance is for sums of weighted parts."""
PARTIAL = "partial score"
"""Reason of a sample whose score is between 0 and 1."""


def named_numbers(scores: dict[str, LogScore]) -> dict[str, float]:
    """Return all numeric scores by name; members of an object score keep their own names."""
    numbers: dict[str, float] = {}
    for name, score in scores.items():
        for part, value in _parts(name, score.value):
            number = score_number(value)
            if number is not None:
                numbers[part if part not in numbers else f"{name}.{part}"] = number
    return numbers


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((str(part), item) for part, item in cast("dict[Any, Any]", value).items())
    elif isinstance(value, list):
        yield from ((f"{name}[{place}]", item) for place, item in enumerate(cast("list[Any]", value)))
    else:
        yield name, value


def decisive_name(sample: LogSample, decisive: str) -> str:
    """Return the name of the score that decides whether a sample passed; empty if there is none.

    If the score named `decisive` is there but no number, such as NaN in Inspect, no other score decides in its place.
    """
    numbers = named_numbers(sample.scores)
    if decisive in numbers:
        return decisive
    parts = [part for name, score in sample.scores.items() for part in _parts(name, score.value)]
    if decisive and (decisive in sample.scores or any(name == decisive for name, _ in parts)):
        return ""
    first = next((value for _, value in parts if score_number(value) is not None or _is_nan(value)), None)
    return "" if _is_nan(first) else next(iter(numbers), "")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def verdict_of(sample: LogSample, decisive: str) -> Verdict:
    """Return the verdict on a sample; `decisive` names the score that decides whether it passed."""
    numbers, name = named_numbers(sample.scores), decisive_name(sample, decisive)
    messages = tuple(filter(None, (sample.invalidated, sample.error, sample.unscored, *_explanations(sample))))
    if sample.invalidated:
        return Verdict(Outcome.UNDECIDED, reason=INVALIDATED, messages=messages, scores=numbers)
    if not name:
        outcome = Outcome.BROKEN if sample.error else Outcome.UNDECIDED
        error_name = _ERROR_NAME.match(sample.error)
        return Verdict(
            outcome,
            reason=RECORDED_ERROR if sample.error else NOT_SCORED,
            subject=error_name[0] if error_name else "",
            messages=messages,
            scores=numbers,
        )
    if numbers[name] >= RIGHT if sample.passed is None else sample.passed:
        return Verdict(Outcome.PASSED, messages=messages, scores=numbers)
    reason, subject = name, ""
    if is_partial(sample, numbers[name]):
        reason, subject = PARTIAL, name
        messages = (f"{name} is {numbers[name]:.6g}: a rollout passes at 1 or more", *messages)
    if sample.limit:
        reason, subject = f"{sample.limit} limit", ""
    return Verdict(Outcome.FAILED, reason=reason, subject=subject, messages=messages, scores=numbers)


def is_partial(sample: LogSample, number: float) -> bool:
    """Return whether the decisive score is neither wrong nor right, and the tool gives no verdict."""
    return sample.passed is None and 0 < number < RIGHT


def _explanations(sample: LogSample) -> Iterator[str]:
    several = len(sample.scores) > 1
    for name, score in sample.scores.items():
        if score.explanation and score.explanation != score.answer:
            yield f"{name}: {score.explanation}" if several else score.explanation
