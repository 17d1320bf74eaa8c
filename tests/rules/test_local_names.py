"""Local names say what they hold: `found`, `one` and their like are rare."""

import ast
from collections import Counter
from collections.abc import Iterator

from rules.package import MODULES
from rules.trees import nodes_of

VAGUE = {"found", "known", "one", "it", "said", "told", "wanted", "given", "what"}
MOST = 0.01
"""Largest share of all names bound in the package: variables, loop variables and parameters."""
ROOMS_TODAY: dict[str, int] = {}
"""Vague names in rooms that have more than the share; may only become fewer, and the table becomes empty."""


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
    names, vague = Counter[str](), Counter[str]()
    for module, path in MODULES.items():
        room = module.split(".")[1] if "." in module else ""
        for name in bound_names(nodes_of(path)):
            names[room] += 1
            vague[room] += name in VAGUE
    too_many = {room: count for room, count in vague.items() if count > MOST * names[room]}
    assert {room for room, count in too_many.items() if count > ROOMS_TODAY.get(room, 0)} == set(), (
        f"{too_many}: name what it holds; today's are {ROOMS_TODAY}"
    )
    assert set(ROOMS_TODAY) - set(too_many) == set(), "no exception any more, take it out of the table"
    if not ROOMS_TODAY:
        assert vague.total() <= MOST * names.total()


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
