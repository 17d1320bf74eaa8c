"""Choosing by log probabilities: the most probable letter counts, regardless of the text. Pure."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

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
_AROUND = " \r\n\t().:*_#>$\"'`[]"
_ALONE = re.compile(
    r"""(?<![\w*`"'’.-])[*_`"'’.-]*([A-Z])(?![*_`"'’-]*[^\W_])(?:(?P<item>[*_`"'’]*[.):])|(?P<word>\s+[a-z]))?"""
)
"""A letter that is not part of a word, even of one divided by markup; with what follows it as an item of a list."""
_FEWEST_FOR_BINS = 20


def is_by_logprob(script: Script) -> bool:
    """Return whether any check of the script needs log probabilities, without parsing the checks."""
    checks = expectations(script)
    return any(part.get("by") == "logprob" for check in checks for part in (check, *check.get("any", ())))


def letter_probabilities(tokens: Sequence[TokenLogprob], choices: int = 0) -> dict[str, float]:
    """Return the probability of each letter at the first token of the answer, as in MMLU and lm_eval.

    A later token decides only if the first lists no letter: the first word after line breaks and markup, else the first
    letter that stands alone. The probabilities of the letters that the server lists add up to 1; empty without any.

    Args:
        tokens: the tokens of the answer.
        choices: number of choices; 0 if the row does not list them.
    """
    letters = frozenset(chr(ord("A") + number) for number in range(choices or _USUAL_LETTERS))
    for token in _deciding(tokens):
        sums: dict[str, float] = {}
        for text, logprob in _listed(token):
            if (letter := text.strip(_AROUND)) in letters:
                sums[letter] = sums.get(letter, 0.0) + math.exp(min(logprob, 0.0))
        if total := math.fsum(sums.values()):
            return {letter: share / total for letter, share in sorted(sums.items())}
    return {}


def _deciding(tokens: Sequence[TokenLogprob]) -> Iterator[TokenLogprob]:
    """Yield the tokens that may decide, in order of preference."""
    ends = list(accumulate(len(token.token) for token in tokens))
    alone = [bisect_right(ends, at) for at in _letters_alone("".join(token.token for token in tokens))]
    for place, token in enumerate(tokens):
        bare = token.token.strip(_AROUND)
        if place == 0 or len(bare) != 1 or place in alone:
            yield token
        if bare:
            break
    for place in alone:
        yield tokens[place]


def _letters_alone(text: str) -> list[int]:
    """Return the offsets of letters that stand alone, outside a restated list of the choices.

    Those before a lowercase word come last, as they may be the article.
    """
    matches = list(_ALONE.finditer(text))
    restated: set[int] = set()
    for one, following in pairwise(matches):
        if one["item"] and following["item"] and ord(following[1]) == ord(one[1]) + 1:
            restated |= {one.start(1), following.start(1)}
    matches.sort(key=lambda match: match["word"] is not None)
    return [match.start(1) for match in matches if match.start(1) not in restated]


def _listed(token: TokenLogprob) -> Sequence[tuple[str, float]]:
    """Return the tokens that the server lists at a position, including the one that it chose."""
    own = (token.token, token.logprob)
    return token.top if any(text == token.token for text, _ in token.top) else (*token.top, own)


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
