"""Decoding of one model output to calls for comparison or execution."""

import re
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.arithmetic import Refused
from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.decode.length import TooLong, refuse_too_long
from console.benchmarks.bfcl.models.decode.prompted import Form
from console.benchmarks.bfcl.models.decode.python import Undecodable
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.variation import read_variation
from console.core.fault import reason_of

FAILED = "ast_decoder:decoder_failed"
WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"

_LEVELS = 100
"""Maximum depth of a decoded value, as its readers may be recursive."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded output: calls, or an official error type and message."""

    value: Any = None
    """The decoded value; a list of calls unless there was an error."""
    error_type: str | None = None
    message: str = ""

    @property
    def calls(self) -> list[dict[str, dict[Any, Any]]]:
        """The calls; empty after an error."""
        return [] if self.error_type else self.value


def decode_reply(output: Any, category: str, family: str = "prompt", config: str = "") -> Decoded:
    """Decode one output; never raises.

    Args:
        output: value in the result file, a string or native calls.
        category: category of the entry, or id of the original entry, which determines the language.
        family: the decode family, one of `FAMILIES`.
        config: the format-sensitivity variation; empty for ordinary categories.
    """
    reader = FAMILIES[family]
    try:
        refuse_too_long(output)
        value = reader.decode(output, _form(category, config))
    except (Exception, MemoryError) as error:  # every failure to decode is one verdict
        return Decoded(error_type=FAILED, message=_error_text(error))
    if not is_calls(value):
        return Decoded(value, WRONG_FORMAT, "not a list of calls with named arguments")
    return Decoded(value)


def executable_calls(step: Any, family: str) -> list[str]:
    """Return the call strings of one step of a conversation, or an empty list, which ends a turn; never raises.

    Args:
        step: text of the reply, or recorded native calls.
        family: the decode family, one of `FAMILIES`.
    """
    return decode_step(step, family).executable


@dataclass(frozen=True, slots=True)
class DecodedStep:
    """The call strings decoded from one step of a conversation, or an error."""

    value: list[str]
    """The decoded value; one empty string counts as no call."""
    error: str | None = None
    """Reason for being undecodable; None if it was decoded."""

    @property
    def executable(self) -> list[str]:
        """The calls to execute; if there are none, the turn ends."""
        return [] if self.value == [""] else self.value


def decode_step(step: Any, family: str) -> DecodedStep:
    """Decode one step of a conversation; never raises.

    Args:
        step: text of the reply, or recorded native calls.
        family: the decode family, one of `FAMILIES`.
    """
    reader = FAMILIES[family]
    try:
        refuse_too_long(step)
        return DecodedStep(reader.executable(step))
    except (Exception, MemoryError) as error:  # every failure to decode means that there is no call
        return DecodedStep([], _error_text(error))


def _form(category: str, config: str) -> Form:
    if not config:
        return Form(names.language_of(category))
    variation = read_variation(config)
    return Form(variation.returns, variation.tagged)


def _error_text(error: BaseException) -> str:
    """Format an error reproducibly, without memory addresses."""
    is_own = isinstance(error, Undecodable | Refused | TooLong)
    text = reason_of(error) if isinstance(error, SyntaxError) else str(error)  # without the name of a file
    return _ADDRESS.sub("", text if is_own else f"{type(error).__name__}: {text}")[:500]


def is_calls(value: Any) -> bool:
    """Return whether a value is a (possibly empty) list of calls, each one name with named arguments."""
    return isinstance(value, list) and all(_is_call(item) for item in cast(list[Any], value))


def _is_call(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    values = list(cast(dict[Any, Any], item).values())
    return len(values) == 1 and isinstance(values[0], dict)


def json_safe(value: Any, levels: int = _LEVELS) -> Any:
    """Convert a decoded value to JSON; other values become their `repr`, and values nested too deeply `…`."""
    if not levels:
        return "…"
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            return value if abs(value) < 2**63 else _source(value)
        case list() | tuple():
            return [json_safe(part, levels - 1) for part in cast(list[Any], value)]
        case dict():
            return {_key(key): json_safe(part, levels - 1) for key, part in cast(dict[Any, Any], value).items()}
        case _:
            return _source(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _source(key)


def _source(value: Any) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
