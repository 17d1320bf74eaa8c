"""Decoder for JavaScript: the first call statement, with assignments as arguments."""

from typing import TYPE_CHECKING, Any

from console.benchmarks.bfcl.models.decode.syntax import parse_source

if TYPE_CHECKING:
    from tree_sitter import Node


def decode_javascript(source: str) -> list[dict[str, Any]] | None:
    """Return the call with string values, or None if valid source has none.

    Raises:
        Exception: of any type, for example after a syntax error or a repeated argument.
    """
    for statement in parse_source("javascript", source).children:
        if statement.type == "expression_statement":
            for node in statement.children:
                if node.type == "call_expression":
                    return _Reader(source).call(node)
    return None


class _Reader:
    """Extracts the text of nodes of one source."""

    def __init__(self, source: str) -> None:
        self._source = source.encode()

    def call(self, node: "Node") -> list[dict[str, Any]]:
        return [{self._text(node.children[0]): self._arguments(node.children[1])}]

    def _text(self, node: "Node") -> str:
        return self._source[node.start_byte : node.end_byte].decode()

    def _arguments(self, node: "Node") -> dict[str | None, str]:
        out: dict[str | None, str] = {}
        for child in node.children:
            if child.type == "assignment_expression":
                name, value = self._text(child.children[0]), _unquoted(self._text(child.children[2]))
            elif child.type in ("identifier", "true"):
                name, value = None, self._text(child)
            else:
                continue
            if name in out:
                raise ValueError(f"the argument {name!r} occurs twice")
            out[name] = value
        return out


def _unquoted(value: str) -> str:
    """Remove matching outer quotes; a single quote character becomes empty."""
    for quote in ('"', "'"):
        if value.startswith(quote) and value.endswith(quote):
            return value[1:-1]
    return value
