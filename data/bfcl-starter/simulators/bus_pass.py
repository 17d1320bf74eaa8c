"""A prepaid bus card for conversations: top up, buy and cancel tickets."""

_FARES = {"short": 180, "single": 290, "day": 720}


class BusPass:
    """Balance in cents and tickets by number; every public attribute is compared by the checker."""

    def __init__(self) -> None:
        """Start without money; a scenario fills the card."""
        self.balance_cents = 0
        self.tickets: dict[int, dict[str, str]] = {}
        self.next_number = 1

    def _load_scenario(self, scenario: dict, long_context: bool = False) -> None:
        """Take balance and tickets of a scenario; there is no longer form of it."""
        del long_context
        self.balance_cents = scenario.get("balance_cents", 0)
        self.tickets = {int(number): ticket for number, ticket in scenario.get("tickets", {}).items()}
        self.next_number = max(self.tickets, default=0) + 1

    def get_balance(self) -> dict:
        """Tell the balance."""
        return {"balance_cents": self.balance_cents}

    def list_fares(self) -> dict:
        """Tell all fares in cents."""
        return dict(_FARES)

    def top_up(self, cents: int) -> dict:
        """Put money on the card."""
        if not isinstance(cents, int) or cents <= 0:
            return {"error": "The amount must be a positive whole number of cents."}
        self.balance_cents += cents
        return {"balance_cents": self.balance_cents}

    def buy_ticket(self, fare: str, zone: str = "A") -> dict:
        """Buy a ticket for a zone; refused for an unknown fare or too little money."""
        if fare not in _FARES:
            return {"error": f"Unknown fare {fare}."}
        if self.balance_cents < _FARES[fare]:
            return {"error": f"{_FARES[fare] - self.balance_cents} cents are missing."}
        self.balance_cents -= _FARES[fare]
        number, self.next_number = self.next_number, self.next_number + 1
        self.tickets[number] = {"fare": fare, "zone": zone}
        return {"ticket": number, "balance_cents": self.balance_cents}

    def cancel_ticket(self, ticket: int) -> dict:
        """Give a ticket back and get its fare back."""
        if ticket not in self.tickets:
            return {"error": f"There is no ticket {ticket}."}
        self.balance_cents += _FARES[self.tickets.pop(ticket)["fare"]]
        return {"balance_cents": self.balance_cents}
