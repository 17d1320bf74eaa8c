"""The airline: flights, users and reservations. Errors keep the official wording."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict

from console.benchmarks.tau2.rules.domains import world
from console.benchmarks.tau2.rules.domains.world import (
    CreditCard,
    Name,
    Table,
    ToolError,
    World,
    converted,
    rows_or_given,
    tool,
)

NOW = "2024-05-15T15:00:00"
BAG_PRICE = 50
INSURANCE_PRICE = 30
_AVAILABLE = "available"
_NEW_IDS = ("HATHAT", "HATHAU", "HATHAV")
"""Ids of new reservations."""

Cabin = Literal["business", "economy", "basic_economy"]
Membership = Literal["gold", "silver", "regular"]
FlightType = Literal["round_trip", "one_way"]
YesNo = Literal["yes", "no"]

# Rows ----------------------------------------------------------------------------------------------------------------


class Day(msgspec.Struct, gc=False):
    """A flight on one day; only one that is `available` has seats and prices."""

    status: str
    available_seats: dict[Cabin, int] = {}
    prices: dict[Cabin, int] = {}


class Flight(msgspec.Struct, gc=False):
    """One flight number with its days."""

    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    dates: dict[str, Day]


class DirectFlight(msgspec.Struct, gc=False):
    """A search result."""

    flight_number: str
    origin: str
    destination: str
    status: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    date: str | None = None
    available_seats: dict[Cabin, int] = {}
    prices: dict[Cabin, int] = {}


class GiftCard(msgspec.Struct, tag_field="source", tag="gift_card", gc=False):
    """A gift card with its balance."""

    id: str
    amount: float


class Certificate(msgspec.Struct, tag_field="source", tag="certificate", gc=False):
    """A certificate, used up by one booking."""

    id: str
    amount: float


class Passenger(msgspec.Struct, gc=False):
    """Someone who flies."""

    first_name: str
    last_name: str
    dob: str


class Payment(msgspec.Struct, gc=False):
    """An amount paid by one method; negative for a refund."""

    payment_id: str
    amount: int


class FlightInfo(msgspec.Struct, gc=False):
    """A flight to book."""

    flight_number: str
    date: str


class ReservationFlight(msgspec.Struct, gc=False):
    """A booked flight."""

    flight_number: str
    origin: str
    destination: str
    date: str
    price: int


class User(msgspec.Struct, gc=False):
    """A customer."""

    user_id: str
    name: Name
    address: dict[str, str | None]
    email: str
    dob: str
    payment_methods: dict[str, CreditCard | GiftCard | Certificate]
    saved_passengers: list[Passenger]
    membership: Membership
    reservations: list[str]


class Reservation(msgspec.Struct, gc=False):
    """A booking."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: FlightType
    cabin: Cabin
    flights: list[ReservationFlight]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: YesNo
    status: Literal["cancelled"] | None = None


class Data(msgspec.Struct, gc=False):
    """The pulled data."""

    flights: dict[str, Flight]
    users: dict[str, User]
    reservations: dict[str, Reservation]


_AIRPORTS = (
    "SFO San Francisco, JFK New York, LAX Los Angeles, ORD Chicago, DFW Dallas, DEN Denver, SEA Seattle, ATL Atlanta, "
    "MIA Miami, BOS Boston, PHX Phoenix, IAH Houston, LAS Las Vegas, MCO Orlando, EWR Newark, CLT Charlotte, "
    "MSP Minneapolis, DTW Detroit, PHL Philadelphia, LGA LaGuardia"
)


class Airport(msgspec.Struct, gc=False):
    """One airport."""

    iata: str
    city: str


# Tools ---------------------------------------------------------------------------------------------------------------


