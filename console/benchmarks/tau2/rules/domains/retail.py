"""The shop: products, users and orders. Errors keep the official wording."""

import json
from collections.abc import Sequence
from typing import Literal

import msgspec

from console.benchmarks.tau2.rules.domains import world
from console.benchmarks.tau2.rules.domains.world import CreditCard, Name, Table, ToolError, World, converted, tool

_PENDING = ("pending", "pending (item modified)")
_REASONS = ("no longer needed", "ordered by mistake")

# Rows ----------------------------------------------------------------------------------------------------------------


class Variant(msgspec.Struct, gc=False):
    """One item that can be bought."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(msgspec.Struct, gc=False):
    """A product with its variants."""

    name: str
    product_id: str
    variants: dict[str, Variant]


class UserAddress(msgspec.Struct, gc=False):
    """An address."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class GiftCard(msgspec.Struct, tag_field="source", tag="gift_card", gc=False):
    """A gift card with its balance."""

    id: str
    balance: float


class Paypal(msgspec.Struct, tag_field="source", tag="paypal", gc=False):
    """A PayPal account, which has no limit."""

    id: str


Method = CreditCard | GiftCard | Paypal


class User(msgspec.Struct, gc=False):
    """A customer."""

    user_id: str
    name: Name
    address: UserAddress
    email: str
    payment_methods: dict[str, Method]
    orders: list[str]


