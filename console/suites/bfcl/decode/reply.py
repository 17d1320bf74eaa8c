"""From one single-turn output to its calls: which decoder reads it, what is cut off first, what counts as calls."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from console.suites.bfcl import categories as names
from console.suites.bfcl.decode.arithmetic import Refused
from console.suites.bfcl.decode.java import decode_java
from console.suites.bfcl.decode.javascript import decode_javascript
from console.suites.bfcl.decode.json_calls import decode_json
from console.suites.bfcl.decode.native import decode_native
from console.suites.bfcl.decode.python import Undecodable, decode_python
from console.suites.bfcl.decode.tags import between
from console.suites.bfcl.decode.xml import decode_concise_xml, decode_verbose_xml
from console.suites.bfcl.variation import read_variation

FAILED = "ast_decoder:decoder_failed"
WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_FORMATS: dict[str, Callable[[str], Any]] = {
    "python": decode_python,
    "json": decode_json,
    "verbose_xml": decode_verbose_xml,
    "concise_xml": decode_concise_xml,
    "java": lambda text: decode_java(text[1:-1]),
    "javascript": lambda text: decode_javascript(text[1:-1]),
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """What became of an output: calls, or the official error type with the complaint."""

    value: Any = None
    """Whatever was decoded; a list of calls when there is no error."""
    error_type: str | None = None
    complaint: str = ""

    @property
    def calls(self) -> list[dict[str, dict[Any, Any]]]:
        """The calls; empty when there was an error."""
        return [] if self.error_type else self.value


def decode_reply(output: Any, category: str, mode: str = "prompt", config: str = "") -> Decoded:
    """Decode one output; never raises.

    Args:
        output: text, or the recorded list of native calls.
        category: of the entry, or the id of the entry that is varied; its language decides the syntax.
        mode: `prompt` or `fc`.
        config: the format-sensitivity variation; empty for ordinary categories.
    """
    try:
        value = decode_native(output) if mode == "fc" else _decode_text(output, category, config)
    except (Exception, MemoryError) as error:  # every failure to decode is one verdict
        return Decoded(error_type=FAILED, complaint=_complaint(error))
    if not is_calls(value):
        return Decoded(value, WRONG_FORMAT, "not a list of calls with named arguments")
    return Decoded(value)


def _complaint(error: BaseException) -> str:
    """Say why, the same each time: Python's own words may hold addresses in memory."""
    is_own = isinstance(error, Undecodable | Refused)
    return _ADDRESS.sub("", str(error) if is_own else f"{type(error).__name__}: {error}")[:500]


def _decode_text(output: Any, category: str, config: str) -> Any:
    text = cleaned(output)
    if not config:
        return _FORMATS[names.language_of(category)](text)
    variation = read_variation(config)
    if variation.tagged:
        text = between(text, "<TOOLCALL>", "</TOOLCALL>").strip()
    return _FORMATS[variation.returns](text)


def cleaned(output: Any) -> str:
    """Return a prompting reply without outer backticks, line feeds and blanks, and with outer brackets.

    Raises:
        TypeError: it is not a text.
    """
    if not isinstance(output, str):
        raise TypeError(f"a text was expected, not {type(output).__name__}")
    text = output.strip("`\n ")
    text = text if text.startswith("[") else f"[{text}"
    return text if text.endswith("]") else f"{text}]"


def is_calls(value: Any) -> bool:
    """Whether a value is a list of calls, each one name with named arguments; an empty list is."""
    return isinstance(value, list) and all(_is_call(item) for item in cast(list[Any], value))


def _is_call(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    values = list(cast(dict[Any, Any], item).values())
    return len(values) == 1 and isinstance(values[0], dict)
