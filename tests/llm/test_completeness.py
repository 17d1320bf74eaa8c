"""An answer counts only when its server has proven that it is whole: by a reason that a table of ours knows."""

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.faults import FAULTS
from server.faults.registry import both
from server.http1 import Exchange

from console.core.fault import Fault, FaultKind
from console.llm.wires.completeness import QUIRKS, STANDARD, finish_of

REASONS = STANDARD | {quirk.reason: quirk.finish for quirk in QUIRKS if quirk.finish}
FAILURES = (
    *("insufficient_system_resource", "abort", "network_error", "timeout", "server_error", "overloaded", "cancelled"),
    *(
        "failed",
        "incomplete",
        "error",
        "ERROR",
        "malformed_function_call",
        "FINISH_REASON_UNSPECIFIED",
        "load",
        "stopp",
    ),
)
UNPROVEN = (FaultKind.SERVER, FaultKind.TRUNCATED, FaultKind.BROKEN_STREAM, FaultKind.BAD_ANSWER)
PROVIDERS = [
    pytest.param({}, id="streamed"),
    pytest.param({"params": {"stream": False}}, id="plain"),
    pytest.param(
        {"provider": "litellm", "model_id": "openai/m"},
        id="litellm",
        marks=[
            pytest.mark.slow,
            pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed"),
            pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
        ],
    ),
]


@pytest.fixture
def ask(connect, question, seen, monkeypatch):
    """Ask a server that says one text and ends it with a reason."""

    async def ask(reason, settings, message=None):
        def play(exchange: Exchange) -> None:
            both(exchange, message or {"content": "The weather is fine"}, reason)

        monkeypatch.setitem(FAULTS, "reason", play)
        limits = {"timeout_s": 60, "first_token_s": 60}  # litellm's first question loads half of it
        return await connect(limits, **settings).ask(question("fault:reason"), seen)

    return ask


@pytest.mark.parametrize("settings", PROVIDERS)
async def test_what_a_provider_is_known_to_say_proves_an_answer(ask, settings):
    call = {"content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    for reason, finish in REASONS.items():
        for spelling in (reason, reason.upper()):
            reply = await ask(spelling, settings, call if finish == "tool_calls" else None)
            assert reply.finish == finish, spelling
            assert (reply.content is None) is (finish == "tool_calls")


@pytest.mark.parametrize("settings", PROVIDERS)
async def test_no_other_reason_makes_an_answer(ask, seen, settings):
    for reason in FAILURES:
        with pytest.raises(Fault) as caught:
            await ask(reason, settings)
        assert caught.value.kind in UNPROVEN, reason
        assert "The weather is fine" in caught.value.partial
    for reason in (None, "", "null", 0, False, [], {}):
        with pytest.raises(Fault) as caught:
            await ask(reason, settings)
        assert caught.value.kind in UNPROVEN, reason


@given(st.text(max_size=30))
def test_only_words_of_the_table_are_believed(reason):
    word = reason.strip().lower()
    if word in REASONS or word in ("", "null"):
        assert finish_of(reason) == REASONS.get(word)
    else:
        with pytest.raises(Fault):
            finish_of(reason)


FILTERED = ("content_filter", "content_policy_violation", "data_inspection_failed")
NOT_FILTERED = [
    ("403 Forbidden", "account_flagged", FaultKind.AUTH),
    ("403 Forbidden", "content_policy_violation", FaultKind.AUTH),
    ("401 Unauthorized", "content_filter", FaultKind.AUTH),
    ("503 Service Unavailable", "moderation_service_unavailable", FaultKind.SERVER),
    ("500 Internal Server Error", "content_filter", FaultKind.SERVER),
    ("400 Bad Request", "content_filter_misconfigured", FaultKind.BAD_REQUEST),
    ("400 Bad Request", "moderation_disabled", FaultKind.BAD_REQUEST),
    ("429 Too Many Requests", "content_filter", FaultKind.RATE_LIMIT),
]


@pytest.mark.parametrize("settings", PROVIDERS)
async def test_only_a_refused_prompt_counts_against_the_model(connect, question, seen, monkeypatch, settings):
    async def ask(status: str, code: str):
        kind = "invalid_request_error"
        monkeypatch.setitem(FAULTS, "refusing", lambda exchange: exchange.error(status, "Not this", code, kind))
        limits = {"timeout_s": 60, "first_token_s": 60, "max_wait_s": 0}
        return await connect(limits, **settings).ask(question("fault:refusing"), seen)

    for code in FILTERED:
        assert (await ask("400 Bad Request", code)).finish == "content_filter"
    for status, code, kind in NOT_FILTERED:
        with pytest.raises(Fault) as caught:
            await ask(status, code)
        assert caught.value.kind is kind, (status, code)


def test_the_page_for_readers_shows_the_same_table():
    page = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (?:`(\w+)`|—) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    expected = [tuple(quirk) for quirk in QUIRKS]
    assert rows == expected, f"make the table of docs/models.md: {expected}"
