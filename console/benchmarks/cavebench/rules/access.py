"""Which names a code snippet reads and writes, by cave-bench's definition: names only, no flow analysis.

Every name in load position is a read and every name in store position a write, wherever it stands. Deleting, importing,
`def`, `class`, `except … as` and match captures count as neither; a snippet that does not parse, or is too long to be
parsed in reasonable time and memory, counts as nothing. The grammar is that of the running Python.
"""

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST = 200_000
"""Characters of a snippet that is parsed; the longest of the recorded ones has a few thousand."""


@dataclass(frozen=True, slots=True)
class Access:
    """Names read and written, sorted, each once."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def access_of(code: str) -> Access:
    """Return the names one snippet reads and writes."""
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
    """Return the expected names that the snippets touched, one entry for each snippet that did, sorted."""
    accesses = [access_of(snippet) for snippet in snippets]
    return Access(
        reads=tuple(sorted(name for access in accesses for name in access.reads if name in reads)),
        writes=tuple(sorted(name for access in accesses for name in access.writes if name in writes)),
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
