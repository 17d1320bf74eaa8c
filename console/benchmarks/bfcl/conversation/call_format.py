"""Formats calls for simulated models as the model of a registry row writes them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from console.benchmarks.bfcl.conversation.scripted_answers import Call
from console.benchmarks.bfcl.models.templates.functiongemma import value_text
from console.core.chat import ScriptedAnswers, Utterance
from console.suites.call_matching.checker import underscored_name


def _objects(calls: Sequence[Call], key: str = "arguments") -> list[dict[str, Any]]:
    return [{"name": name, key: arguments} for name, arguments in calls]


def _list(calls: Sequence[Call]) -> str:
    return json.dumps(_objects(calls))


def _tagged(calls: Sequence[Call]) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in _objects(calls))


def _llama_31(calls: Sequence[Call]) -> str:
    """Format one call as a Python literal, several as JSON separated by semicolons, as its decoder expects."""
    objects = _objects(calls, "parameters")
    return repr(objects[0]) if len(objects) == 1 else "; ".join(map(json.dumps, objects))


def _lines(calls: Sequence[Call]) -> str:
    name, arguments = calls[0]
    return f"{underscored_name(name)}\n{json.dumps(arguments)}"


def _underscored(calls: Sequence[Call]) -> Sequence[Call]:
    return [(underscored_name(name), arguments) for name, arguments in calls]


def _marked(calls: Sequence[Call]) -> str:
    return " ".join(f"<function_call> {json.dumps(call)}" for call in _objects(_underscored(calls)))


def _bare(calls: Sequence[Call]) -> str:
    texts = [f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})" for name, values in calls]
    return ", ".join(texts)


def _python(calls: Sequence[Call]) -> str:
    return f"<TOOLCALL>[{_bare(calls)}]</TOOLCALL>"


def _declared(calls: Sequence[Call]) -> str:
    return "".join(
        f"<start_function_call>call:{name}{value_text(arguments, plain_keys=True)}<end_function_call>"
        for name, arguments in calls
    )


WRITERS: Mapping[str, Callable[[Sequence[Call]], str]] = {
    "arch": _tagged,
    "bitagent": _list,
    "dm_cito": _list,
    "functiongemma": _declared,
    "glm4": _lines,
    "gorilla": _bare,
    "granite20b": _marked,
    "granite3": lambda calls: f"<tool_call>{_list(calls)}",
    "granite4": _tagged,
    "hammer": _list,
    "llama31": _llama_31,
    "ministral": _list,
    "nanbeige": _tagged,
    "nemotron": _python,
    "pelican": _tagged,
    "phi4_mini_fc": lambda calls: f"<|tool_call|>{_list(calls)}<|/tool_call|>",
    "qwen3_fc": _tagged,
    "qwen_agent": lambda calls: _tagged(_underscored(calls)),
    "thinkagent": lambda calls: f"</think>{_list(calls)}",
    "xlam_llama": _list,
    "xlam_qwen": _list,
}
"""Formatters by template or handler; others use the format of the benchmark's prompt."""


def in_call_format(answers: ScriptedAnswers, call_format: str) -> ScriptedAnswers:
    """Return scripted answers with their calls written in a format, or unchanged if it is not in `WRITERS`."""
    write = WRITERS.get(call_format)
    if write is None:
        return answers
    return ScriptedAnswers(_written(answers.right, write), tuple(_written(wrong, write) for wrong in answers.wrong))


def _written(utterance: Utterance, write: Callable[[Sequence[Call]], str]) -> Utterance:
    return Utterance(write(utterance.calls)) if utterance.calls else utterance