class AirlineWorld(World):
    """An airline; the user has no tools."""

    rows = Data

    def __init__(self, data: Data) -> None:
        self.flights, self.users = Table(data.flights, "Flight {} not found"), Table(data.users, "User {} not found")
        self.reservations = Table(data.reservations, "Reservation {} not found")

    @tool("write")
    def book_reservation(
        self,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: FlightType,
        cabin: Cabin,
        flights: list[FlightInfo | dict[str, Any]],
        passengers: list[Passenger | dict[str, Any]],
        payment_methods: list[Payment | dict[str, Any]],
        total_baggages: int,
        nonfree_baggages: int,
        insurance: YesNo,
    ) -> Reservation:
        """Book flights; certificates are used up completely."""
        flight_infos, people = rows_or_given(FlightInfo, flights), rows_or_given(Passenger, passengers)
        payments = rows_or_given(Payment, payment_methods)
        user = self.users.get(user_id)
        reservation = converted(
            Reservation,
            {
                "reservation_id": _first_free(_NEW_IDS, self.reservations, "Too many reservations"),
                "user_id": user_id,
                "origin": origin,
                "destination": destination,
                "flight_type": flight_type,
                "cabin": cabin,
                "flights": [],
                "passengers": msgspec.to_builtins(people),
                "payment_history": msgspec.to_builtins(payments),
                "created_at": NOW,
                "total_baggages": total_baggages,
                "nonfree_baggages": nonfree_baggages,
                "insurance": insurance,
            },
        )
        reservation.flights = self._legs(flight_infos, cabin, len(people), {})
        price = sum(leg.price for leg in reservation.flights) + INSURANCE_PRICE * (insurance == "yes")
        self._pay(user, payments, price * len(people) + BAG_PRICE * nonfree_baggages)
        for leg in reservation.flights:
            self._day(leg.flight_number, leg.date).available_seats[cabin] -= len(people)
        self.reservations.add(reservation.reservation_id, reservation)
        user.reservations.append(reservation.reservation_id)
        return reservation

    calculate = world.calculate

    @tool("write")
    def cancel_reservation(self, reservation_id: str) -> Reservation:
        """Cancel a reservation and note the refunds; never refused."""
        reservation = self.reservations.get(reservation_id)
        refunds = [Payment(payment.payment_id, -payment.amount) for payment in reservation.payment_history]
        reservation.payment_history.extend(refunds)
        reservation.status = "cancelled"
        return reservation

    @tool("read")
    def get_reservation_details(self, reservation_id: str) -> Reservation:
        return self.reservations.get(reservation_id)

    @tool("read")
    def get_user_details(self, user_id: str) -> User:
        return self.users.get(user_id)

    @tool("read")
    def list_all_airports(self) -> list[Airport]:
        return [Airport(*airport.split(" ", 1)) for airport in _AIRPORTS.split(", ")]

    @tool("read")
    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[DirectFlight]:
        return list(self._search(date, origin, destination))

    @tool("read")
    def search_onestop_flight(self, origin: str, destination: str, date: str) -> list[list[DirectFlight]]:
        """Search pairs of flights; the next day has no leading zero and is always in May, as in the original."""
        connections: list[list[DirectFlight]] = []
        for first in self._search(date, origin, None):
            first.date = date
            is_next_day = "+1" in first.scheduled_arrival_time_est
            second_date = f"2024-05-{int(date[-2:]) + 1}" if is_next_day else date
            for second in self._search(second_date, first.destination, destination):
                if second.scheduled_departure_time_est >= first.scheduled_arrival_time_est:
                    second.date = second_date
                    connections.append([first, second])
        return connections

    @tool("write")
    def send_certificate(self, user_id: str, amount: int) -> str:
        methods = self.users.get(user_id).payment_methods
        names = (f"certificate_{number}" for number in range(3221322, 3221325))
        name = _first_free(names, methods, "Too many certificates")
        methods[name] = converted(Certificate, {"id": name, "amount": amount})
        return f"Certificate {name} added to user {user_id} with amount {amount}."

    transfer_to_human_agents = world.transfer_to_human_agents

    @tool("write")
    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> Reservation:
        """Change the bags, and charge those that are added."""
        reservation = self.reservations.get(reservation_id)
        self._settle(reservation, payment_id, BAG_PRICE * max(0, nonfree_baggages - reservation.nonfree_baggages))
        reservation.total_baggages, reservation.nonfree_baggages = total_baggages, nonfree_baggages
        return reservation

    @tool("write")
    def update_reservation_flights(
        self, reservation_id: str, cabin: Cabin, flights: list[FlightInfo | dict[str, Any]], payment_id: str
    ) -> Reservation:
        """Replace all flights; kept ones keep their price; seats are unchanged."""
        reservation = self.reservations.get(reservation_id)
        people, old = len(reservation.passengers), reservation.flights
        kept = {(leg.flight_number, leg.date): leg.price for leg in reversed(old) if cabin == reservation.cabin}
        legs = self._legs(rows_or_given(FlightInfo, flights), cabin, people, kept)
        price = sum(leg.price for leg in legs) - sum(leg.price for leg in old)
        self._settle(reservation, payment_id, price * people)
        reservation.flights, reservation.cabin = legs, cabin
        return reservation

    @tool("write")
    def update_reservation_passengers(
        self, reservation_id: str, passengers: list[Passenger | dict[str, Any]]
    ) -> Reservation:
        """Replace the passengers with the same number of others."""
        people = rows_or_given(Passenger, passengers)
        reservation = self.reservations.get(reservation_id)
        if len(people) != len(reservation.passengers):
            raise ToolError("Number of passengers does not match")
        reservation.passengers = people
        return reservation

    @tool("read")
    def get_flight_status(self, flight_number: str, date: str) -> str:
        return self._day(flight_number, date).status

    def _day(self, number: str, date: str) -> Day:
        day = self.flights.get(number).dates.get(date)
        if day is None:
            raise ToolError(f"Flight {number} not found on date {date}")
        return day

    def _legs(
        self, flights: list[FlightInfo], cabin: Cabin, people: int, kept: Mapping[tuple[str, str], int]
    ) -> list[ReservationFlight]:
        """Return flights in the booked format; those without a kept price need free seats."""
        legs: list[ReservationFlight] = []
        for flight_info in flights:
            number, date = flight_info.flight_number, flight_info.date
            price = kept.get((number, date))
            if price is None:
                day = self._day(number, date)
                if day.status != _AVAILABLE:
                    raise ToolError(f"Flight {number} not available on date {date}")
                if day.available_seats[cabin] < people:
                    raise ToolError(f"Not enough seats on flight {number}")
                price = day.prices[cabin]
            flight = self.flights.get(number)
            legs.append(ReservationFlight(number, flight.origin, flight.destination, date, price))
        return legs

    def _pay(self, user: User, payments: list[Payment], total: Any) -> None:
        """Check and charge the payments of a booking."""
        methods = user.payment_methods
        for payment in payments:
            method = methods.get(payment.payment_id)
            if method is None:
                raise ToolError(f"Payment method {payment.payment_id} not found")
            if isinstance(method, GiftCard | Certificate) and method.amount < payment.amount:
                raise ToolError(f"Not enough balance in payment method {payment.payment_id}")
        paid = sum(payment.amount for payment in payments)
        if paid != total:
            raise ToolError(f"Payment amount does not add up, total price is {total}, but paid {paid}")
        for payment in payments:
            method = methods[payment.payment_id]
            if isinstance(method, GiftCard):
                method.amount -= payment.amount
            elif isinstance(method, Certificate):
                del methods[payment.payment_id]

    def _settle(self, reservation: Reservation, payment_id: str, total: Any) -> None:
        """Charge or refund the difference of a change."""
        method = self.users.get(reservation.user_id).payment_methods.get(payment_id)
        if method is None:
            raise ToolError("Payment method not found")
        if isinstance(method, Certificate):
            raise ToolError("Certificate cannot be used to update reservation")
        if isinstance(method, GiftCard):
            if method.amount < total:
                raise ToolError("Gift card balance is not enough")
            method.amount -= total
        if total != 0:
            reservation.payment_history.append(converted(Payment, {"payment_id": payment_id, "amount": total}))

    def _search(self, date: str, origin: str | None, destination: str | None) -> Iterator[DirectFlight]:
        for flight in self.flights:
            day = flight.dates.get(date)
            if origin not in (None, flight.origin) or destination not in (None, flight.destination):
                continue
            if day is not None and day.status == _AVAILABLE:
                yield converted(DirectFlight, asdict(flight) | asdict(day))


def _first_free(names: Iterable[str], taken: Container[str], refusal: str) -> str:
    for name in names:
        if name not in taken:
            return name
    raise ToolError(refusal)
