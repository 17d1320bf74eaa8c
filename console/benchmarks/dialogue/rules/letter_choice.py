"""Choosing by log probabilities: the most probable letter counts, regardless of the text. Pure."""

import math
from collections.abc import Iterable, Sequence

from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import Choice
from console.benchmarks.dialogue.rules.script import Script, expectations
from console.core.chat import TokenLogprob
from console.core.statistics.calibration import Guess, brier_score, equal_mass_bins, expected_calibration_error
from console.core.statistics.intervals import rate_interval
from console.core.statistics.sample import Observation, sample_of
from console.suites.metrics import interval_metric
from console.suites.suite import Metric, Result

ASKED_FOR = {"logprobs": True, "top_logprobs": 20}
"""Parameters of the request."""
CONFIDENCE, BRIER, RIGHT = "confidence", "Brier score", "most probable letter is right"
"""Names of the scores."""
_USUAL_LETTERS = 8
"""Letters, from A, that may be a choice if the row lists none; without the pronoun I."""
_AROUND = " \n\t().:*\"'`[]"
_FEWEST_FOR_BINS = 20


def is_by_logprob(script: Script) -> bool:
    """Return whether any check of the script needs log probabilities, without parsing the checks."""
    checks = expectations(script)
    return any(part.get("by") == "logprob" for check in checks for part in (check, *check.get("any", ())))


def letter_probabilities(tokens: Sequence[TokenLogprob], choices: int = 0) -> dict[str, float]:
    """Return the probability of each letter where the answer first has one, or else at its first token.

    The probabilities of the letters that the server lists add up to 1. Empty without log probabilities of letters.

    Args:
        tokens: the tokens of the answer.
        choices: number of choices; 0 if the row does not list them.
    """
    letters = frozenset(chr(ord("A") + number) for number in range(choices or _USUAL_LETTERS))
    place = next((token for token in tokens if _letter(token.token, letters)), tokens[0] if tokens else None)
    if place is None:
        return {}
    sums: dict[str, float] = {}
    for text, logprob in place.top or ((place.token, place.logprob),):
        if letter := _letter(text, letters):
            sums[letter] = sums.get(letter, 0.0) + math.exp(min(logprob, 0.0))
    total = math.fsum(sums.values())
    return {letter: share / total for letter, share in sorted(sums.items())} if total else {}


def _letter(text: str, letters: frozenset[str]) -> str:
    bare = text.strip(_AROUND)
    return bare if bare in letters else ""


def check_by_logprob(check: Choice, letters: dict[str, float] | None) -> Finding:
    """Compare the most probable letter."""
    right = check.choice.upper()
    if letters is None:
        message = "the server gave no log probabilities: use a model that has them, or leave out `by`"
        return Finding("choice", None, right, "", "no_logprobs", message)
    if not letters:
        return Finding("choice", False, right, "", "no_choice", "no letter is among the probable tokens")
    chosen = max(sorted(letters), key=letters.__getitem__)
    scores = {CONFIDENCE: letters[chosen], BRIER: brier_score(letters, right), RIGHT: float(chosen == right)}
    if chosen == right:
        return Finding("choice", True, right, chosen, scores=scores)
    message = f"{chosen} ({letters[chosen]:.0%}) instead of {right} ({letters.get(right, 0.0):.0%})"
    return Finding("choice", False, right, chosen, "wrong_choice", message, right, scores=scores)


def calibration_metrics(results: Iterable[Result]) -> list[Metric]:
    """Return the expected calibration error and the accuracy by confidence; empty if there are no log probabilities."""
    guesses = [
        Guess(result.verdict.scores[CONFIDENCE], result.verdict.scores[RIGHT] == 1.0, result.case_id, result.cluster)
        for result in results
        if CONFIDENCE in result.verdict.scores
    ]
    bins = equal_mass_bins(guesses)
    error = expected_calibration_error(bins)
    if error is None or len(guesses) < _FEWEST_FOR_BINS:
        return []
    note = f"mean distance between accuracy and confidence, over {len(bins)} bins of equal size"
    metrics = [Metric("calibration error", error, count=len(guesses), unit="mean", note=note)]
    for number, each in enumerate(bins, 1):
        observed = (Observation(guess.case, float(guess.is_right), "", guess.cluster) for guess in each.guesses)
        interval = rate_interval(sample_of(observed))
        assert interval is not None  # no bin is empty
        low, high = each.guesses[0].confidence, each.guesses[-1].confidence
        name = f"bin {number}: right at {low:.0%}–{high:.0%}"
        metrics.append(interval_metric(name, interval, note=diagram_line(each.confidence, each.accuracy)))
    return metrics


def diagram_line(confidence: float, accuracy: float, cells: int = 20) -> str:
    """Return one line of a reliability diagram: accuracy as a bar, with a mark at the mean confidence."""
    filled, mark = round(accuracy * cells), min(round(confidence * cells), cells - 1)
    bar = "".join("│" if place == mark else "█" if place < filled else "·" for place in range(cells))
    return f"{bar} mean confidence {confidence:.0%}"
