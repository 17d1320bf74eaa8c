"""Parsing Java and JavaScript with tree-sitter, loaded when the first such reply is decoded.

The JavaScript grammar is of the release that the official package pins: newer ones refuse reserved words where it takes
them for names (`f(in=1)`), and read broken template strings otherwise, which changes verdicts. The Java grammars agree.
"""

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


def parse_source(language: str, source: str) -> "Node":
    """Return the root of the syntax tree of a `java` or `javascript` text.

    A tree with an error node is refused; nodes that the parser supplied itself, such as a missing semicolon, are not
    errors.

    Raises:
        SyntaxError: the text cannot be parsed.
        UnicodeEncodeError: it holds half a surrogate pair.
    """
    root = _parser(language).parse(source.encode()).root_node
    if root.has_error and any(node.is_error for node in _all(root)):
        raise SyntaxError(f"not {language}")
    return root


@cache
def _parser(language: str) -> "Parser":
    tree_sitter = import_module("tree_sitter")
    grammar = import_module(f"tree_sitter_{language}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # grammars of that time give a number, not a capsule
        return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def _all(root: "Node") -> Iterator["Node"]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