class OrderItem(msgspec.Struct, gc=False):
    """A bought item."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class OrderPayment(msgspec.Struct, gc=False):
    """A payment or refund."""

    transaction_type: Literal["payment", "refund"]
    amount: float
    payment_method_id: str


class Order(msgspec.Struct, gc=False):
    """An order."""

    order_id: str
    user_id: str
    address: UserAddress
    items: list[OrderItem]
    status: str
    fulfillments: list[dict[str, list[str]]]
    payment_history: list[OrderPayment]
    cancel_reason: str | None = None
    exchange_items: list[str] | None = None
    exchange_new_items: list[str] | None = None
    exchange_payment_method_id: str | None = None
    exchange_price_difference: float | None = None
    return_items: list[str] | None = None
    return_payment_method_id: str | None = None


class Data(msgspec.Struct, gc=False):
    """The pulled data."""

    products: dict[str, Product]
    users: dict[str, User]
    orders: dict[str, Order]


# Tools ---------------------------------------------------------------------------------------------------------------


class RetailWorld(World):
    """A shop; the user has no tools."""

    rows = Data

    def __init__(self, data: Data) -> None:
        self.products = Table(data.products, "Product not found")
        self.users, self.orders = Table(data.users, "User not found"), Table(data.orders, "Order not found")

    calculate = world.calculate

    @tool("write")
    def cancel_pending_order(self, order_id: str, reason: str) -> Order:
        """Cancel an order; gift cards are refunded immediately."""
        order = self._order_in(order_id, ("pending",), "cancelled")
        if reason not in _REASONS:
            raise ToolError("Invalid reason")
        refunds: list[OrderPayment] = []
        for payment in order.payment_history:
            refunds.append(OrderPayment("refund", payment.amount, payment.payment_method_id))
            _charge(self._method(order, payment.payment_method_id), -payment.amount)
        order.status, order.cancel_reason = "cancelled", reason
        order.payment_history.extend(refunds)
        return order

    @tool("write")
    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Order:
        """Request an exchange; nothing is charged yet."""
        order = self._order_in(order_id, ("delivered",), "exchanged")
        _check_owned(order, item_ids, "Number of {} not found.")
        if len(item_ids) != len(new_item_ids):
            raise ToolError("The number of items to be exchanged should match.")
        difference = round(self._difference(order, item_ids, new_item_ids)[0], 2)
        _check_balance(self._method(order, payment_method_id), difference, "price difference")
        order.status = "exchange requested"
        order.exchange_items, order.exchange_new_items = sorted(item_ids), sorted(new_item_ids)
        order.exchange_payment_method_id, order.exchange_price_difference = payment_method_id, difference
        return order

    @tool("read")
    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        for user in self.users:
            is_first = user.name.first_name.lower() == first_name.lower()
            if is_first and user.name.last_name.lower() == last_name.lower() and user.address.zip == zip:
                return user.user_id
        raise ToolError("User not found")

    @tool("read")
    def find_user_id_by_email(self, email: str) -> str:
        for user in self.users:
            if user.email.lower() == email.lower():
                return user.user_id
        raise ToolError("User not found")

    @tool("read")
    def get_order_details(self, order_id: str) -> Order:
        return self.orders.get(order_id)

    @tool("read")
    def get_product_details(self, product_id: str) -> Product:
        return self.products.get(product_id)

    @tool("read")
    def get_item_details(self, item_id: str) -> Variant:
        for product in self.products:
            if item_id in product.variants:
                return product.variants[item_id]
        raise ToolError("Item not found")

    @tool("read")
    def get_user_details(self, user_id: str) -> User:
        return self.users.get(user_id)

    @tool("read")
    def list_all_product_types(self) -> str:
        """Return the products' ids by name."""
        return json.dumps({product.name: product.product_id for product in self.products}, sort_keys=True)

    @tool("write")
    def modify_pending_order_address(
        self, order_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Order:
        order = self._order_in(order_id, _PENDING, "modified")
        order.address = _address(address1, address2, city, country, state, zip)
        return order

    @tool("write")
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Order:
        """Replace items; all get price and options of the last new one, as in the original."""
        order = self._order_in(order_id, ("pending",), "modified")
        _check_owned(order, item_ids, "{} not found")
        if len(item_ids) != len(new_item_ids):
            raise ToolError("The number of items to be exchanged should match")
        difference, last = self._difference(order, item_ids, new_item_ids, must_differ=True)
        method = self._method(order, payment_method_id)
        _check_balance(method, difference, "new item")
        kind = "payment" if difference > 0 else "refund"
        order.payment_history.append(OrderPayment(kind, abs(difference), payment_method_id))
        _charge(method, difference)
        for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
            item = _item(order, item_id)
            item.item_id = new_item_id
            if last is not None:
                item.price, item.options = last.price, last.options
        order.status = "pending (item modified)"
        return order

    @tool("write")
    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Order:
        order = self._order_in(order_id, _PENDING, "modified")
        method = self._method(order, payment_method_id)
        if len(order.payment_history) != 1 or order.payment_history[0].transaction_type != "payment":
            raise ToolError("There should be exactly one payment for a pending order")
        old = order.payment_history[0]
        if old.payment_method_id == payment_method_id:
            raise ToolError("The new payment method should be different from the current one")
        _check_balance(method, old.amount, "order")
        order.payment_history.append(OrderPayment("payment", old.amount, payment_method_id))
        order.payment_history.append(OrderPayment("refund", old.amount, old.payment_method_id))
        _charge(method, old.amount)
        _charge(self._method(order, old.payment_method_id), -old.amount)
        return order

    @tool("write")
    def modify_user_address(
        self, user_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> User:
        user = self.users.get(user_id)
        user.address = _address(address1, address2, city, country, state, zip)
        return user

    @tool("write")
    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Order:
        """Request a return; nothing is refunded yet."""
        order = self._order_in(order_id, ("delivered",), "returned")
        method = self._method(order, payment_method_id)
        if not isinstance(method, GiftCard) and payment_method_id != order.payment_history[0].payment_method_id:
            raise ToolError("Payment method should be the original payment method")
        _check_owned(order, item_ids, "Some item not found")
        order.status = "return requested"
        order.return_items, order.return_payment_method_id = sorted(item_ids), payment_method_id
        return order

    transfer_to_human_agents = world.transfer_to_human_agents

    def _order_in(self, order_id: str, states: Sequence[str], action: str) -> Order:
        """Return an order that has one of these states; the error names the first state."""
        order = self.orders.get(order_id)
        if order.status not in states:
            raise ToolError(f"Non-{states[0]} order cannot be {action}")
        return order

    def _method(self, order: Order, method_id: str) -> Method:
        methods = self.users.get(order.user_id).payment_methods
        if method_id not in methods:
            raise ToolError("Payment method not found")
        return methods[method_id]

    def _difference(
        self, order: Order, item_ids: list[str], new_item_ids: list[str], *, must_differ: bool = False
    ) -> tuple[float, Variant | None]:
        """Return the price difference after replacing items, and the last new item."""
        difference, variant = 0.0, None
        for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
            if must_differ and item_id == new_item_id:
                raise ToolError("The new item id should be different from the old item id")
            item = _item(order, item_id)
            variants = self.products.get(item.product_id).variants
            if new_item_id not in variants:
                raise ToolError("Variant not found")
            variant = variants[new_item_id]
            if not variant.available:
                raise ToolError(f"New item {new_item_id} not found or available")
            difference += variant.price - item.price
        return difference, variant


def _check_balance(method: Method, amount: float, purpose: str) -> None:
    if isinstance(method, GiftCard) and method.balance < amount:
        raise ToolError(f"Insufficient gift card balance to pay for the {purpose}")


def _charge(method: Method, amount: float) -> None:
    """Take an amount from a gift card; other methods have no balance."""
    if isinstance(method, GiftCard):
        method.balance = round(method.balance - amount, 2)


def _item(order: Order, item_id: str) -> OrderItem:
    for item in order.items:
        if item.item_id == item_id:
            return item
    raise ToolError(f"Item {item_id} not found")


def _check_owned(order: Order, item_ids: list[str], text: str) -> None:
    owned = [item.item_id for item in order.items]
    for item_id in item_ids:
        if item_ids.count(item_id) > owned.count(item_id):
            raise ToolError(text.format(item_id))


def _address(*values: str) -> UserAddress:
    return converted(UserAddress, dict(zip(UserAddress.__struct_fields__, values, strict=True)))
