"""A newer model: it refuses one parameter after the other, each in the words of its provider."""

from server.faults.registry import both, fault
from server.http1 import Exchange

_REFUSED = {
    "temperature": ("unsupported_value", "Unsupported value: 'temperature' does not support 0.7 with this model."),
    "max_tokens": (
        "unsupported_parameter",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "store": ("unknown_parameter", "Unknown parameter: 'store'."),
    "stream_options": ("unknown_parameter", "Unknown parameter: 'stream_options'."),
    "parallel_tool_calls": ("unsupported_parameter", "'parallel_tool_calls' is not supported with this model."),
}


@fault
def newer_model(e: Exchange) -> None:
    for name, (code, message) in _REFUSED.items():
        if name in e.json:
            e.error("400 Bad Request", message, code)
            return
    if e.json.get("tools"):
        function = {"name": "look_up", "arguments": '{"number": 7}'}
        both(e, {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]}, "tool_calls")
    else:
        both(e, {"content": "yes"})
