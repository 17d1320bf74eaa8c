"""Tool calls in the shapes that servers really send."""

from typing import Any

from server.faults.registry import FAULTS, both, chunk, fault, stream
from server.http1 import Exchange


def calls(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"content": None, "tool_calls": list(calls)}


def call(arguments: Any, name: Any = "f", identity: Any = "call_a", **more: Any) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


FAULTS |= {
    "bad_args": lambda e: both(e, calls(call('{"city": "Ber', index=0)), "tool_calls"),
    "dict_args": lambda e: both(e, calls(call({"city": "Köln"}, index=0)), "tool_calls"),
    "null_tool": lambda e: both(e, calls(call(None, None, None, index=0)), "tool_calls"),
    "s_noindex": lambda e: stream(
        e,
        chunk(calls(call('{"a"', "f", "id1"))),
        chunk(calls({"function": {"arguments": ": 1}"}})),
        chunk(calls(call('{"b": 2}', "g", "id2"))),
        chunk({}, "tool_calls"),
    ),
    "s_all_zero": lambda e: stream(
        e,
        chunk(calls(call('{"a": 1}', "f", "id1", index=0))),
        chunk(calls(call('{"b": 2}', "g", "id2", index=0))),
        chunk({}, "tool_calls"),
    ),
    "function_call": lambda e: both(
        e, {"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"
    ),
    "strange_calls": lambda e: both(e, {"content": "x", "tool_calls": {"not": "a list"}}, "stop"),
}


@fault
def s_toolcut(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk(calls(call('{"city": "Ber', index=0))))
    e.finish()
