"""Token counts, costs and service tiers in the formats of many providers, read into the same usage."""

from typing import Any

import pytest

from console.config.redaction import Redactor
from console.core.chat import Reply, Usage
from console.llm.reply import ReplyBuilder
from console.llm.wires.anthropic import ANTHROPIC_API
from console.llm.wires.bedrock import read_converse
from console.llm.wires.chat import CHAT_API
from console.llm.wires.gemini import read_candidates
from console.llm.wires.responses import read_response
from console.llm.wires.usage import read_usage

Json = dict[str, Any]
BASE = {"prompt_tokens": 1000, "completion_tokens": 50}
DETAILS = "prompt_tokens_details"
REPORTS: dict[str, tuple[Json, Usage]] = {
    "OpenAI, vLLM": ({DETAILS: {"cached_tokens": 900}}, Usage(1000, 50, 900)),
    "Moonshot": ({"cached_tokens": 900}, Usage(1000, 50, 900)),
    "DeepSeek": ({"prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 100}, Usage(1000, 50, 900)),
    "LiteLLM proxy": (
        {"cache_read_input_tokens": 600, "cache_creation_input_tokens": 300, DETAILS: {"cached_tokens": 600}},
        Usage(1000, 50, 600, written=300),
    ),
    "null details": ({DETAILS: None, "input_tokens_details": {"cached_tokens": 7}}, Usage(1000, 50, 7)),
    "OpenAI, writes": ({DETAILS: {"cache_write_tokens": 900}}, Usage(1000, 50, written=900)),
    "Moonshot, writes": ({DETAILS: {"cache_creation_tokens": 900}}, Usage(1000, 50, written=900)),
    "DashScope, writes": (
        {DETAILS: {"cache_creation_input_tokens": 9, "cache_creation": {"ephemeral_5m_input_tokens": 9}}},
        Usage(1000, 50, written=9),
    ),
    "writes for an hour": (
        {DETAILS: {"cache_creation_tokens": 9}, "cache_creation": {"ephemeral_1h_input_tokens": 6}},
        Usage(1000, 50, written=9, written_1h=6, unpriced=3),
    ),
    "xAI": (
        {"total_tokens": 1250, "completion_tokens_details": {"reasoning_tokens": 200}},
        Usage(1000, 250, reasoning=200),
    ),
    "OpenAI, reasoning": (
        {"total_tokens": 1050, "completion_tokens_details": {"reasoning_tokens": 40}},
        Usage(1000, 50, reasoning=40),
    ),
    "reasoning outside, no total": (
        {"completion_tokens_details": {"reasoning_tokens": 500}},
        Usage(1000, 550, reasoning=500),
    ),
    "Perplexity": ({"reasoning_tokens": 30, "cost": {"total_cost": 0.5}}, Usage(1000, 50, 0, 30, 0.5)),
    "Gemini, OpenAI-style": ({"total_tokens": 1350}, Usage(1000, 350, unpriced=300)),
    "caches outside the prompt": ({"total_tokens": 1950, "cached_tokens": 900}, Usage(1900, 50, 900)),
    "xAI, cost": ({"cost_in_usd_ticks": 25_000_000}, Usage(1000, 50, cost_usd=0.0025)),
    "OpenRouter": ({"cost": 0.25, "is_byok": False}, Usage(1000, 50, cost_usd=0.25)),
    "OpenRouter, own key": (
        {"cost": 0.25, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}},
        Usage(1000, 50, cost_usd=0.75),
    ),
    "own key, cost unknown": ({"cost": 0.01, "is_byok": True}, Usage(1000, 50)),
    "audio": ({DETAILS: {"audio_tokens": 30, "image_tokens": 5}}, Usage(1000, 50, unpriced=35)),
    "searches": ({"num_search_queries": 2, "server_tool_use": {"web_search_requests": 1}}, Usage(1000, 50, unpriced=3)),
    "absurd cache": ({DETAILS: {"cached_tokens": 10**12, "cache_write_tokens": -4}}, Usage(1000, 50)),
    "more cached than sent": ({"total_tokens": 1050, "cached_tokens": 5000}, Usage(5000, 50, 5000, unpriced=4000)),
    "more reasoning than output": (
        {"total_tokens": 1050, "completion_tokens_details": {"reasoning_tokens": 500}},
        Usage(1000, 500, reasoning=500, unpriced=450),
    ),
    "a total of zero": (
        {"total_tokens": 0, "completion_tokens_details": {"reasoning_tokens": 500}},
        Usage(1000, 550, reasoning=500),
    ),
    "litellm, writes for an hour": (
        {DETAILS: {"cache_creation_tokens": 9, "cache_creation_token_details": {"ephemeral_1h_input_tokens": 9}}},
        Usage(1000, 50, written=9, written_1h=9),
    ),
    "writes by lifetime alone": (
        {"cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 6}},
        Usage(1000, 50, written=9, written_1h=6),
    ),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_in_the_format_of_chat_completions(name: str) -> None:
    fields, usage = REPORTS[name]
    assert read_usage(BASE | fields) == usage


def test_reports_with_the_names_of_other_apis() -> None:
    details = {"input_tokens_details": {"cached_tokens": 5}, "output_tokens_details": {"reasoning_tokens": 2}}
    assert read_usage({"input_tokens": 10, "output_tokens": 4, **details}) == Usage(10, 4, 5, 2)
    apart = {"cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
    assert read_usage({"input_tokens": 10, "output_tokens": 4, **apart}) == Usage(18, 4, 5, written=3)


def built(*chunks: Json, api=CHAT_API) -> Reply:
    """Return the reply in the chunks of a stream, or in a whole body."""
    builder = ReplyBuilder(api.assembly(), lambda kind, text: None, Redactor([]))
    for chunk in chunks:
        builder.add_chunk(chunk)
    builder.mark_end()
    return builder.reply(0.0, None)


def piece(**fields: Any) -> Json:
    return {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None, **fields}]}


END = piece(finish_reason="stop", delta={})
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}
STREAMS: dict[str, list[Json]] = {
    "last chunk": [piece(), END, {"choices": [], "usage": USAGE}],
    "in the choice, as Moonshot": [piece(), piece(finish_reason="stop", delta={}, usage=USAGE)],
    "in x_groq": [piece(), END | {"x_groq": {"usage": USAGE}}],
    "in each chunk": [piece() | {"usage": {"prompt_tokens": 10, "completion_tokens": 1}}, END | {"usage": USAGE}],
    "then null": [piece(), END | {"usage": USAGE}, {"choices": [], "usage": None}],
    "twice, the second without the answer": [
        piece(),
        END | {"usage": USAGE},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 0}},
    ],
    "whole": [{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop", "usage": USAGE}]}],
}


@pytest.mark.parametrize("name", STREAMS)
def test_usage_is_found_where_servers_put_it(name: str) -> None:
    assert built(*STREAMS[name]).usage == Usage(10, 2, 4)


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": 10, "completion_tokens": 0}, {"prompt_tokens": 0, "completion_tokens": 2}]
)
def test_a_report_that_counts_nothing_for_an_answer_is_unknown(usage: Json) -> None:
    assert built(piece(), END, {"choices": [], "usage": usage}).usage is None
    assert built(piece(), END, {"choices": [], "usage": usage | {"cost": 0.5}}).usage is not None


