"""The fingerprint of an endpoint: a changed server is found, the same one is not; by log probabilities and by texts."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from console.core.fingerprint import Fingerprint
from console.core.statistics.resampling import same_source
from console.llm.servers.drift import TIMES, compare

QUESTIONS = 40


class SimulatedServer:
    """Candidates whose log probabilities jitter from call to call, and texts that are not always the same."""

    def __init__(self, seed: int, *, moved: float = 0.0) -> None:
        """Make a server; `moved` is how far its weights are from those of the unchanged server of this seed."""
        base, change = Random(seed), Random(seed + 1)
        self.logprobs = [
            {f"t{token}": -abs(base.gauss(4, 2)) + moved * change.gauss(0, 1) for token in range(20)}
            for _ in range(QUESTIONS)
        ]
        self.texts = [f"text {question} {change.random() < 6 * moved}" for question in range(QUESTIONS)]

    def by_logprobs(self, draw: Random) -> Fingerprint:
        jitter = 0.03
        return Fingerprint(0.0, [
            [
                dict(sorted(((name, value + draw.gauss(0, jitter)) for name, value in tops.items()),
                            key=lambda item: -item[1])[:18])
                for _ in range(TIMES)
            ]
            for tops in self.logprobs
        ])  # fmt: skip

    def by_texts(self, draw: Random) -> Fingerprint:
        samples = [[text + " or so" * (draw.random() < 0.1) for _ in range(TIMES)] for text in self.texts]
        return Fingerprint(0.0, [[*answers] for answers in samples])


@pytest.mark.parametrize("trials", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ask", [SimulatedServer.by_logprobs, SimulatedServer.by_texts], ids=["logprobs", "texts"])
def test_every_change_is_found_and_none_invented(
    ask: Callable[[SimulatedServer, Random], Fingerprint], trials: int
) -> None:
    flagged = {0.0: 0, 0.04: 0}
    for moved in flagged:
        for trial in range(trials):
            draw = Random(1000 * trial + 7)
            before = ask(SimulatedServer(trial), draw)
            flagged[moved] += compare(before, ask(SimulatedServer(trial, moved=moved), draw)).is_changed
    assert flagged == {0.0: 0, 0.04: trials}


def distances_of(*samples: Sequence[float]) -> list[list[float]]:
    values = [value for sample in samples for value in sample]
    return [[abs(value - other) for other in values] for value in values]


def test_p_of_the_same_source_is_uniform() -> None:
    draw = Random(5)

    def p() -> float:
        groups = [(distances_of([draw.gauss(0, 1) for _ in range(8)]), 4) for _ in range(5)]
        return same_source(groups, draws=199)

    ps = [p() for _ in range(200)]
    for share in (0.1, 0.5, 0.9):
        assert abs(sum(value <= share for value in ps) / len(ps) - share) < 0.1


def test_p_counts_divisions_that_are_as_far_apart() -> None:
    apart = [(distances_of([0.0, 0.0], [1.0, 1.0]), 2)]
    assert same_source(apart) == pytest.approx(1 / 3, abs=0.03), "2 of 6 divisions"
    assert same_source([(distances_of([0.0, 0.0], [0.0, 0.0]), 2)]) == 1.0
