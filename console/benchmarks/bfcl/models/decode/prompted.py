"""Calls in the text of a prompted model: what is cut off first, and which syntax is read.

Format sensitivity also asks for JSON, `[{"function": name, "parameters": {…}}, …]`, and for XML, verbose (values in
attributes) or concise (values as text). The JSON list is searched in linear time; the official pattern finds the same
but is exponential in the number of objects when the closing bracket is missing.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from xml.etree.ElementTree import Element, fromstring  # the text starts at its root: no document type, no entities

from console.benchmarks.bfcl.models.decode.call_text import nested_call_texts
from console.benchmarks.bfcl.models.decode.java import decode_java
from console.benchmarks.bfcl.models.decode.javascript import decode_javascript
from console.benchmarks.bfcl.models.decode.python import decode_python
from console.benchmarks.bfcl.models.decode.tags import between

_OPENING, _CLOSING = "<functions>", "</functions>"


def decode_verbose_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><params><param name=… value=… type=…/>`.

    Raises:
        Exception: of any kind: no `<functions>`, malformed, or a value that does not fit its type.
    """
    return _xml_calls(text, _verbose_params)


def decode_concise_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><param name=… type=…>value</param>`; raises as `decode_verbose_xml`."""
    return _xml_calls(text, _concise_params)


def _xml_calls(text: str, params: Callable[[Element], dict[Any, Any]]) -> list[dict[str, Any]]:
    element = f"{_OPENING}{between(text, _OPENING, _CLOSING)}{_CLOSING}"
    root = fromstring(element)  # noqa: S314 - see the import
    return [{function.attrib["name"]: params(function)} for function in root.findall("function")]


def _verbose_params(function: Element) -> dict[Any, Any]:
    container = function.find("params")
    params = (function if container is None else container).findall("param")
    return {param.get("name"): _typed(param.get("value", ""), param) for param in params}


def _concise_params(function: Element) -> dict[Any, Any]:
    return {param.attrib["name"]: _typed((param.text or "").strip(), param) for param in function.findall("param")}


def _typed(text: str, param: Element) -> Any:
    match param.get("type", "string"):
        case "integer":
            return int(text)
        case "float":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case "null":
            return None
        case "array" | "tuple" | "object" | "dict":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.literal_eval(text)
        case _:
            return text


_JSON_START = re.compile(r"\[\s*\{")
_JSON_END = re.compile(r"\}\s*\]")


def decode_json(text: str) -> list[dict[str, Any]]:
    """Return the calls; none if the text is not JSON.

    Raises:
        Exception: of any kind: an object lacks a key, its name is no text, or the value is not a list.
    """
    try:
        items = json.loads(_json_list_in(text))
    except json.JSONDecodeError:
        return []
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    return [{item["function"]: item["parameters"]} for item in objects]


def _json_list_in(text: str) -> str:
    """Return the part that is parsed: from the first `[{` to the first `}]` after it, blanks between allowed."""
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        text = text[first : last + 1]
    start = _JSON_START.search(text)
    end = _JSON_END.search(text, start.end()) if start else None
    return text[start.start() : end.end()] if start and end else text


_SYNTAXES: dict[str, Callable[[str], Any]] = {
    "python": decode_python,
    "json": decode_json,
    "verbose_xml": decode_verbose_xml,
    "concise_xml": decode_concise_xml,
    "java": lambda text: decode_java(text[1:-1]),
    "javascript": lambda text: decode_javascript(text[1:-1]),
}


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of the form of an answer before it is read."""

    syntax: str = "python"
    """`python`, `java` or `javascript`; in format sensitivity the form that was asked for, such as `json`."""
    tagged: bool = False
    """Whether calls must stand between `<TOOLCALL>` tags."""


def decode_prompted(output: Any, form: Form) -> Any:
    """Return the calls of a prompted answer.

    Raises:
        Exception: of any kind: it is no text, or cannot be read.
    """
    return decode_bracketed(cleaned(output), form)


def executable_prompted(step: Any) -> list[str]:
    """Return the call texts of a prompted answer, always read as Python.

    Raises:
        Exception: of any kind, as `decode_prompted`; also for an empty dictionary among the arguments.
    """
    return nested_call_texts(decode_python(cleaned(step)))


def decode_bracketed(text: str, form: Form) -> Any:
    """Return the calls of a text in brackets, by the form it is asked for.

    Raises:
        Exception: of any kind: it cannot be read, or lacks the tags that must be there.
    """
    if form.tagged:
        text = between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    return _SYNTAXES[form.syntax](text)


def cleaned(output: Any) -> str:
    """Return a prompted answer without outer backticks, line feeds and blanks, and with outer brackets.

    Raises:
        TypeError: it is not a text.
    """
    text = text_of(output).strip("`\n ")
    text = text if text.startswith("[") else f"[{text}"
    return text if text.endswith("]") else f"{text}]"


def text_of(output: Any) -> str:
    """Return an answer that must be a text.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(output, str):
        raise TypeError(f"a text was expected, not {type(output).__name__}")
    return output
