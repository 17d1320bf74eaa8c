"""Local names say what they hold: `found`, `one` and their like are rare."""

import ast
from collections import Counter
from collections.abc import Iterator

from rules.package import MODULES
from rules.trees import nodes_of

VAGUE = {"found", "known", "heard", "thing", "one", "it", "said", "told", "wanted", "given", "what"}
MOST = 0.01
"""Largest share of all names bound in the package: variables, loop variables and parameters."""


def bound_names(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        name = ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        if name not in ("", "self", "cls"):
            yield name


def test_few_names_are_vague() -> None:
    names = Counter(name for path in MODULES.values() for name in bound_names(nodes_of(path)))
    vague = {name: names[name] for name in VAGUE if names[name]}
    assert sum(vague.values()) <= MOST * names.total(), f"name what they hold: {vague}"


def test_every_kind_of_binding_counts() -> None:
    source = """
def f(given, *, what=1):
    it = [one for one in given]
    for found in it:
        known, said = found
    with x as told:
        pass
"""
    assert {*bound_names([*ast.walk(ast.parse(source))])} >= {
        "given",
        "what",
        "it",
        "one",
        "found",
        "known",
        "said",
        "told",
    }
