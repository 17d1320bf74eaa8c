"""Detects changes of an endpoint by comparing its answers to fixed questions with those of another day.

With log probabilities, one token of each answer is compared by those of its candidates; this reveals small changes of
weights or numerics. Otherwise short answers at temperature 0 are compared, which reveals only changes of the text.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import cast

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Message, Reply
from console.core.fault import Fault
from console.core.fingerprint import Fingerprint, Sample
from console.core.statistics.resampling import same_source
from console.llm.endpoint import Endpoint, Watch
from console.llm.providers import open_endpoint

TIMES = 5
"""Number of answers to each question."""
ALPHA = 0.001
"""Maximum p for an endpoint to count as changed; one in a thousand unchanged endpoints does."""
_THINGS = (
    *("color", "animal", "city", "fruit", "river", "verb", "first name", "adverb", "planet", "tool", "sport", "smell"),
    *("metal", "spice", "dance", "vehicle", "tree", "disease", "profession", "instrument", "language", "shape", "bird"),
    *("game", "dish", "month", "insect", "fabric", "mountain", "lake", "writer", "emotion", "weapon", "drink", "herb"),
    *("island", "gemstone", "flower", "building", "holiday"),
)
ANSWER_TOKENS = 24
"""Maximum tokens of an answer that is compared as text."""
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Drift:
    """Comparison of two fingerprints."""

    p: float
    """Probability that an unchanged endpoint differs this much by chance."""
    distance: float
    """Mean distance between the answers of both days: of log probabilities, or the share of unequal texts."""
    within: float
    """Mean distance between the answers within the first day."""

    @property
    def is_changed(self) -> bool:
        return self.p < ALPHA


async def fingerprint(
    model: ModelConfig, at: float, notify: Callable[[int], None], *, by_text: bool = False
) -> Fingerprint:
    """Ask all questions several times.

    Args:
        model: the model.
        at: the time to record.
        notify: called with the number of answers after each.
        by_text: True to compare whole answers even if the server gives log probabilities.

    Raises:
        Fault: a question was not answered.
    """
    endpoint, tasks = open_endpoint(model), list[asyncio.Task[Reply]]()
    try:
        is_by_text = by_text or not await _gives_logprobs(model, endpoint)
        calls = [_ask(model, endpoint, thing, by_text=is_by_text) for thing in _THINGS for _ in range(TIMES)]
        tasks += map(asyncio.ensure_future, calls)
        for done, answered in enumerate(asyncio.as_completed(tasks), 1):
            await answered
            notify(done)
        replies = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await endpoint.aclose()
    samples = [_text(reply) if is_by_text else _candidates(reply) for reply in replies]
    servers = sorted({reply.server for reply in replies if reply.server})
    return Fingerprint(at, [samples[first : first + TIMES] for first in range(0, len(samples), TIMES)], servers)


def compare(before: Fingerprint, now: Fingerprint) -> Drift:
    """Compare two fingerprints of the same kind."""
    groups, across, within = list[tuple[list[list[float]], int]](), list[float](), list[float]()
    for first, second in zip(before.samples, now.samples, strict=True):
        samples, size = [*first, *second], len(first)
        distances = [[0.0] * len(samples) for _ in samples]
        for one, other in combinations(range(len(samples)), 2):
            distances[one][other] = distances[other][one] = _distance(samples[one], samples[other])
            if one < size:
                (within if other < size else across).append(distances[one][other])
        groups.append((distances, size))
    return Drift(same_source(groups), _mean(across), _mean(within))


async def _gives_logprobs(model: ModelConfig, endpoint: Endpoint) -> bool:
    try:
        return bool(_candidates(await _ask(model, endpoint, _THINGS[0], by_text=False)))
    except Fault:
        return False


async def _ask(model: ModelConfig, endpoint: Endpoint, thing: str, *, by_text: bool) -> Reply:
    if by_text:
        question, params = f"Describe a {thing} in one sentence.", {"temperature": 0.0, "max_tokens": ANSWER_TOKENS}
    else:
        question = f"Name a {thing}. Answer with one word."
        params = {"temperature": 1.0, "max_tokens": 1, "logprobs": True, "top_logprobs": _CANDIDATES}
    sent = {name: value for name, value in params.items() if name not in model.omit}
    messages = cast("list[Message]", [{"role": "user", "content": question}])
    return await endpoint.ask(ChatRequest(messages, params=sent), Watch())


def _candidates(reply: Reply) -> dict[str, float]:
    """Return the log probabilities of the candidates for the first token; empty if the server gives none."""
    return dict(reply.logprobs[0].top) if reply.logprobs else {}


def _text(reply: Reply) -> str:
    return (reply.content or "") + reply.reasoning


def _distance(one: Sample, other: Sample) -> float:
    """Return the mean difference of log probabilities, or 1 for unequal texts.

    A candidate missing in one list has at most the lowest probability of that list.
    """
    if isinstance(one, str) or isinstance(other, str):
        return float(one != other)
    names = one.keys() | other.keys()
    floors = min(one.values(), default=0.0), min(other.values(), default=0.0)
    return _mean([abs(one.get(name, floors[0]) - other.get(name, floors[1])) for name in names])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
