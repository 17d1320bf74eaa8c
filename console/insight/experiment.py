"""What came of an experiment, in words and tables. Pure."""

from console.core.statistics.intervals import wilson
from console.insight.number_format import rate


def chance_words(passed: int, graded: int) -> str:
    """Return how often conversations came right, with the interval of the chance."""
    if not graded:
        return "nothing was graded"
    low, high = wilson(passed, graded)
    interval = f" [{rate(low)}, {rate(high)}]" if graded > 1 else ""
    return f"{passed} of {graded} passed{interval}"
