"""What is said of requests that keep failing: how many, and whether the others fare better."""

import pytest

from console.core.case import Key
from console.core.chat import Reply
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Finished, Opened, Tried
from console.insight.failing_requests import FailingRequests


def tried(at: float, case: int, kind: str = "server") -> Tried:
    return Tried(at=at, key=Key(f"c{case}", 0, 1), n=1, kind=kind, message="no", wait_s=1.0)


def answered(at: float, case: int, took: float = 0.5) -> Asked:
    return Asked(at=at, key=Key(f"c{case}", 0, 1), n=1, digest="d", reply=Reply("yes", latency_s=took))


def ended(at: float, case: int, outcome: Outcome) -> Finished:
    return Finished(at=at, key=Key(f"c{case}", 0, 1), verdict=Verdict(outcome))


TWELVE = [tried(at, case) for at in (1.0, 3.0) for case in range(12)]
STORIES: list[tuple[str, list[AnyRecord]]] = [
    ("", []),
    ("", [tried(1.0, 1), answered(2.0, 2)]),
    ("12 requests keep failing, others fine", [*TWELVE, answered(4.0, 99)]),
    ("12 requests keep failing, none succeeds", TWELVE),
    ("12 requests keep failing, none succeeds", [*TWELVE, answered(4.0, 99, took=3.9)]),
    ("11 requests keep failing, others fine", [*TWELVE, answered(4.0, 0)]),
    ("1 request keeps failing, others fine", [tried(1, 1), tried(2, 1), answered(3, 2), ended(4, 1, Outcome.BROKEN)]),
    ("", [tried(1, 1), tried(2, 1), answered(3, 2), answered(4, 1), ended(5, 1, Outcome.FAILED)]),
    ("", [*TWELVE, answered(4.0, 99), Opened(5.0, pid=1)]),
    ("", [tried(at, 1, "rate_limit") for at in (1.0, 2.0, 3.0)]),
]


@pytest.mark.parametrize(("text", "records"), STORIES)
def test_what_is_said_of_them(text: str, records: list[AnyRecord]) -> None:
    failing = FailingRequests()
    for record in records:
        failing.apply(record)
    assert failing.text == text
