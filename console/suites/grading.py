"""Builds the identity of a run's grader from its suite, cases and models."""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec

from console.core.case import Case, Setting
from console.core.grader import Grader
from console.core.run import ModelFacts
from console.suites.suite import Suite

GRADING_ROLES = ("judge", "embedding")
"""Roles whose models decide verdicts; a second judge decides nothing."""


def grader_of(
    suite: Suite,
    cases: Iterable[Case],
    setting: Setting,
    roles: Mapping[str, ModelFacts],
    weights: Mapping[str, str],
) -> Grader:
    """Return the identity of the grader of a run.

    Args:
        suite: the run's suite.
        cases: all selected cases, before sharding.
        setting: the run's setting.
        roles: models by role.
        weights: digests of the local embedding model, if used.
    """
    models = {role: _model_words(roles[role]) for role in GRADING_ROLES if role in roles}
    rules = dict(suite.grading(setting))
    if "embedding" in models and weights:
        rules["embedding weights"] = _digest(sorted(weights.items()))
    return Grader(suite.entry.format, _code_digest(suite), _truths_digest(cases), models, rules)


def _model_words(facts: ModelFacts) -> str:
    """Describe a model by what decides its answers: id, address and parameters, whatever its name here."""
    words = facts.name if facts.simulated else facts.model_id or facts.name
    if facts.base_url:
        words += f" at {facts.base_url}"
    if facts.params:
        words += f" {msgspec.json.encode(facts.params, order='sorted').decode()}"
    return words


def _truths_digest(cases: Iterable[Case]) -> str:
    digest = hashlib.sha256()
    encode = msgspec.json.Encoder(order="sorted").encode
    for case in cases:
        digest.update(encode((case.id, case.data)))
    return digest.hexdigest()[:16]


def _code_digest(suite: Suite) -> str:
    if code := suite.entry.source.get("code"):
        return code
    return _sources_digest(tuple(suite.grader_sources) or (suite.__class__.__module__,))


@cache
def _sources_digest(names: tuple[str, ...]) -> str:
    """Return the digest of the code of modules and whole packages, whatever their layout, comments and docstrings."""
    digest = hashlib.sha256()
    for name in names:
        for place, path in _files_of(name):
            try:
                digest.update(f"{place}\0{_shape(ast.parse(path.read_bytes()))}\n".encode())
            except (OSError, SyntaxError, ValueError):
                digest.update(f"{place}\0unreadable\n".encode())
    return digest.hexdigest()[:16]


def _shape(node: ast.AST) -> str:
    """Return a syntax tree as a text that does not depend on the version of Python: empty fields are left out."""
    fields: list[str] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        if name == "body" and _is_documented(node):
            value = value[1:]
        if isinstance(value, ast.AST):
            fields.append(_shape(value))
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            fields.append(",".join(_shape(each) if isinstance(each, ast.AST) else repr(each) for each in items))
        else:
            fields.append(repr(value))
    return f"{type(node).__name__}({';'.join(fields)})"


def _is_documented(node: ast.AST) -> bool:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return ast.get_docstring(node, clean=False) is not None


def _files_of(name: str) -> list[tuple[str, Path]]:
    """Return the source files of a module or package, with names that do not depend on where it is installed."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None) or importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return []
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        return [(name, origin)]
    folder = origin.parent
    return [(f"{name}/{path.relative_to(folder).as_posix()}", path) for path in sorted(folder.rglob("*.py"))]


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:16]
