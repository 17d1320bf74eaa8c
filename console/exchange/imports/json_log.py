"""Logs that are one JSON file: read in pieces, with the same error messages for every tool's log."""

from collections.abc import Collection, Iterator
from pathlib import Path

from console.core.fault import UsageError, reason_of
from console.exchange.imports.json_stream import JsonPieces, Names, Truncated
from console.exchange.imports.log import Problem
from console.store.atomic import open_regular


def read_pieces(path: Path, lists: Collection[Names], problems: list[Problem]) -> Iterator[tuple[Names, bytes | None]]:
    """Yield members and elements of a file; see `JsonPieces.elements`.

    Args:
        path: the file.
        lists: paths of the lists whose elements are yielded one by one.
        problems: gets an entry if the file is truncated, after all complete values have been yielded.

    Raises:
        UsageError: it cannot be read, or is not JSON.
    """
    for names, piece, _ in placed_pieces(path, lists, problems):
        yield names, piece


def placed_pieces(
    path: Path, lists: Collection[Names], problems: list[Problem]
) -> Iterator[tuple[Names, bytes | None, int]]:
    """Like `read_pieces`, with the position in the file where each piece ends."""
    try:
        with open_regular(path) as file:
            pieces = JsonPieces(file)
            for names, piece in pieces.elements(lists):
                yield names, piece, pieces.place
    except OSError as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path)) from None
    except Truncated as error:
        problems.append(Problem(path.name, f"{error}; complete entries were read"))
    except ValueError as error:
        raise UsageError(f"is not JSON: {reason_of(error)}", where=str(path)) from None
