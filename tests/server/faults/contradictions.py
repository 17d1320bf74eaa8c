"""Answers that end well and yet hold a part that cannot be read, or that contradicts another."""

from typing import Any

from server.faults.registry import FAULTS, TEXT, Fault, both, choice, chunk, fault, stream
from server.faults.tools import call
from server.http1 import Exchange


def misnamed_arguments() -> dict[str, Any]:
    """Return a call whose arguments nobody looks for."""
    whole = call("")
    return {**whole, "function": {"name": whole["function"]["name"], "parameters": {"a": 1}}}


MESSAGES: dict[str, dict[str, Any]] = {
    "no_calls_after_empty_text": {"content": ""},
    "no_calls_after_text": {"content": "I look it up."},
    "calls_are_texts": {"content": None, "tool_calls": ["f"]},
    "calls_are_an_object": {"content": None, "tool_calls": call("{}")},
    "call_is_empty": {"content": None, "tool_calls": [{}]},
    "call_is_null": {"content": None, "tool_calls": [None]},
    "function_is_a_text": {"content": None, "tool_calls": [{"id": "a", "function": "f"}]},
    "function_has_no_name": {"content": None, "tool_calls": [call("{}", None)]},
    "function_has_a_number_for_a_name": {"content": None, "tool_calls": [call("{}", 5)]},
    "arguments_are_a_number": {"content": None, "tool_calls": [call(5)]},
    "arguments_under_another_name": {"content": None, "tool_calls": [misnamed_arguments()]},
    "call_of_another_type": {"content": None, "tool_calls": [{"id": "a", "type": "custom", "custom": {"input": "a"}}]},
    "another_call_in_the_older_format": {
        "content": None,
        "tool_calls": [call("{}")],
        "function_call": {"name": "g", "arguments": "{}"},
    },
    "call_is_there_twice": {"content": None, "tool_calls": [call('{"a": 1}'), call('{"a": 1}')]},
}
"""Messages that end with `tool_calls`."""
CONTENTS: dict[str, dict[str, Any]] = {
    "content_is_numbers": {"content": [1, 2]},
    "content_is_an_empty_list": {"content": []},
    "content_has_parts_without_text": {"content": [{"type": "output"}]},
    "refusal_is_a_list": {"content": "", "refusal": ["no"]},
    "reasoning_is_a_list": {"content": "", "reasoning_content": ["hm"]},
    "function_call_is_a_text": {"content": "", "function_call": "f"},
    "text_under_another_name": {"content": None, "text": TEXT},
    "text_as_audio": {"content": None, "audio": {"transcript": TEXT}},
    "role_is_user": {"role": "user", "content": TEXT},
    "role_is_tool": {"role": "tool", "content": TEXT},
}
"""Messages that end with `stop`."""
SIGNALS: dict[str, dict[str, Any]] = {
    "signal_errors": {"errors": [{"message": "the engine died"}]},
    "signal_code": {"code": "InternalError", "message": "the engine died"},
    "signal_status": {"status": "error", "message": "the engine died"},
    "signal_success": {"success": False, "message": "the engine died"},
    "signal_detail": {"detail": "the engine died"},
    "signal_base_resp": {"base_resp": {"status_code": 1013, "status_msg": "the engine died"}},
}
"""Fields beside the choices that report an error."""
PARTS: dict[str, Any] = {"text": TEXT, "list": [{"content": TEXT}], "null": None, "number": 5}
"""What stands in place of a message or a delta."""


def says(message: dict[str, Any], finish: str) -> Fault:
    return lambda exchange: both(exchange, message, finish)


def signals(fields: dict[str, Any]) -> Fault:
    def play(e: Exchange) -> None:
        if e.json.get("stream"):
            stream(e, chunk({"content": TEXT}), chunk({}, "stop") | fields)
        else:
            e.answer_json({"choices": [choice({"content": TEXT})]} | fields)

    return play


def says_part(part: Any) -> Fault:
    def play(e: Exchange) -> None:
        if e.json.get("stream"):
            odd = {"choices": [{"index": 0, "delta": part, "finish_reason": None}]}
            stream(e, chunk({"role": "assistant", "content": ""}), odd, chunk({}, "stop"))
        else:
            e.answer_json({"choices": [{"index": 0, "message": part, "finish_reason": "stop"}]})

    return play


CONTRADICTIONS = (
    {name: says(message, "tool_calls") for name, message in MESSAGES.items()}
    | {name: says(message, "stop") for name, message in CONTENTS.items()}
    | {f"message_is_{kind}": says_part(part) for kind, part in PARTS.items()}
)
"""All are unreadable answers; `SIGNALS` are errors that the server reports."""
FAULTS |= CONTRADICTIONS | {name: signals(fields) for name, fields in SIGNALS.items()}


@fault
def message_is_missing(e: Exchange) -> None:
    e.answer_json({"choices": [{"index": 0, "finish_reason": "stop"}]})


@fault
def first_choice_twice(e: Exchange) -> None:
    e.answer_json({"choices": [choice({"content": TEXT}), choice({"content": TEXT})]})


@fault
def s_other_text_beside_deltas(e: Exchange) -> None:
    odd = chunk({"content": TEXT})
    odd["choices"][0]["text"] = "The weather is bad"
    stream(e, odd, chunk({}, "stop"))


@fault
def s_two_reasons(e: Exchange) -> None:
    stream(e, chunk({"content": "The weather"}, "length"), chunk({"content": " is fine"}, "stop"))


@fault
def s_restated_otherwise(e: Exchange) -> None:
    whole = {"index": 0, "message": {"content": "The weather is bad"}, "finish_reason": "stop"}
    stream(e, chunk({"content": TEXT}), {"choices": [whole]})


@fault
def s_chunks_of_two_answers(e: Exchange) -> None:
    first, second = ({**chunk({"content": text}), "id": name} for text, name in (("The weather", "a"), ("No", "b")))
    stream(e, first, second, {**chunk({"content": " is fine"}, "stop"), "id": "a"})


@fault
def s_other_reason_of_the_provider(e: Exchange) -> None:
    last = chunk({"content": ""}, "stop")
    last["choices"][0]["native_finish_reason"] = "MALFORMED_FUNCTION_CALL"
    stream(e, last)


@fault
def s_cut_that_the_gateway_hides(e: Exchange) -> None:
    last = chunk({"content": "The wea"}, "stop")
    last["choices"][0]["native_finish_reason"] = "max_tokens"
    stream(e, last)
