"""Logs that are one JSON file: read in pieces, with file errors reported alike for every tool's log."""

from collections.abc import Collection, Iterator
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.imports.json_stream import JsonPieces, Names, Truncated
from console.exchange.imports.log import Problem


def read_pieces(path: Path, lists: Collection[Names], problems: list[Problem]) -> Iterator[tuple[Names, bytes | None]]:
    """Yield members and elements of a file; see `JsonPieces.elements`.

    Args:
        path: the file.
        lists: paths of the lists whose elements are yielded one by one.
        problems: gets an entry if the file is truncated, after all complete values have been yielded.

    Raises:
        UsageError: it cannot be read, or is not JSON.
    """
    try:
        with path.open("rb") as file:
            yield from JsonPieces(file).elements(lists)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except Truncated as error:
        problems.append(Problem(path.name, f"{error}; complete entries were read"))
    except ValueError as error:
        raise UsageError(f"is not JSON: {error}", where=str(path)) from None
