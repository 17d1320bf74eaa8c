"""The desk of a small library: searching, lending, reserving."""

from typing import Any

from core.types import ToolCall, Turn
from core.validation import ValidatorResult

_BOOKS = {
    "B101": {"title": "Tide Tables", "author": "Ilse Brandt", "copies": 2, "shelf": "C4"},
    "B102": {"title": "The Salt Road", "author": "Ilse Brandt", "copies": 0, "shelf": "C5"},
    "B103": {"title": "Bees in Winter", "author": "Omar Haddad", "copies": 1, "shelf": "A1"},
    "B104": {"title": "Bees in Summer", "author": "Omar Haddad", "copies": 3, "shelf": "A2"},
    "B105": {"title": "Knots for Sailors", "author": "Mara Lind", "copies": 1, "shelf": "F9"},
}
_LOANS: dict[str, list[str]] = {"M7": ["B105"], "M9": []}
_RESERVATIONS: dict[str, dict[str, Any]] = {}


def search_books(text: str, author: str = "") -> list[dict[str, Any]]:
    """Find books by a part of their title.

    Args:
        text: Part of the title, any case. An empty text finds every title.
        author: Full name of the author, if only their books are wanted.

    Returns:
        One record per book with id, title and author.
    """
    return [
        {"id": key, "title": book["title"], "author": book["author"]}
        for key, book in _BOOKS.items()
        if text.lower() in book["title"].lower() and author in ("", book["author"])
    ]


def count_copies(book_id: str) -> dict[str, Any]:
    """Say how many copies of a book are on the shelf.

    Args:
        book_id: Id of the book, such as B101.
    """
    book = _BOOKS[book_id]
    return {"book_id": book_id, "copies": book["copies"], "shelf": book["shelf"]}


def lend_book(book_id: str, member_id: str, days: int = 14) -> dict[str, Any]:
    """Lend a copy of a book to a member.

    Args:
        book_id: Id of the book.
        member_id: Id of the member, such as M7.
        days: How long, in days.
    """
    if _BOOKS[book_id]["copies"] == 0:
        raise ValueError(f"no copy of {book_id} is on the shelf")
    _BOOKS[book_id]["copies"] -= 1
    _LOANS[member_id].append(book_id)
    return {"book_id": book_id, "member_id": member_id, "due_in_days": days}


def reserve_book(book_id: str, member_id: str) -> dict[str, Any]:
    """Put a member on the waiting list of a book.

    Args:
        book_id: Id of the book.
        member_id: Id of the member.
    """
    key = f"R{len(_RESERVATIONS) + 1}"
    _RESERVATIONS[key] = {"book_id": book_id, "member_id": member_id}
    return {"reservation": key, **_RESERVATIONS[key]}


def loans_of(member_id: str) -> list[str]:
    """List the ids of the books a member has at home.

    Args:
        member_id: Id of the member.
    """
    return list(_LOANS[member_id])


def validate_shelf(response: str, runtime: object, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept an answer that names the shelf of Bees in Winter."""
    return ValidatorResult("A1" in response, "the answer should name shelf A1")


def validate_no_lending(response: str, runtime: object, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept when nothing was lent: no copy is left of the book that was asked for."""
    lent = [call for call in actual_calls if call.function == "lend_book"]
    return ValidatorResult(not lent, "there is no copy to lend")


tools = [search_books, count_copies, lend_book, reserve_book, loans_of]
validators = {"validate_shelf": validate_shelf, "validate_no_lending": validate_no_lending}