def test_an_unreadable_report_at_the_end_is_unknown() -> None:
    """An earlier one may be that of a part."""
    assert built(piece() | {"usage": USAGE}, END, {"choices": [], "usage": {"prompt_tokens": "10"}}).usage is None


def test_the_tier_that_a_reply_names_is_kept() -> None:
    assert built(piece(), END | {"service_tier": "Flex"}, {"choices": [], "usage": USAGE}).tier == "flex"
    assert built(piece(), END).tier == ""
    output = [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}]
    assert read_response({"output": output, "service_tier": "priority"}, "stop").tier == "priority"


def anthropic(start: Json, delta: Json) -> Reply:
    message = {"role": "assistant", "content": [], "usage": {"input_tokens": 10, "output_tokens": 1, **start}}
    return built(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5, **delta}},
        {"type": "message_stop"},
        api=ANTHROPIC_API,
    )


def test_writes_by_lifetime_and_tier_of_anthropic() -> None:
    parts = {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000}
    start = {"cache_creation_input_tokens": 3000, "cache_read_input_tokens": 900, "cache_creation": parts}
    reply = anthropic(start | {"service_tier": "priority"}, {"cache_creation_input_tokens": None})
    assert (reply.usage, reply.tier) == (Usage(3910, 5, 900, written=3000, written_1h=2000), "priority")
    fast = anthropic({}, {"service_tier": "standard", "speed": "fast", "inference_geo": "us"})
    assert (fast.usage, fast.tier) == (Usage(10, 5), "fast us")
    searched = anthropic({}, {"server_tool_use": {"web_search_requests": 2}, "inference_geo": "global"})
    assert (searched.usage, searched.tier) == (Usage(10, 5, unpriced=2), "")


