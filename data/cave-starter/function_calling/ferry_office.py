"""Tickets for three ferries between made-up islands."""

from typing import Any

from core.types import ToolCall, Turn
from core.validation import ValidatorResult

_SAILINGS = {
    "F1": {"origin": "Norra", "destination": "Vesk", "date": "2031-05-04", "departs": "08:15", "seats": 40},
    "F2": {"origin": "Norra", "destination": "Vesk", "date": "2031-05-04", "departs": "17:30", "seats": 2},
    "F3": {"origin": "Vesk", "destination": "Norra", "date": "2031-05-06", "departs": "10:00", "seats": 25},
}
_SEAT, _CAR = 18.5, 42.0
_BOOKINGS: dict[str, dict[str, Any]] = {}


def find_sailings(origin: str, destination: str, date: str) -> list[dict[str, Any]]:
    """Find ferries of a day.

    Parameters
    ----------
    origin : str
        Island of departure.
    destination : str
        Island of arrival.
    date : str
        Day as YYYY-MM-DD.
    """
    wanted = {"origin": origin, "destination": destination, "date": date}
    return [{"id": key, **sail} for key, sail in _SAILINGS.items() if wanted.items() <= sail.items()]


def quote(sailing_id: str, passengers: int, car: bool = False) -> float:
    """Return the price of a booking in euros.

    Parameters
    ----------
    sailing_id : str
        Id of the sailing, such as F1.
    passengers : int
        Number of passengers.
    car : bool
        Whether a car comes along.
    """
    _SAILINGS[sailing_id]
    return passengers * _SEAT + (_CAR if car else 0.0)


def book(sailing_id: str, passengers: int, name: str, car: bool = False) -> dict[str, Any]:
    """Book seats on a ferry.

    Parameters
    ----------
    sailing_id : str
        Id of the sailing.
    passengers : int
        Number of passengers.
    name : str
        Who books.
    car : bool
        Whether a car comes along.
    """
    sailing = _SAILINGS[sailing_id]
    if sailing["seats"] < passengers:
        raise ValueError(f"only {sailing['seats']} seats are left on {sailing_id}")
    sailing["seats"] -= passengers
    key = f"T{len(_BOOKINGS) + 1}"
    _BOOKINGS[key] = {"sailing": sailing_id, "passengers": passengers, "name": name, "car": car}
    return {"ticket": key, "total": quote(sailing_id, passengers, car), **_BOOKINGS[key]}


def cancel(ticket: str) -> str:
    """Cancel a booking.

    Parameters
    ----------
    ticket : str
        Id of the ticket, such as T1.
    """
    booking = _BOOKINGS.pop(ticket)
    _SAILINGS[booking["sailing"]]["seats"] += booking["passengers"]
    return f"{ticket} is cancelled"


def validate_price(response: str, runtime: object, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept an answer with the price of three passengers and a car."""
    return ValidatorResult("97.5" in response, "three passengers and a car cost 97.50")


def validate_refusal(response: str, runtime: object, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept when no booking for five on the evening ferry was made."""
    full = [call for call in actual_calls if call.function == "book" and call.arguments.get("sailing_id") == "F2"]
    return ValidatorResult("2" in response and len(full) <= 1, "the answer should say that only 2 seats are left")


tools = [find_sailings, quote, book, cancel]
validators = {"validate_price": validate_price, "validate_refusal": validate_refusal}
description = "You sell ferry tickets. Prices are in euros."
