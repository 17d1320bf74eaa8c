"""What an interval proves, at its bounds."""

import pytest

from console.core.statistics.decision import Decision, decide


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (-0.05, -0.011, Decision.WORSE),
        (-0.05, -0.01, Decision.CANNOT_TELL),  # a loss that is no larger than the margin
        (-0.011, 0.3, Decision.CANNOT_TELL),
        (-0.01, 0.3, Decision.NOT_WORSE),
    ],
)
def test_the_margin_itself_is_not_beyond_it(low: float, high: float, decision: Decision) -> None:
    assert decide(low, high, -0.01, -0.01) is decision