def gemini(**usage: Any) -> Reply:
    candidate = {"content": {"parts": [{"text": "hi"}]}}
    return read_candidates({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 100, **usage}}, "stop")


def test_thoughts_tools_media_and_tier_of_gemini() -> None:
    counts = {"candidatesTokenCount": 20, "thoughtsTokenCount": 8}
    assert gemini(**counts, totalTokenCount=128).usage == Usage(100, 28, reasoning=8)
    assert gemini(**counts).usage == Usage(100, 28, reasoning=8)
    assert gemini(**counts, totalTokenCount=120).usage == Usage(100, 20, reasoning=8), "part of the candidates"
    assert gemini(toolUsePromptTokenCount=30, totalTokenCount=130).usage == Usage(130, 0)
    media = [{"modality": "TEXT", "tokenCount": 60}, {"modality": "AUDIO", "tokenCount": 40}]
    assert gemini(promptTokensDetails=media).usage == Usage(100, 0, unpriced=40)
    assert [gemini(**tier).tier for tier in ({"trafficType": "ON_DEMAND_FLEX"}, {"serviceTier": "priority"}, {})] == [
        "flex", "priority", "",
    ]  # fmt: skip


def test_caches_of_bedrock_are_apart_from_its_input() -> None:
    usage = {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 90, "cacheWriteInputTokens": 30}
    details = [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m", "inputTokens": 10}]
    body = {"output": {"message": {"content": [{"text": "hi"}]}}, "usage": {**usage, "cacheDetails": details}}
    reply = read_converse({**body, "serviceTier": {"type": "flex"}}, "stop")
    assert (reply.usage, reply.tier) == (Usage(130, 5, 90, written=30, written_1h=20), "flex")


def test_counts_of_anthropic_never_get_smaller_within_a_stream() -> None:
    """Gateways report zeros at one end of a stream, and leave out the counts of the answer."""
    assert anthropic({"input_tokens": 900}, {"input_tokens": 0}).usage == Usage(900, 5)
    assert anthropic({"input_tokens": 0}, {"input_tokens": 900}).usage == Usage(900, 5)
    assert anthropic({"output_tokens": 3}, {"output_tokens": None}).usage is None
    lifetimes = {"cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 70}}
    assert anthropic(lifetimes, {}).usage == Usage(100, 5, written=90, written_1h=70)


def test_lifetimes_of_bedrock_are_added_up() -> None:
    details = [{"ttl": "1h", "inputTokens": 20}, {"ttl": "1h", "inputTokens": 10}, {"ttl": "24h", "inputTokens": 5}]
    usage = {"inputTokens": 10, "outputTokens": 5, "cacheWriteInputTokens": 35, "cacheDetails": details}
    body = {"output": {"message": {"content": [{"text": "hi"}]}}, "usage": usage}
    assert read_converse(body, "stop").usage == Usage(45, 5, written=35, written_1h=30, unpriced=5)
