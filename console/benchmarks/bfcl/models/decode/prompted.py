"""Decoder for prompted models: cleanup and choice of syntax.

Format sensitivity also uses JSON, `[{"function": name, "parameters": {…}}, …]`, and XML, verbose (values in attributes)
or concise (values as text). The JSON list is found in linear time, while the equivalent official pattern is exponential
without a closing bracket.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from xml.etree.ElementTree import Element, fromstring  # texts begin with the root element, so have no entities

from console.benchmarks.bfcl.models.decode.call_text import nested_call_texts
from console.benchmarks.bfcl.models.decode.java import decode_java
from console.benchmarks.bfcl.models.decode.javascript import decode_javascript
from console.benchmarks.bfcl.models.decode.python import decode_python
from console.benchmarks.bfcl.models.decode.tags import between

_OPENING, _CLOSING = "<functions>", "</functions>"


def decode_verbose_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><params><param name=… value=… type=…/>`.

    Raises:
        Exception: of any type, for example after a missing `<functions>`, malformed XML, or a value of the wrong type.
    """
    return _xml_calls(text, _verbose_params)


def decode_concise_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><param name=… type=…>value</param>`; raises like `decode_verbose_xml`."""
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
    """Return the calls, none for invalid JSON.

    Raises:
        Exception: of any type, for example after a missing key, a non-string name, or a value that is not a list.
    """
    try:
        items = json.loads(_json_list_in(text))
    except json.JSONDecodeError:
        return []
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    return [{item["function"]: item["parameters"]} for item in objects]


def _json_list_in(text: str) -> str:
    """Return the text from the first `[{` to the next `}]`, allowing whitespace between the brackets."""
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
    """Expected format of an answer."""

    syntax: str = "python"
    """`python`, `java` or `javascript`; in format sensitivity the requested format, such as `json`."""
    tagged: bool = False
    """True if calls must be in `<TOOLCALL>` tags."""


def decode_prompted(output: Any, form: Form) -> Any:
    """Return the calls of a prompted answer.

    Raises:
        Exception: any, if the answer is not a string or undecodable.
    """
    return decode_bracketed(cleaned(output), form)


def executable_prompted(step: Any) -> list[str]:
    """Return the call strings of a prompted answer, always parsed as Python.

    Raises:
        Exception: any, like `decode_prompted`, and for an empty dictionary in the arguments.
    """
    return nested_call_texts(decode_python(cleaned(step)))


def decode_bracketed(text: str, form: Form) -> Any:
    """Return the calls of a bracketed text in the expected format.

    Raises:
        Exception: any, if the text is undecodable or lacks required tags.
    """
    if form.tagged:
        text = between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    return _SYNTAXES[form.syntax](text)


def cleaned(output: Any) -> str:
    """Strip outer backticks, line feeds and spaces of a prompted answer, and add missing outer brackets.

    Raises:
        TypeError: not a string.
    """
    text = text_of(output).strip("`\n ")
    text = text if text.startswith("[") else f"[{text}"
    return text if text.endswith("]") else f"{text}]"


def text_of(output: Any) -> str:
    """Return an answer after checking that it is a string.

    Raises:
        TypeError: not a string.
    """
    if not isinstance(output, str):
        raise TypeError(f"a text was expected, not {type(output).__name__}")
    return output
