"""Pairs expected with actual calls like the checker, and compares their arguments. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.core.comparison import Mark, Pair, Row
from console.suites.call_matching.checker import (
    Call,
    CallRule,
    Doc,
    Refusal,
    check_argument,
    check_call,
    find_doc,
    underscored_name,
)
from console.suites.call_matching.source_text import alternatives, call_text, literal
from console.suites.call_matching.value_rule import standardize

_KINDS = {
    "value_error:string": "not among the allowed values, case and punctuation aside",
    "value_error:others": "not among the allowed values",
    "value_error:list/tuple": "different list",
    "value_error:dict_key": "a key is missing or not expected",
    "value_error:dict_value": "the value of a key is not allowed",
    "value_error:list_dict_count": "different number of dictionaries",
    "type_error:java": "must be written as text",
    "type_error:js": "must be written as text",
}


@dataclass(frozen=True, slots=True)
class Paired:
    """A pair of calls with the checker's error, if any."""

    pair: Pair
    refusal: Refusal | None
    expected: Call | None
    actual: Call | None


class Pairing:
    """Pairs the calls of one output with the ground truth of one entry."""

    def __init__(self, docs: Sequence[Doc], rule: CallRule, *, underscored: bool) -> None:
        self._docs = docs
        self._language = rule.language
        self._underscored = underscored
        self._any_order = rule.kind == "parallel"

    def pairs(self, calls: Sequence[Call], truth: Sequence[Call]) -> list[Paired]:
        """Pair all calls: first like the checker, then by similarity; unpaired calls come last."""
        taken = self._matched(calls, truth)
        for number, expected in enumerate(truth):
            if taken.get(number) is None:
                taken[number] = self._most_similar(
                    expected, [i for i in range(len(calls)) if i not in taken.values()], calls
                )
        out = [self._paired(expected, calls, taken[number]) for number, expected in enumerate(truth)]
        extra = [call for index, call in enumerate(calls) if index not in taken.values()]
        return out + [Paired(_unexpected(call), None, None, call) for call in extra]

    def _matched(self, calls: Sequence[Call], truth: Sequence[Call]) -> dict[int, int | None]:
        taken: dict[int, int | None] = {}
        for number, expected in enumerate(truth):
            candidates = range(len(calls)) if self._any_order else range(number, min(number + 1, len(calls)))
            free = (index for index in candidates if index not in taken.values())
            taken[number] = next((index for index in free if self._refusal(calls[index], expected) is None), None)
        return taken

    def _most_similar(self, expected: Call, free: Sequence[int], calls: Sequence[Call]) -> int | None:
        """Return the unused call most similar to an expected one, by function and then by equal arguments."""
        name, allowed = next(iter(expected.items()))

        def similarity(index: int) -> tuple[bool, int]:
            called, arguments = next(iter(calls[index].items()))
            same = sum(value in cast(list[Any], allowed.get(key, ())) for key, value in arguments.items())
            return called == self._shown(name), same

        return max(free, key=similarity, default=None)

    def _paired(self, expected: Call, calls: Sequence[Call], index: int | None) -> Paired:
        name, allowed = next(iter(expected.items()))
        if index is None:
            rows = tuple(_missing(key, values) for key, values in allowed.items())
            return Paired(Pair(Mark.MISSING, self._shown(name), rows=rows), None, expected, None)
        call = calls[index]
        called, arguments = _parts(call)
        refusal = self._refusal(call, expected)
        doc = find_doc(self._docs, expected)
        rows = tuple(self._rows(doc, arguments, allowed, refusal))
        mark = Mark.SAME if refusal is None else Mark.DIFFERS
        note = "wrong function" if refusal and refusal.error_type.endswith("wrong_func_name") else ""
        return Paired(Pair(mark, self._shown(name), str(called), rows, note), refusal, expected, call)

    def _refusal(self, call: Call, expected: Call) -> Refusal | None:
        doc = find_doc(self._docs, expected)
        try:
            return check_call(doc, call, expected, self._language, underscored=self._underscored)
        except Exception as error:  # where the official scorer would crash, the pair does not match
            return Refusal("checker:uncheckable", str(error)[:200])

    def _shown(self, name: str) -> str:
        return underscored_name(name) if self._underscored else name

    def _rows(self, doc: Doc, arguments: dict[Any, Any], allowed: dict[Any, Any], refusal: Refusal | None) -> list[Row]:
        subject = refusal.subject if refusal and not refusal.error_type.endswith("wrong_func_name") else None
        properties = cast(dict[str, Doc], doc["parameters"]["properties"])
        required = cast(list[str], doc["parameters"].get("required", []))
        rows = [self._row(key, arguments, values, properties, required) for key, values in allowed.items()]
        rows += [_extra(key, value, properties) for key, value in arguments.items() if key not in allowed]
        rows += [
            Row(Mark.MISSING, str(key), note="required by the function, unknown to the ground truth")
            for key in required
            if key not in allowed and key not in arguments
        ]
        return [_explained(row, decisive=row.name == subject) for row in rows]

    def _row(
        self, key: Any, arguments: dict[Any, Any], values: Any, properties: dict[str, Doc], required: Sequence[str]
    ) -> Row:
        if key not in arguments:
            return _missing(key, values, required=key in required)
        expected, optional, actual = alternatives(values), "" in values, arguments[key]
        if key not in properties:
            return Row(Mark.EXTRA, str(key), expected, literal(actual), "not in the function's parameters")
        mark, note = self._judged(str(key), actual, properties[key], values)
        return Row(mark, str(key), expected, literal(actual), note, optional=optional)

    def _judged(self, key: str, value: Any, schema: Doc, allowed: Any) -> tuple[Mark, str]:
        try:
            refusal = check_argument(key, value, schema, allowed, self._language)
        except Exception as error:  # where the official scorer would crash, the value is not equal
            return Mark.DIFFERS, f"cannot be checked: {type(error).__name__}"
        if refusal is None:
            literally = any(type(value) is type(other) and value == other for other in allowed)
            return Mark.SAME, "" if literally else "after normalizing"
        if refusal.error_type in ("type_error:simple", "type_error:nested"):
            note = f"expected {_type_words(schema)}, got {type(value).__name__}"
            return (Mark.WRONG_TYPE if _looks_equal(value, allowed) else Mark.DIFFERS), note
        return Mark.DIFFERS, _KINDS.get(refusal.error_type, refusal.error_type)


