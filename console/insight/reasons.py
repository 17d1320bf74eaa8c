"""Reasons in plain words, shown next to the official error type.

Benchmarks define their own (`suites/reason_words.py`); machinery faults are defined here. Other reasons are shown as
recorded, with spaces for separators.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from console.core.outcome import Outcome
from console.core.request import reply_limit
from console.core.tally import CUT, WRITTEN
from console.suites.reason_words import all_words, own_words

_WORDS = {
    "stopped": "stopped by you",
    "dependency": "a case it depends on has no answer",
    "setup_dependency": "setup it builds on has no answer",
    "auth": "key refused",
    "quota": "quota used up",
    "not_found": "model or address not found",
    "bad_request": "request refused",
    "bad_tool_schema": "tools refused",
    "context": "too long for the model",
    "refused_by_us": "not sent",
    "rate_limit": "rate limited",
    "server": "server error",
    "connect": "no connection",
    "no_first_token": "no first token",
    "stalled": "stopped sending",
    "deadline": "took too long",
    "broken_stream": "answer broke off",
    "truncated": "answer ended without an end mark",
    "bad_answer": "unreadable answer from the server",
    "sandbox": "sandbox failed",
    "data": "data missing or damaged",
    "disk": "disk refused",
    "cancelled": "stopped by you",
    "suite": "fault in the suite's code",
    "internal": "internal error",
    f"{CUT}length": "answer cut at the token limit",
    f"{CUT}content_filter": "answer withheld by the provider's filter",
    WRITTEN: "call written as text",
}

_BARE = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.BROKEN: "broken",
    Outcome.UNDECIDED: "no grade could be determined",
    Outcome.NOT_RUN: "not run",
}


def reason_words(reason: str, outcome: Outcome | None = None) -> str:
    """Return a reason as text, or the outcome without one. Unknown reasons are untrusted text."""
    if not reason:
        return _BARE[outcome] if outcome is not None else "not finished"
    phrase = own_words().get(reason) or _WORDS.get(reason)
    if phrase is not None:
        return phrase
    if reason.startswith("crash:"):
        return "answer that crashes the official scorer"
    if "," in reason:
        return ", ".join(reason_words(part.strip(), outcome) for part in reason.split(","))
    return all_words().get(reason) or reason.replace("_", " ").replace(":", ": ")


def counts_in_words(reasons: Mapping[str, int]) -> dict[str, int]:
    """Return reason counts as text, most frequent first; counts of reasons with the same text are added."""
    counts: Counter[str] = Counter()
    for reason, count in reasons.items():
        counts[reason_words(reason)] += count
    return dict(counts.most_common())


def cut_words(cut: str, params: Mapping[str, Any]) -> str:
    """Return the limit that cut an answer, worded as the end of *an answer that was …*.

    Args:
        cut: the finish reason.
        params: parameters of the model, which may limit its replies.
    """
    if cut == "content_filter":
        return "cut by the provider's content filter"
    if cut != "length":
        return f"ended by {cut}"
    if reply_limit(params) is not None:
        return "cut at the token limit (finish: length; raise max_tokens in models.toml)"
    return "cut at the server's own token limit (finish: length; models.toml sets no max_tokens)"


def sentence(reason: str, subject: str, outcome: Outcome | None = None) -> str:
    """Return the reason and subject as one phrase, such as `wrong value: unit`."""
    words = reason_words(reason, outcome)
    return f"{words}: {subject}" if subject else words


_HINTS = {
    "auth": "Check the key in the environment or in models.toml.",
    "quota": "Top up the account, or choose another model.",
    "not_found": "Check model_id and base_url in models.toml.",
    "bad_request": "The server rejects this kind of request; its message is above.",
    "bad_tool_schema": 'This model does not take these tools; try mode = "prompt" in models.toml.',
    "context": "Choose a model with a longer context.",
    "rate_limit": "Lower the number of requests at once, or set limits in models.toml.",
    "server": "The provider failed; a retry usually helps.",
    "connect": "Check the network and base_url; `eval-console doctor` checks both.",
    "no_first_token": "Raise limits.first_token_s if the model thinks long, or lower -c if the server has few slots.",
    "stalled": "The provider stopped sending; raise the idle limit in models.toml if it is a slow model.",
    "deadline": "Raise the timeout in models.toml if answers take that long.",
    "broken_stream": "The connection broke; a retry usually helps.",
    "truncated": "The connection broke; a retry usually helps.",
    "bad_answer": "The server does not offer the API of its provider; check base_url and provider.",
    "sandbox": "`eval-console doctor` shows what the sandbox lacks here.",
    "data": "Pull the data again; `eval-console doctor` checks it.",
    "disk": "Free some space or make the folder writable.",
}


def hint(reason: str) -> str:
    """Return a one-sentence hint about a machinery fault; empty when the only remedy is a retry."""
    return _HINTS.get(reason, "")
