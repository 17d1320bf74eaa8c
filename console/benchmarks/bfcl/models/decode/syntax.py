"""Parsing of Java and JavaScript with tree-sitter, imported lazily.

The JavaScript grammar is the one pinned by the official package; newer ones reject reserved words as names (`f(in=1)`)
and parse broken template strings differently, which changes verdicts. The Java grammars agree.

Error recovery can take quadratic time or worse (36 s for 16 KB of `*-`). Therefore the length and the counted work of
the parser are limited, independent of the machine; valid source needs a small fraction of the limit, and other source
would be rejected anyway.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Point

LONGEST = 20_000
"""Maximum number of characters in a source; the longest official one has 7,000."""
_PIECE = 2048
"""Bytes passed to the parser at a time."""


class Work:
    """Work of one parse, counted by progress reports (one per 100 operations) and requested pieces.

    Valid source takes at most one report per 16 bytes, and each piece twice.
    """

    def __init__(self, source: bytes) -> None:
        """Derive the limits from the source."""
        self._source = source
        self.reports_left = 200 + len(source) // 4
        self.pieces_left = 200 + 20 * len(source) // _PIECE

    @property
    def is_used_up(self) -> bool:
        """True if the limit is exceeded."""
        return self.reports_left < 0 or self.pieces_left < 0

    def read(self, offset: int, _: "Point") -> bytes:
        """Return a piece of the source, or nothing above the limit."""
        self.pieces_left -= 1
        return b"" if self.is_used_up else self._source[offset : offset + _PIECE]

    def report(self, _offset: int, _has_error: bool) -> bool:
        """Count a report; return True to stop the parser."""
        self.reports_left -= 1
        return self.is_used_up


def parse_source(language: str, source: str) -> "Node":
    """Return the root of the syntax tree of `java` or `javascript` source.

    Nodes inserted by the parser, such as a missing semicolon, are accepted.

    Raises:
        SyntaxError: invalid, too long, or too much work.
        UnicodeEncodeError: lone surrogate.
    """
    if len(source) > LONGEST:
        raise SyntaxError(f"{language} of more than {LONGEST:,} characters is not decoded")
    work = Work(source.encode())
    try:
        root = new_parser(language).parse(work.read, progress_callback=work.report).root_node
    except ValueError:  # ended by a report
        raise SyntaxError(f"not {language}, or too costly to parse") from None
    if work.is_used_up:
        raise SyntaxError(f"not {language}, or too costly to parse")
    if root.has_error and any(node.is_error for node in _all(root)):
        raise SyntaxError(f"not {language}")
    return root


def new_parser(language: str) -> "Parser":
    """Create a parser per source, as a stopped parser would resume its previous work."""
    return import_module("tree_sitter").Parser(_grammar(language))


@cache
def _grammar(language: str) -> "Language":
    tree_sitter = import_module("tree_sitter")
    grammar = import_module(f"tree_sitter_{language}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # grammars of that version return a number, not a capsule
        return tree_sitter.Language(grammar.language())


def _all(root: "Node") -> Iterator["Node"]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
