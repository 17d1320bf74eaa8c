"""Every form in which providers say how long to wait."""

import time
from email.utils import formatdate

import pytest

from console.llm.transport.retry_after import retry_after

SKEWED = formatdate(2_000_000_000, usegmt=True)

CASES = [
    ({"Retry-After": "7"}, 7),
    ({"Retry-After": "0.25"}, 0.25),
    ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
    ({"Date": SKEWED, "Retry-After": formatdate(2_000_000_030, usegmt=True)}, 30),
    ({"Date": SKEWED, "Retry-After": "Wed, 18 May 2033 03:33:50 -0000"}, 30),
    ({"Date": SKEWED, "Retry-After": formatdate(1_999_999_000, usegmt=True)}, 0),
    ({"x-ratelimit-reset-requests": "1m30s"}, 90),
    ({"x-ratelimit-reset-tokens": "500ms", "x-ratelimit-reset-requests": "8.64s"}, 8.64),
    (
        {"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "100", "x-ratelimit-reset-requests": "2s"},
        2,
    ),
    ({"x-ratelimit-reset": "12"}, 12),
    ({"Date": SKEWED, "X-RateLimit-Reset": "2000000045"}, 45),
    ({"Date": SKEWED, "X-RateLimit-Reset": "2000000045000"}, 45),
    ({"Date": SKEWED, "anthropic-ratelimit-requests-reset": "2033-05-18T03:33:30Z"}, 10),
    ({"Retry-After": "3", "x-ratelimit-reset-requests": "1h"}, 3),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "-5"}, None),
    ({"Retry-After": ""}, None),
    ({"Retry-After": "9" * 400}, None),
    ({"x-ratelimit-remaining-requests": "0"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), CASES)
def test_the_wait_is_read(headers, seconds):
    found = retry_after(headers)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_without_a_date_header_our_own_clock_is_used():
    found = retry_after({"Retry-After": formatdate(time.time() + 100, usegmt=True)})
    assert found == pytest.approx(100, abs=60)