def _parts(call: Call) -> tuple[str, dict[str | None, Any]]:
    return next(iter(call.items()))


def _missing(key: Any, values: Any, *, required: bool = False) -> Row:
    optional = "" in values and not required
    note = "" if optional else "required"
    return Row(
        Mark.OMITTED if optional else Mark.MISSING, str(key), alternatives(values), None, note, optional=optional
    )


def _extra(key: Any, value: Any, properties: dict[str, Doc]) -> Row:
    note = "no value allowed" if key in properties else "not in the function's parameters"
    return Row(Mark.EXTRA, str(key), (), literal(value), note)


def _unexpected(call: Call) -> Pair:
    name, arguments = _parts(call)
    rows = tuple(Row(Mark.EXTRA, str(key), (), literal(value)) for key, value in arguments.items())
    return Pair(Mark.EXTRA, "", str(name), rows, "no such call is expected")


def _explained(row: Row, *, decisive: bool) -> Row:
    """Mark the row that decided the grade; label other wrong rows `also differs`."""
    if decisive or row.mark in (Mark.SAME, Mark.OMITTED):
        return Row(row.mark, row.name, row.expected, row.actual, row.note, decisive, row.optional)
    note = f"also differs: {row.note}" if row.note else "also differs"
    return Row(row.mark, row.name, row.expected, row.actual, note, decisive=False, optional=row.optional)


def _type_words(schema: Doc) -> str:
    items = cast(Doc, schema.get("items") or {}).get("type")
    return f"{schema['type']} of {items}" if items else str(schema["type"])


def _looks_equal(value: Any, allowed: Any) -> bool:
    """Return whether a value of the wrong type prints the same as an allowed one."""
    shown = standardize(literal(value).strip("'\"[]()"))
    return any(shown == standardize(literal(other).strip("'\"[]()")) for other in allowed if other != "")


def as_text(call: Call) -> str:
    """Format a decoded call as source code."""
    name, arguments = _parts(call)
    return call_text(str(name), arguments)
