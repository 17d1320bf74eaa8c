"""Whatever a reply holds, a handler of any API reads it, or ends the entry as an answer that broke it."""

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.handlers.handler import UnreadableAnswer, answers_may_break
from console.benchmarks.bfcl.models.handlers.table import handler_for
from console.benchmarks.bfcl.models.profile import find_profile
from console.benchmarks.bfcl.rules.inference_error import broken_handler, is_unanswered
from console.core.chat import Reply, ToolCall

STARTER = Dataset(Path(__file__).resolve().parents[3] / "data" / "bfcl-starter")
ROWS = (
    *("kimi-k2-0905-preview-FC", "mistral-large-2411-FC", "firefunction-v2-FC"),
    *("gpt-5-mini-2025-08-07-FC", "gpt-5-mini-2025-08-07"),
    *("claude-haiku-4-5-20251001-FC", "claude-haiku-4-5-20251001"),
    *("gemini-2.5-flash-FC", "gemini-2.5-flash"),
    *("nova-pro-v1.0", "command-a-03-2025-FC", "palmyra-x-004", "gorilla-openfunctions-v2"),
    *("Qwen/Qwen3-8B-FC", "MadeAgents/Hammer2.1-7b", "mistralai/Ministral-8B-Instruct-2410"),
    *("microsoft/Phi-4-mini-instruct-FC", "ibm-granite/granite-3.1-8b-instruct", "DM-Cito-8B-v3"),
)
ODD = ("[]", "null", "[1]", '{"name": 1}', "<tool_call>\n[]\n</tool_call>", "<tool_call>[1e999]", '[{"name": "f"}]')
texts = st.text(max_size=20) | st.sampled_from([*ODD, "[" * 3000])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "thought", "functionCall", "name"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("row", ROWS)
@settings(max_examples=40)
@given(
    content=st.none() | texts,
    arguments=st.lists(texts, max_size=2),
    native=st.none() | st.lists(values, max_size=3),
)
def test_any_reply_is_read_or_ends_the_entry(row: str, content: str | None, arguments: list[str], native: Any):
    profile = find_profile(row)
    handler = handler_for(profile, STARTER)
    calls = tuple(ToolCall(f"c{number}", "f", text) for number, text in enumerate(arguments))
    carried = None if native is None else cast(Any, {"api": profile.api, "content": native})
    answer = None
    with suppress(UnreadableAnswer), answers_may_break():
        answer = handler.read(Reply(content, calls, native=carried))
    if answer is not None:
        executed = handler.calls(answer.output)
        shown = handler.show_results(answer.message, executed, ["result"] * len(executed))
        assert all(isinstance(message["role"], str) for message in shown)


def test_the_result_of_a_broken_answer_is_no_failed_inference():
    assert is_unanswered("Error during inference: 502")
    assert not is_unanswered(broken_handler(ValueError("502")))
    assert not is_unanswered(["Error during inference: 502"])
