"""Calls written as XML, verbose (values in attributes) or concise (values as text); format sensitivity only."""

import ast
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, fromstring  # the text starts at its root: no document type, no entities

from console.benchmarks.bfcl.models.decode.tags import between

_OPENING, _CLOSING = "<functions>", "</functions>"


def decode_verbose_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><params><param name=… value=… type=…/>`.

    Raises:
        Exception: of any kind: no `<functions>`, malformed, or a value that does not fit its type.
    """
    return _calls(text, _verbose_params)


def decode_concise_xml(text: str) -> list[dict[str, Any]]:
    """Return the calls of `<function name=…><param name=… type=…>value</param>`; raises as `decode_verbose_xml`."""
    return _calls(text, _concise_params)


def _calls(text: str, params: Callable[[Element], dict[Any, Any]]) -> list[dict[str, Any]]:
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
