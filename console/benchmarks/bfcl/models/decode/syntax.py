"""Parsing Java and JavaScript with tree-sitter, loaded when the first such reply is decoded.

The JavaScript grammar is of the release that the official package pins: newer ones refuse reserved words where it takes
them for names (`f(in=1)`), and read broken template strings otherwise, which changes verdicts. The Java grammars agree.

Recovering from errors can take the parser a time that grows with the square of the text and more (36 s for 16 KB of
`*-`). So long texts are refused, and the parser's work is counted: sound texts need a small part of what is allowed,
and a text that needs more is refused, as it would be after the wait. The counts are the same on every machine.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Point

LONGEST = 20_000
"""Characters of a source; the longest of the official cases has 7,000."""
_PIECE = 2048
"""Bytes that are handed to the parser at a time."""


class Work:
    """The work of one parse: how often the parser reports progress, every 100 operations, and asks for a piece.

    Sound texts take at most one report for 16 bytes, and every piece twice.
    """

    def __init__(self, source: bytes) -> None:
        """Take the source, which decides how much is allowed."""
        self._source = source
        self.reports_left = 200 + len(source) // 4
        self.pieces_left = 200 + 20 * len(source) // _PIECE

    @property
    def is_used_up(self) -> bool:
        """Whether the text took more than it may."""
        return self.reports_left < 0 or self.pieces_left < 0

    def read(self, offset: int, _: "Point") -> bytes:
        """Return a piece of the source; nothing, as at its end, once the work is used up."""
        self.pieces_left -= 1
        return b"" if self.is_used_up else self._source[offset : offset + _PIECE]

    def report(self, _offset: int, _has_error: bool) -> bool:
        """Take a report; True ends the parse."""
        self.reports_left -= 1
        return self.is_used_up


def parse_source(language: str, source: str) -> "Node":
    """Return the root of the syntax tree of a `java` or `javascript` text.

    A tree with an error node is refused; nodes that the parser supplied itself, such as a missing semicolon, are not
    errors.

    Raises:
        SyntaxError: the text cannot be parsed, is too long, or takes more work than it may.
        UnicodeEncodeError: it holds half a surrogate pair.
    """
    if len(source) > LONGEST:
        raise SyntaxError(f"{language} of more than {LONGEST:,} characters is not decoded")
    work = Work(source.encode())
    try:
        root = new_parser(language).parse(work.read, progress_callback=work.report).root_node
    except ValueError:  # ended by a report
        raise SyntaxError(f"not {language}, as far as can be told in reasonable time") from None
    if work.is_used_up:
        raise SyntaxError(f"not {language}, as far as can be told in reasonable time")
    if root.has_error and any(node.is_error for node in _all(root)):
        raise SyntaxError(f"not {language}")
    return root


def new_parser(language: str) -> "Parser":
    """Return a parser of its own for each text: one that was stopped would go on where it was, in any thread."""
    return import_module("tree_sitter").Parser(_grammar(language))


@cache
def _grammar(language: str) -> "Language":
    tree_sitter = import_module("tree_sitter")
    grammar = import_module(f"tree_sitter_{language}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # grammars of that time give a number, not a capsule
        return tree_sitter.Language(grammar.language())


def _all(root: "Node") -> Iterator["Node"]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
