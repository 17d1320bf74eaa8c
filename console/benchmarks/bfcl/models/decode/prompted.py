"""Calls in the text of a prompted model: what is cut off first, and which syntax is read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from console.benchmarks.bfcl.models.decode.call_text import nested_call_texts
from console.benchmarks.bfcl.models.decode.java import decode_java
from console.benchmarks.bfcl.models.decode.javascript import decode_javascript
from console.benchmarks.bfcl.models.decode.json_calls import decode_json
from console.benchmarks.bfcl.models.decode.python import decode_python
from console.benchmarks.bfcl.models.decode.tags import between
from console.benchmarks.bfcl.models.decode.xml import decode_concise_xml, decode_verbose_xml

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
