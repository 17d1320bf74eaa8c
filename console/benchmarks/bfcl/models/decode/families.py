"""The decode families: call formats of the models in the official registry.

As in the official code, each family has two decoders: one for calls to compare with ground truth, and one for call
strings to execute. The registry (`profile.py`) assigns a family to each model; no model names are used here.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.arithmetic import literal_value
from console.benchmarks.bfcl.models.decode.call_text import Call, call_text, call_texts
from console.benchmarks.bfcl.models.decode.functiongemma import functiongemma_calls
from console.benchmarks.bfcl.models.decode.minicpm import minicpm_calls
from console.benchmarks.bfcl.models.decode.prompted import (
    Form,
    decode_bracketed,
    decode_prompted,
    executable_prompted,
    text_of,
)
from console.benchmarks.bfcl.models.decode.python import parse_expression
from console.benchmarks.bfcl.models.decode.tags import all_between


@dataclass(frozen=True, slots=True)
class Family:
    """Decoders of one call format."""

    decode: Callable[[Any, Form], Any]
    """Decodes an answer, normally to calls; raises any exception if it is undecodable."""
    executable: Callable[[Any], list[str]]
    """Decodes an answer to call strings for execution; raises any exception if there are none."""


# Readers of JSON objects that name the function and its arguments: `[{"name": …, "arguments": {…}}, …]`


def _named(read: Callable[[Any], Any], name: str = "name", arguments: str = "arguments") -> Family:
    """Return a family of answers with named calls under the given keys.

    For execution, the name can be any value, but the arguments must be an object.
    """

    def executable(step: Any) -> list[str]:
        return [call_text(item[name], item[arguments]) for item in read(step)]

    return Family(lambda output, _: _named_calls(read(output), name, arguments), executable)


def _named_calls(items: Any, name: str = "name", arguments: str = "arguments") -> list[Call]:
    """Return the calls, ignoring other keys and without checking arguments."""
    return [{item[name]: item[arguments]} for item in items]


def _forgiving_texts(items: Iterable[Any]) -> list[str]:
    """Return the call strings of the objects among the items; missing names and arguments are empty."""
    objects = (cast(dict[str, Any], item) for item in items if isinstance(item, dict))
    return [call_text(item.get("name", ""), item.get("arguments", {}), ", ") for item in objects]


def _listed(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else [value]


def _json(output: Any) -> Any:
    """Parse JSON, accepting NaN and infinities like Python."""
    return json.loads(text_of(output))


def _after_tool_call(output: Any) -> Any:
    """Parse JSON after the first `<tool_call>`, optionally in a code fence."""
    _, tag, rest = text_of(output).partition("<tool_call>")
    if not tag:
        raise ValueError("no <tool_call> tag")
    text = rest.partition("<tool_call>")[0].partition("</tool_call>")[0].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json")  # more than three count as a fence, too
    return _listed(json.loads(text))


def _literals(output: Any) -> Any:
    """Parse Python literals (the official code uses `eval`), or JSON values separated by semicolons."""
    text = text_of(output).replace("<|python_tag|>", "")
    if ";" in text:  # also within a string
        return [json.loads(part) for part in text.split(";")]
    value = literal_value(parse_expression(text.lstrip(" \t")))
    return [value] if isinstance(value, dict) else value


def _json_or_several(output: Any) -> list[Any]:
    try:
        return _listed(_json(output))
    except json.JSONDecodeError:
        return [json.loads(part.strip()) for part in output.split(";")]


def _json_or_nothing(output: Any) -> Any:
    try:
        return json.loads(text_of(output).replace("```", ""))
    except (ValueError, RecursionError):
        return []


def _json_under_tool_calls(step: Any) -> list[str]:
    value = _json_or_nothing(step)
    if isinstance(value, dict):
        value = _listed(cast(dict[str, Any], value).get("tool_calls", []))
    return _forgiving_texts(cast(list[Any], value)) if isinstance(value, list) else []


def _thought_calls(output: Any) -> list[Call]:
    """Parse JSON after the first `</think>`, with single quotes replaced by double ones."""
    _, tag, rest = text_of(output).strip().replace("'", '"').partition("</think>")
    return _named_calls(json.loads(rest.strip())) if tag else []


def _never_after_thought(step: Any) -> list[str]:
    """Return nothing, as the official decoder looks up arguments under the wrong key and fails for every call."""
    if _thought_calls(step):
        raise TypeError("no call of this family is ever executed")
    return []


# Readers of native calls, in the recorded form


def _native(output: Any) -> list[Call]:
    """Parse objects `{name: "<JSON arguments>"}`, using only the first key of each."""
    calls: list[Call] = []
    for item in output:
        name = next(iter(item.keys()))
        calls.append({name: json.loads(item[name])})
    return calls


def _native_texts(step: Any) -> list[str]:
    """Return the call strings; arguments can be JSON or an object, and a single object counts as a list."""
    items: list[Call] = [step] if isinstance(step, dict) else step
    return call_texts({name: _parsed(arguments) for name, arguments in item.items()} for item in items)


def _parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def _list(output: Any) -> list[Any]:
    if not isinstance(output, list):
        raise TypeError(f"a list of calls was expected, not {type(output).__name__}")
    return cast(list[Any], output)


def _objects(output: Any) -> list[Any]:
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in cast(list[Any], output)):
        raise TypeError("a list of objects was expected")
    return cast(list[Any], output)


def _list_or_nothing(output: Any) -> list[Any]:
    return cast(list[Any], output) if isinstance(output, list) else []


# Readers of text with marks


def _tagged_objects(output: Any) -> list[Call]:
    """Parse JSON objects between `<tool_call>` tags on separate lines, dropping invalid ones."""

    def parsed() -> Iterator[Any]:
        for part in all_between(text_of(output), "<tool_call>\n", "\n</tool_call>"):
            try:
                yield json.loads(part)
            except (ValueError, RecursionError):
                continue

    return _named_calls(_objects(list(parsed())))


def _decode_tagged_objects(output: Any, _: Form) -> list[Call]:
    return [{name: dict(arguments.items())} for call in _tagged_objects(output) for name, arguments in call.items()]


def _pieces(output: Any) -> list[Call | str]:
    """Parse JSON objects after each `<function_call>`; invalid ones stay strings, which are even executed."""
    parts = (part.strip() for part in text_of(output).split("<function_call>"))
    return [_piece(part) for part in parts if part]


def _piece(text: str) -> Call | str:
    try:
        call = json.loads(text)
    except ValueError:
        return text
    name = call.get("name", "").strip()
    return "No function is called" if name == "no_function" else {name: call.get("arguments", {})}


def _piece_texts(step: Any) -> list[str]:
    return [text for piece in _pieces(step) for text in ([piece] if isinstance(piece, str) else call_texts([piece]))]


def _two_lines(output: Any, _: Form) -> list[Call | str]:
    """Parse one call: the name on the first line, JSON arguments on the second."""
    lines = text_of(output).split("\n")
    return [{lines[0]: json.loads(lines[1])}] if len(lines) > 1 else [lines[0]]


def _two_lines_texts(step: Any) -> list[str]:
    if not text_of(step):
        return []
    name, line, rest = step.partition("\n")
    if not line:
        raise ValueError("a single line contains no call")
    return [call_text(name, json.loads(rest.split("\n")[0]))]


def _minicpm_texts(step: Any) -> list[str]:
    calls = minicpm_calls(step)
    return [] if isinstance(calls, str) else call_texts(calls, ", ")


# Readers of prompted calls: a list of Python calls, or the syntax of the function documents


def _without_tool_code(output: Any) -> str:
    """Remove all `tool_code` fences."""
    return text_of(output).replace("```tool_code\n", "").replace("\n```", "")


def _without_opening(output: Any) -> str:
    return text_of(output).removeprefix("```json").removeprefix("```python")


def _decode_stripped(output: Any, form: Form) -> Any:
    return decode_prompted(_without_opening(text_of(output).strip()), form)


def _between_tags(output: Any) -> list[str]:
    return all_between(text_of(output), "<TOOLCALL>", "</TOOLCALL>", most=1)


def _decode_between_tags(output: Any, form: Form) -> Any:
    parts = _between_tags(output)
    return decode_prompted(parts[0], form) if parts else []


def _between_tags_texts(step: Any) -> list[str]:
    parts = _between_tags(step)
    return executable_prompted(parts[0]) if parts else []


def _never(step: Any) -> list[str]:
    """Raise for every step, as the official decoder fails with wrong parameters."""
    raise TypeError(f"no step of this family is ever executed, not even {type(step).__name__}")


FAMILIES: dict[str, Family] = {
    "prompt": Family(decode_prompted, executable_prompted),
    "gemini_prompt": Family(
        lambda output, form: decode_prompted(_without_tool_code(output), form),
        lambda step: executable_prompted(_without_tool_code(step)),
    ),
    # For execution, spaces before the opening fence are not stripped, so that the fence is not recognized.
    "phi_prompt": Family(_decode_stripped, lambda step: executable_prompted(_without_opening(step))),
    "fc_json": Family(lambda output, _: _native(output), _native_texts),
    # Decoding accepts anything, so other values fail only as wrongly formatted calls.
    "gemini_fc": Family(lambda output, _: _listed(output), call_texts),
    "dictlist": Family(lambda output, _: _list(output), lambda step: _native_texts(_list(step))),
    "dictlist_strict": Family(lambda output, _: _objects(output), lambda step: _native_texts(_objects(step))),
    "cohere": _named(_list_or_nothing, "tool_name", "parameters"),
    "mining": Family(lambda output, _: _named_calls(output), _forgiving_texts),
    "gorilla": Family(lambda output, form: decode_bracketed(f"[{text_of(output)}]", form), _never),
    "nemotron": Family(_decode_between_tags, _between_tags_texts),
    "tool_call_tags": Family(_decode_tagged_objects, lambda step: _native_texts(_tagged_objects(step))),
    "falcon3": _named(_after_tool_call),
    "llama31": _named(_literals, arguments="parameters"),
    "bitagent": _named(lambda output: _listed(_json(output))),
    "xlam": _named(_json_or_several),
    "hammer": Family(lambda output, _: _named_calls(_json_or_nothing(output)), _json_under_tool_calls),
    "granite20b": Family(lambda output, _: _pieces(output), _piece_texts),
    "thinkagent": Family(lambda output, _: _thought_calls(output), _never_after_thought),
    "glm_local": Family(_two_lines, _two_lines_texts),
    "minicpm_fc": Family(lambda output, _: minicpm_calls(output), _minicpm_texts),
    "functiongemma": Family(
        lambda output, _: functiongemma_calls(output), lambda step: call_texts(functiongemma_calls(step), ", ")
    ),
}
"""Families by name in the registry."""
