"""Decoder for Java: the first method invocation, with assignments as arguments and string values.

As in the official code, values are assembled from the syntax tree without whitespace or anonymous class bodies. The
official decoder indexes characters with byte offsets, so a non-ASCII character shifts everything after it; this is
reproduced, as verdicts depend on it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from console.benchmarks.bfcl.models.decode.syntax import parse_source

if TYPE_CHECKING:
    from tree_sitter import Node

_AS_WRITTEN = frozenset(("identifier", "class_literal", "type_identifier", "method_invocation"))
_LITERALS = frozenset(("string_literal", "character_literal"))
_UNNAMED = frozenset(("identifier", "class_literal", "set"))


def decode_java(source: str) -> list[dict[str, Any]] | dict[str, Any]:
    """Return the call, or an empty dict if valid source has none.

    Raises:
        Exception: of any type, for example after a syntax error, a repeated argument or an empty array.
    """
    invocation = _first_invocation(parse_source("java", source))
    return {} if invocation is None else _Reader(source).call(invocation)


def _first_invocation(node: "Node") -> "Node | None":
    if node.type == "method_invocation":
        return node if node.child_by_field_name("arguments") is not None else None
    return next((invocation for child in node.children if (invocation := _first_invocation(child)) is not None), None)


class _Reader:
    """Extracts the text of nodes of one source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._rules: dict[str, Callable[[Node], str]] = {
            "array_creation_expression": self._new_array,
            "object_creation_expression": self._new_object,
        }

    def call(self, node: "Node") -> list[dict[str, Any]]:
        name, owner = node.child_by_field_name("name"), node.child_by_field_name("object")
        arguments = node.child_by_field_name("arguments")
        assert name is not None
        assert arguments is not None
        called = self._text(name) if owner is None else f"{self._text(owner)}.{self._text(name)}"
        return [{called: self._arguments(arguments)}]

    def _text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte]

    def _arguments(self, node: "Node") -> dict[str | None, str]:
        out: dict[str | None, str] = {}
        for child in node.children:
            if child.type == "assignment_expression":
                name, value = self._text(child.children[0]), self._value(child.children[2])
            elif child.type in _UNNAMED:
                name, value = None, self._value(child)
            else:
                continue
            if name in out:
                raise ValueError(f"the argument {name!r} occurs twice")
            out[name] = value
        return out

    def _value(self, node: "Node") -> str:
        """Return the text of an argument value, without the quotes of a literal."""
        return self._text(node)[1:-1] if node.type in _LITERALS else self._inner(node)

    def _inner(self, node: "Node | None") -> str:
        if node is None:
            raise ValueError("an array without values")
        if node.type in _LITERALS or node.type in _AS_WRITTEN:
            return self._text(node)
        if node.type in self._rules:
            return self._rules[node.type](node)
        return "".join(self._inner(child) for child in node.children) if node.child_count else self._text(node)

    def _new_array(self, node: "Node") -> str:
        kind, values = node.child_by_field_name("type"), node.child_by_field_name("value")
        return f"new {self._inner(kind)}[]{self._inner(values)}"

    def _new_object(self, node: "Node") -> str:
        kind, arguments = self._inner(node.child_by_field_name("type")), node.child_by_field_name("arguments")
        parts = [] if arguments is None else [part for part in arguments.children if part.type not in (",", "(", ")")]
        return f"new {kind}({', '.join(self._inner(part) for part in parts)})"
