"""A log that is one JSON file: its pieces, with what is wrong with the file said once for every tool's log."""

from collections.abc import Collection, Iterator
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.imports.json_stream import JsonPieces, Names, Truncated
from console.exchange.imports.log import Problem


def read_pieces(path: Path, lists: Collection[Names], problems: list[Problem]) -> Iterator[tuple[Names, bytes | None]]:
    """Yield members and elements of a file; see `JsonPieces.elements`.

    Args:
        path: the file.
        lists: the names that lead to lists whose elements are wanted one by one.
        problems: gets an entry when the file ends too early; everything that is whole has been yielded then.

    Raises:
        UsageError: it cannot be read, or is not JSON.
    """
    try:
        with path.open("rb") as file:
            yield from JsonPieces(file).elements(lists)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except Truncated as error:
        problems.append(Problem(path.name, f"{error}; what is whole was read"))
    except ValueError as error:
        raise UsageError(f"is not JSON: {error}", where=str(path)) from None
