"""Python values as JSON, for journals and result files, and back.

Values that JSON stores exactly are unchanged. All others become `{"$foreign": {…}}` with the texts the evaluator
needs, computed where the value lives, and are read back as `value.Foreign`. Never pickled. A value whose own `str` or
`repr` fails is named by its class.
"""

import math
from typing import Any, cast

from console.benchmarks.cavebench.rules.value import EvaluatorError, Foreign, canonical

MARK = "$foreign"
"""Key of the object for a value that JSON cannot store."""
SHOWN = 200_000
"""Maximum number of characters in an output that leaves a worker; longer ones are only counted."""
CALLS_BYTES = 256 << 10
"""Maximum length of the calls in a cell's report, as JSON; the turn's record has all of them."""
_DEPTH = 40
_DIGITS = 4000
_TEXT = 20_000
"""Maximum length of a foreign value's text."""


def encode(value: Any, depth: int = 0) -> Any:
    """Return any value as JSON."""
    if value is None or type(value) in (bool, str, int):
        return _plain(value)
    if type(value) is float:
        return value if math.isfinite(value) else _foreign(value)
    shown = _parts(value, depth) if depth < _DEPTH else None
    return shown if type(value) in (list, dict) and shown is not None else _foreign(value, shown)


def _parts(value: Any, depth: int) -> Any:
    """Return a list or dictionary, also of a subclass, with its values as JSON; None for other values and keys."""
    if issubclass(type(value), list):
        return [encode(item, depth + 1) for item in cast("Any", list).__iter__(value)]
    if issubclass(type(value), dict):
        fields: list[tuple[Any, Any]] = list(cast("Any", dict).items(value))  # not those of the subclass
        if all(type(key) is str and key != MARK for key, _ in fields):
            return {key: encode(item, depth + 1) for key, item in fields}
    return None


def decode(data: Any) -> Any:
    """Return the value encoded in JSON."""
    if isinstance(data, list):
        return [decode(item) for item in cast("list[Any]", data)]
    if not isinstance(data, dict):
        return data
    fields = cast("dict[str, Any]", data)
    if set(fields) == {MARK} and isinstance(fields[MARK], dict):
        return _read_foreign(cast("dict[str, Any]", fields[MARK]))
    return {key: decode(item) for key, item in fields.items()}


def sendable(text: str) -> str:
    """Return a text that every JSON reader accepts: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode()


def for_peer(value: Any) -> Any:
    """Return the JSON for result files of other tools: foreign values as `{"$repr": …}`.

    Subclasses of dict and list, such as OrderedDict, defaultdict and Counter, are objects and lists, as the reference
    writes them.
    """
    if isinstance(value, Foreign):
        if value.shown is not None:
            return for_peer(value.shown)
        return _exact_integer(value) or {"$repr": value.representation}
    if isinstance(value, list):
        return [for_peer(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {str(key): for_peer(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def _exact_integer(value: Foreign) -> int | None:
    digits = value.representation.removeprefix("-")
    readable = value.type_name == "int" and digits.isdigit() and len(digits) < _DIGITS
    return int(value.representation) if readable else None


def _plain(value: Any) -> Any:
    if type(value) is str:
        return sendable(value)
    return value if type(value) is not int or abs(value) < 1 << 63 else _foreign(value)


def _foreign(value: Any, shown: Any = None) -> dict[str, Any]:
    text, error = "", ""
    try:
        text = _clip(canonical(value))
    except EvaluatorError as trouble:
        error = str(trouble)
    except Exception as trouble:
        error = f"{type(trouble).__name__} in its own text"
    form = {
        "type": type(value).__name__,
        "text": _text(str, value),
        "repr": _text(repr, value),
        "canonical": text,
        "error": error,
    }
    return {MARK: form if shown is None else {**form, "shown": shown}}


def _text(make: Any, value: Any) -> str:
    try:
        return _clip(make(value))
    except Exception:
        return f"<{type(value).__name__}>"


def _clip(text: str) -> str:
    text = sendable(text)
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}… ({len(text)} characters)"


def _read_foreign(form: dict[str, Any]) -> Foreign:
    return Foreign(
        type_name=str(form.get("type", "")),
        text=str(form.get("text", "")),
        representation=str(form.get("repr", "")),
        canonical=str(form.get("canonical", "")),
        error=str(form.get("error", "")),
        shown=decode(form.get("shown")),
    )
