"""Refusals with an error status."""

from email.utils import formatdate

from server.faults.registry import FAULTS, TEXT, both, fault
from server.http1 import Exchange

FAULTS |= {
    "r429": lambda e: e.error("429 Too Many Requests", "Rate limit reached", "rate_limit_exceeded"),
    "r429_ms": lambda e: e.error(
        "429 Too Many Requests", "Rate limit reached", "rate_limit_exceeded", retry_after_ms="60", retry_after="9"
    ),
    "r429_after1": lambda e: e.error(
        "429 Too Many Requests", "Rate limit reached", "rate_limit_exceeded", retry_after="1"
    ),
    "r429_hour": lambda e: e.error(
        "429 Too Many Requests", "Rate limit reached", "rate_limit_exceeded", retry_after="3600"
    ),
    "r429_quota": lambda e: e.error(
        "429 Too Many Requests", "You exceeded your current quota", "insufficient_quota", retry_after="1"
    ),
    "r402": lambda e: e.error("402 Payment Required", "Insufficient credits"),
    "r403": lambda e: e.error("403 Forbidden", "Country not supported"),
    "r404": lambda e: e.error("404 Not Found", "The model does not exist", "model_not_found"),
    "r400": lambda e: e.error(
        "400 Bad Request", "Unsupported value: 'temperature' does not support 0.5", "unsupported_value"
    ),
    "bad_schema": lambda e: e.error(
        "400 Bad Request", "Invalid schema for function 'f': bad type", "invalid_function_parameters"
    ),
    "ctx": lambda e: e.error(
        "400 Bad Request",
        "This model's maximum context length is 4096 tokens, you requested 5000",
        "context_length_exceeded",
    ),
    "ctx_phrase": lambda e: e.answer_json(
        {"object": "error", "message": "prompt is too long: 210000 tokens > 200000 maximum", "code": 400}, "400 Bad"
    ),
    "filtered": lambda e: e.error("400 Bad Request", "The prompt was filtered", "content_filter"),
    "flagged403": lambda e: e.error("403 Forbidden", "Your account was flagged", "account_flagged"),
    "flagged401": lambda e: e.error("401 Unauthorized", "The key was flagged", "content_policy_violation"),
    "moderation503": lambda e: e.error("503 Service Unavailable", "Try again later", "moderation_service_unavailable"),
    "r498": lambda e: e.error("498 Custom", "Flex tier capacity exceeded.", kind="flex_tier_capacity_exceeded"),
    "r500": lambda e: e.error("500 Internal Server Error", "boom", kind="server_error"),
    "r529": lambda e: e.error("529 Overloaded", "Overloaded", kind="overloaded_error"),
    "html502": lambda e: e.answer(
        b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", "502 Bad Gateway", "text/html"
    ),
}


@fault
def r429_date(e: Exchange) -> None:
    now = 2_000_000_000  # a clock that is years off
    e.error(
        "429 Too Many Requests",
        "Rate limit reached",
        date=formatdate(now, usegmt=True),
        retry_after=formatdate(now + 1, usegmt=True),
    )


@fault
def r401(e: Exchange) -> None:
    key = e.headers.get("authorization", "").removeprefix("Bearer ")
    e.error("401 Unauthorized", f"Incorrect API key provided: {key}.", "invalid_api_key")


@fault
def no_stream_options(e: Exchange) -> None:
    if "stream_options" in e.json:
        e.error("400 Bad Request", "Unknown parameter: 'stream_options'.", "unknown_parameter")
    else:
        both(e, {"content": TEXT})


@fault
def no_stream(e: Exchange) -> None:
    if e.json.get("stream"):
        e.error("422 Unprocessable Entity", "stream is not supported for this model")
    else:
        both(e, {"content": TEXT})


@fault
def max_completion_tokens(e: Exchange) -> None:
    if "max_tokens" in e.json:
        text = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        e.error("400 Bad Request", text, "unsupported_parameter")
    else:
        both(e, {"content": TEXT})
