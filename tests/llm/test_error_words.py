"""What servers say when they refuse: too long, busy, or a limit of a day; each kind in the words of many servers."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.config.model import Limits, ModelConfig
from console.config.redaction import Redactor
from console.core.fault import Fault, FaultKind
from console.llm.providers import open_endpoint
from console.llm.transport.faults import fault_of, read_provider_error

TOO_LONG = (
    (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the "
        "messages, 100 in the completion)."
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 16384 "
        "tokens and your request has 9000 input tokens (8192 > 16384 - 9000)."
    ),
    "the request exceeds the available context size (4096 tokens), try increasing it",
    "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000",
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens "
        "and 100 `max_new_tokens`"
    ),
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Unable to submit request because the input token count is 1200000 but the model only supports up to 1048576.",
    "Range of input length should be [1, 129024]",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
    "Invalid request: Your request exceeded model token limit: 131072",
    "Context size has been exceeded.",
    (
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or "
        "`max_tokens` and try again"
    ),
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "too many tokens: size limit exceeded by 1000 tokens. Try using shorter or fewer inputs.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Input is too long for requested model.",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
    "Too many input tokens. Max input tokens: 8192, request input token count: 8500",
    "too many total text bytes: 30000000 > 25000000",
    "Requested tokens (5000) exceed context window of 4096",
    (
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that "
        "`max_model_len` is no smaller"
    ),
    "max_tokens must be at least 1, got -904.",
    (
        "You passed 5001 input tokens and requested 0 output tokens. However, the model's context length is only "
        "4096 tokens, resulting in a maximum input length of 4096 tokens"
    ),
    (
        "Input length (5000 tokens) exceeds the maximum allowed length (4095 tokens). Use a shorter input or "
        "enable --allow-auto-truncate."
    ),
    "prompt too long; exceeded max context length by 4 tokens",
    "the input length exceeds the context length",
    (
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
        "context length of only 4096 tokens, which is not enough. Try to load the model with a larger context "
        "length, or provide a shorter input"
    ),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the "
        "model with a larger context length, or provide a shorter input"
    ),
    (
        "Reached context length of 4096 tokens with this model, but this model does not currently support "
        "mid-generation context overflow"
    ),
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "The prompt is too long: 140000, model maximum context length: 131071",
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
    (
        "Requested generation length 100 is not possible! The provided prompt is 5000 tokens long, so generating "
        "100 tokens requires a sequence length of 5100, but the maximum supported sequence length is just 4096!"
    ),
    "Prompt length 5000 is greater than max_seq_len 4096",
    "Total tokens of image and text exceed max message tokens",
    "Total message token length exceed model limit",
    "Prompt exceeds max length",
    "invalid params, context window exceeds limit (2013)",
    "Prompt 超长",
    "输入内容过长，超过模型上下文长度",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    (
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got "
        "a string with length 20000000 instead."
    ),
    "input is too large to process. increase the physical batch size",
    "Input prompt (5000 tokens) is too long and exceeds limit of 4096",
    "The conversation is too long, please start a new one",
    "This request's input exceeds what the model can take: 300000 tokens, limit 262144",
    "request (4531 tokens) exceeds the available context size (4096 tokens), try increasing it",
)
ANOTHER_LIMIT = (
    (
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you "
        "provided 100000."
    ),
    "Range of max_tokens should be [1, 8192]",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude",
    "temperature: Input should be less than or equal to 1",
    "messages.0.content: Input should be a valid string",
    (
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length "
        "200 instead."
    ),
    (
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but "
        "got a string with length 50 instead."
    ),
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
    ("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."),
    "stop: too many stop sequences: maximum 4",
    "image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
    "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum",
    "Unexpected token < in JSON at position 0",
    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    "Input validation error: `max_new_tokens` must be <= 512. Given: 600",
    "Input validation error: `temperature` must be strictly positive",
    "Unknown parameter: 'context'.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    (
        "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please "
        "use /v1/responses instead."
    ),
    "This model only supports single tool-calls at once!",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Invalid schema for function 'f': bad type",
    "Invalid input: tool name exceeds 64 characters",
    "top_logprobs must be at most 5",
    "missing in the assistant message: reasoning_content",
    "Thinking budget must be less than max_tokens",
    "`thinking.budget_tokens` must be less than `max_tokens`",
    "this model does not support system messages",
)


def refused(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Fault:
    return fault_of(read_provider_error(json.dumps(body).encode(), Redactor()), status, headers)


@pytest.mark.parametrize("message", TOO_LONG)
def test_too_long_is_a_fault_of_the_case(message: str) -> None:
    for status in (400, 413, 422, 500):
        for body in ({"error": {"message": message, "type": "invalid_request_error"}}, {"message": message}):
            fault = refused(status, body)
            assert (fault.kind, fault.is_halting) == (FaultKind.CONTEXT, False)


@pytest.mark.parametrize("message", ANOTHER_LIMIT)
def test_another_limit_of_a_request_is_not_too_long(message: str) -> None:
    assert refused(400, {"error": {"message": message}}).kind in (FaultKind.BAD_REQUEST, FaultKind.BAD_TOOL_SCHEMA)


def test_a_named_parameter_tells_what_is_too_long() -> None:
    error = {"message": "string too long", "code": "string_above_max_length"}
    assert refused(400, {"error": {**error, "param": "messages[1].content"}}).kind is FaultKind.BAD_REQUEST
    message = "The text is too long."
    assert refused(400, {"error": {"message": message, "param": "messages[1].content"}}).kind is FaultKind.CONTEXT
    assert refused(400, {"error": {"message": message, "param": "user"}}).kind is FaultKind.BAD_REQUEST


def test_a_request_above_the_limit_of_a_minute_is_not_tried_for_ever() -> None:
    message = "Request too large for m in organization on tokens per min (TPM): Limit 30000, Requested 35000."
    assert refused(429, {"error": {"message": message, "code": "rate_limit_exceeded"}}).kind is FaultKind.CONTEXT
    message = "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."
    assert refused(429, {"error": {"message": message, "code": "rate_limit_exceeded"}}).kind is FaultKind.RATE_LIMIT


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (498, "Flex tier capacity exceeded. Try again later.", FaultKind.SERVER),
        (499, "The client closed the request", FaultKind.SERVER),
        (424, "The model's server failed", FaultKind.SERVER),
        (449, "Retry with", FaultKind.SERVER),
        (529, "Overloaded", FaultKind.SERVER),
        (520, "Web server is returning an unknown error", FaultKind.SERVER),
        (400, "The engine is currently overloaded, please try again later", FaultKind.SERVER),
        (420, "Enhance your calm", FaultKind.RATE_LIMIT),
        (410, "This model was retired", FaultKind.NOT_FOUND),
        (400, "messages: at least one message is required", FaultKind.BAD_REQUEST),
        (422, "temperature must be strictly positive", FaultKind.BAD_REQUEST),
        (498, "The API key is invalid", FaultKind.AUTH),
    ],
)
def test_only_what_the_request_causes_is_not_tried_again(status: int, message: str, kind: FaultKind) -> None:
    assert refused(status, {"error": {"message": message}}).kind is kind


async def test_one_unknown_status_is_tried_again(seen, question) -> None:
    with OpenAIServer(lambda request: Scripted("fine", fault="r498x1")) as server:
        limits = Limits(max_tries=2, backoff_s=0.01)
        endpoint = open_endpoint(ModelConfig(name="m", model_id="m", base_url=server.base_url, limits=limits))
        reply = await endpoint.ask(question("anything"), seen)
        await endpoint.aclose()
    assert (reply.content, reply.tries) == ("fine", 2)


OPENROUTER_DAY = {
    "error": {
        "message": "Rate limit exceeded: free-models-per-day. Add credits to unlock 1000 requests per day",
        "code": 429,
        "metadata": {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0",
                                 "X-RateLimit-Reset": "2000030000000"}},
    }
}  # fmt: skip
DATE = {"Date": "Wed, 18 May 2033 03:33:20 GMT", "Retry-After": "1"}


def google(quota: str) -> dict[str, Any]:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
    ]
    message = "You exceeded your current quota. Please retry in 34.07s."
    return {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}}


def said(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "code": "rate_limit_exceeded"}}


@pytest.mark.parametrize(
    ("body", "headers", "kind", "wait_s"),
    [
        (OPENROUTER_DAY, DATE, FaultKind.RATE_LIMIT, 30_000),
        ([google("GenerateRequestsPerDayPerProjectPerModel-FreeTier")], {}, FaultKind.QUOTA, None),
        ([google("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")], {}, FaultKind.RATE_LIMIT, 34.07),
        (said("Rate limit exceeded: free-models-per-day."), {}, FaultKind.QUOTA, None),
        (said("Rate limit exceeded: free-models-per-day."), {"Retry-After": "2"}, FaultKind.QUOTA, None),
        (said("You are using a Trial key, which is limited to 1000 API calls / month."), {}, FaultKind.QUOTA, None),
        (said("Limit of requests per day (RPD) reached. Please try again in 7m12s."), {}, FaultKind.RATE_LIMIT, 432),
        (said("Tokens per day limit exceeded"), {"x-ratelimit-reset-tokens-day": "33011"}, FaultKind.RATE_LIMIT, 33011),
        (said("Rate limit exceeded: free-models-per-min."), {}, FaultKind.RATE_LIMIT, None),
        (said("Too many requests"), {"Retry-After": "2"}, FaultKind.RATE_LIMIT, 2),
    ],
)
def test_a_limit_of_a_day_is_waited_for_or_ends_the_run(
    body: Any, headers: Mapping[str, str], kind: FaultKind, wait_s: float | None
) -> None:
    fault = refused(429, body, headers)
    assert (fault.kind, fault.retry_after_s) == (kind, wait_s)
    assert ("renewed" in fault.hint) is (kind is FaultKind.QUOTA)
