"""Made-up log probabilities of simulated models: a token's alternatives come from the other scripted answers."""

import math
from collections.abc import Sequence
from random import Random

from console.core.chat import ChatRequest, TokenLogprob

_LEAST_SURE = 0.4
_DIGITS = 6


def simulated_logprobs(
    request: ChatRequest, tokens: Sequence[str], others: Sequence[Sequence[str]], rng: Random
) -> tuple[TokenLogprob, ...]:
    """Return the tokens of an answer with log probabilities; none if the request does not ask for them.

    Args:
        request: the request.
        tokens: the tokens of the answer.
        others: the tokens of other answers to the same question.
        rng: draws the probabilities.
    """
    if not request.params.get("logprobs"):
        return ()
    most = request.params.get("top_logprobs") or 0
    logprobs: list[TokenLogprob] = []
    for place, token in enumerate(tokens):
        probability = rng.uniform(_LEAST_SURE, 0.999)
        rest, top = 1 - probability, [(token, _log(probability))]
        for rival in {other[place]: None for other in others if len(other) > place and other[place] != token}:
            rest /= 2
            top.append((rival, _log(rest)))
        top.sort(key=lambda item: -item[1])
        logprobs.append(TokenLogprob(token, _log(probability), tuple(top[:most])))
    return tuple(logprobs)


def _log(probability: float) -> float:
    return round(math.log(probability), _DIGITS)
