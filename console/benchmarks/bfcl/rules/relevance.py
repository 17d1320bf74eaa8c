"""Relevance and irrelevance: only whether there is a call is judged, neither its name nor its arguments.

So whatever cannot be decoded counts as no call — prose, broken syntax, even the text of a failed inference.
"""

from typing import Any

from console.benchmarks.bfcl.models.decode.reply import decode_reply

CALLED = "irrelevance_error:decoder_success"
NOT_CALLED = "relevance_error:decoder_failed"


def has_call(output: Any, family: str) -> bool:
    """Whether an output decodes to at least one call; one empty object is none."""
    calls = decode_reply(output, "python", family).calls
    return bool(calls) and calls != [{}]


def check_relevance(output: Any, category: str, family: str) -> str | None:
    """Return the official error type, or None when a call is there exactly where one belongs."""
    called = has_call(output, family)
    if "irrelevance" in category:
        return CALLED if called else None
    return None if called else NOT_CALLED
