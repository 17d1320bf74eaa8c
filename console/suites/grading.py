"""Builds the identity of a run's grader from its suite, cases and models."""

import contextlib
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from console.config.paths import state_dir
from console.core.case import Case, Setting
from console.core.grader import Grader
from console.core.json_text import canonical_json
from console.core.ready_type import ready_type
from console.core.run import ModelFacts
from console.store.atomic import PRIVATE, PRIVATE_FOLDER, read_regular, write_atomically
from console.suites.suite import Suite

GRADING_ROLES = ("judge", "embedding")
"""Roles whose models decide verdicts; a second judge does not."""
_SHAPE = "console.suites.code_shape"


class _Known(msgspec.Struct, frozen=True):
    """A cached digest of code."""

    made_of: str
    """Fingerprint of the sources, and of the code that computes the digest."""
    code: str


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
    return Grader(suite.entry.format, _code_digest(suite), truths_digest(cases), models, rules)


def _model_words(facts: ModelFacts) -> str:
    """Describe a model by what determines its answers, id, address and parameters, without its local name."""
    words = facts.name if facts.simulated else facts.model_id or facts.name
    if facts.base_url:
        words += f" at {facts.base_url}"
    if facts.params:
        words += f" {msgspec.json.encode(facts.params, order='sorted').decode()}"
    return words


def truths_digest(cases: Iterable[Case]) -> str:
    """Return the digest of selected cases, ground truths included."""
    digest = hashlib.sha256()
    for case in cases:
        digest.update(canonical_json((case.id, case.data)))
    return digest.hexdigest()[:16]


def _code_digest(suite: Suite) -> str:
    if code := suite.entry.source.get("code"):
        return code
    return _sources_digest(tuple(suite.grader_sources) or (suite.__class__.__module__,))


@cache
def _sources_digest(names: tuple[str, ...]) -> str:
    """Return the digest of the code of modules and whole packages, ignoring layout, comments and docstrings.

    Parsing takes a fifth of a run's start, so the digest of exactly these bytes is cached in the state folder.
    """
    sources = _sources(names)
    made_of = _fingerprint([*sources, *_sources((_SHAPE,))])
    path = state_dir() / "graders" / f"{_digest(names)}.json"
    try:
        kept = msgspec.json.decode(read_regular(path), type=ready_type(_Known))
    except (OSError, ValueError, RecursionError):
        kept = None
    if kept is not None and kept.made_of == made_of:
        return kept.code

    from console.suites.code_shape import shapes_digest  # imported late: only needed after a change

    code = shapes_digest(sources)
    with contextlib.suppress(OSError):  # a state folder that cannot be written only costs time
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(_Known(made_of, code)), mode=PRIVATE, is_derived=True)
    return code


def _sources(names: Iterable[str]) -> list[tuple[str, bytes]]:
    """Return the sources of modules and packages; a file that cannot be read becomes invalid code."""
    sources: list[tuple[str, bytes]] = []
    for name in names:
        for place, path in _files_of(name):
            try:
                sources.append((place, path.read_bytes()))
            except OSError:
                sources.append((place, b"\0"))
    return sources


def _fingerprint(sources: Iterable[tuple[str, bytes]]) -> str:
    """Return a digest of sources byte by byte, and of the Python that parses them."""
    digest = hashlib.sha256(sys.version.encode())
    for place, source in sources:
        digest.update(f"\0{place}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()


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
