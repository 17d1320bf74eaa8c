"""Names that a code snippet reads and writes, by cave-bench's definition: names only, no flow analysis.

Every name in load position is a read and every name in store position a write, anywhere. Deleting, importing, `def`,
`class`, `except … as` and match captures are neither; a snippet that does not parse, or is too long to parse, has no
names. The grammar is that of the running Python.
"""

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST = 200_000
"""Maximum number of characters in a parsed snippet; the longest recorded one has a few thousand."""


@dataclass(frozen=True, slots=True)
class Access:
    """Names read and written, sorted and unique."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def access_of(code: str) -> Access:
    """Return the names that a snippet reads and writes."""
    if len(code) > LONGEST:
        return Access()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Access()
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return Access(
        reads=_sorted(node.id for node in names if isinstance(node.ctx, ast.Load)),
        writes=_sorted(node.id for node in names if isinstance(node.ctx, ast.Store)),
    )


def expected_access(snippets: Sequence[str], reads: Sequence[str], writes: Sequence[str]) -> Access:
    """Return the expected names that snippets used, sorted; a name appears once for each snippet that used it."""
    accesses = [access_of(snippet) for snippet in snippets]
    return Access(
        reads=tuple(sorted(name for access in accesses for name in access.reads if name in reads)),
        writes=tuple(sorted(name for access in accesses for name in access.writes if name in writes)),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
