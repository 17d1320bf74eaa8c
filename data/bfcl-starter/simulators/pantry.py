"""A kitchen pantry for conversations: what is in stock, how much of it, and a shopping list."""


class Pantry:
    """Stock by name, amounts in the unit the scenario gives; every public attribute is compared by the checker."""

    def __init__(self) -> None:
        """Start empty; a scenario fills it."""
        self.stock: dict[str, dict[str, float | str]] = {}
        self.shopping_list: list[str] = []

    def _load_scenario(self, scenario: dict, long_context: bool = False) -> None:
        """Take stock and shopping list of a scenario; there is no longer form of it."""
        del long_context
        self.stock = scenario.get("stock", {})
        self.shopping_list = scenario.get("shopping_list", [])

    def list_stock(self) -> dict:
        """Name everything that is there."""
        return {"stock": {name: f"{item['amount']} {item['unit']}" for name, item in self.stock.items()}}

    def take(self, item: str, amount: float) -> dict:
        """Take some of an item; refused when there is not enough."""
        if item not in self.stock:
            return {"error": f"There is no {item}."}
        left = self.stock[item]["amount"] - amount
        if left < 0:
            return {"error": f"Only {self.stock[item]['amount']} {self.stock[item]['unit']} of {item} left."}
        self.stock[item]["amount"] = left
        return {"item": item, "left": left}

    def store(self, item: str, amount: float, unit: str = "pieces") -> dict:
        """Put some of an item in."""
        known = self.stock.setdefault(item, {"amount": 0, "unit": unit})
        known["amount"] += amount
        return {"item": item, "amount": known["amount"]}

    def add_to_shopping_list(self, item: str) -> dict:
        """Note an item to be bought; noted once only."""
        if item not in self.shopping_list:
            self.shopping_list.append(item)
        return {"shopping_list": self.shopping_list}

    def clear_shopping_list(self) -> dict:
        """Empty the list."""
        count = len(self.shopping_list)
        self.shopping_list = []
        return {"removed": count}
