"""The telephone company: customers, lines and bills, and the world it shares with the user's phone."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from console.benchmarks.tau2.rules.domains import world
from console.benchmarks.tau2.rules.domains.phone import PaymentRequest, Phone, PhoneData
from console.benchmarks.tau2.rules.domains.world import RowT, Table, ToolError, tool

TODAY = date(2025, 2, 25)
_EPSILON = 1e-6
ACTIVE, SUSPENDED, PENDING = "Active", "Suspended", "Pending Activation"
DRAFT, AWAITING, PAID, OVERDUE = "Draft", "Awaiting Payment", "Paid", "Overdue"

# Rows; dates are ISO strings ----------------------------------------------------------------------------------------


class Plan(msgspec.Struct, gc=False):
    """A plan's prices and limits."""

    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class Customer(msgspec.Struct, gc=False):
    """A customer."""

    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: dict[str, str]
    account_status: str = "Pending Verification"
    payment_methods: list[dict[str, str]] = []
    line_ids: list[str] = []
    bill_ids: list[str] = []
    created_at: datetime = datetime(2025, 1, 1)  # noqa: DTZ001 - printed as it is
    last_extension_date: str | None = None
    goodwill_credit_used_this_year: float = 0.0


class Line(msgspec.Struct, gc=False):
    """A phone line."""

    line_id: str
    phone_number: str
    status: str = PENDING
    plan_id: str = ""
    device_id: str | None = None
    data_used_gb: float = 0.0
    data_refueling_gb: float = 0.0
    roaming_enabled: bool = False
    contract_end_date: str | None = None
    last_plan_change_date: str | None = None
    last_sim_replacement_date: str | None = None
    suspension_start_date: str | None = None


class LineItem(msgspec.Struct, gc=False):
    """One charge."""

    description: str
    amount: float
    date: str
    item_type: str


class Bill(msgspec.Struct, gc=False):
    """A bill."""

    bill_id: str
    customer_id: str
    period_start: str
    period_end: str
    issue_date: str
    total_due: float
    due_date: str
    line_items: list[LineItem] = []
    status: str = DRAFT


class Device(msgspec.Struct, gc=False):
    """A sold device."""

    device_id: str
    device_type: str
    model: str
    imei: str | None = None
    is_esim_capable: bool = False
    activated: bool = False
    activation_date: datetime | None = None
    last_esim_transfer_date: datetime | None = None


class Data(PhoneData, gc=False, kw_only=True):
    """The pulled data of both parties."""

    plans: list[Plan]
    customers: list[Customer]
    lines: list[Line]
    bills: list[Bill]
    devices: list[Device]


# Tools ---------------------------------------------------------------------------------------------------------------


class _Rows(Table[RowT]):
    """A table in which looking up an unhashable key finds nothing, as in the original, which searches row by row."""

    def get(self, key: Any) -> RowT:
        return super().get(str(key))


def _roaming(*, is_on: bool) -> Callable[["TelecomWorld", str, str], str]:
    """Create the tool that enables or disables roaming for a line."""
    word = "enabled" if is_on else "disabled"

    @tool("write")
    def switch(self: "TelecomWorld", customer_id: str, line_id: str) -> str:
        line = self.line_of(customer_id, line_id)
        if line.roaming_enabled == is_on:
            return f"Roaming was already {word}"
        line.roaming_enabled = is_on
        return f"Roaming {word} successfully"

    return switch


class TelecomWorld(Phone):
    """The company and the user's phone: tools of the agent, and functions of the tasks."""

    rows = Data

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        self.plans = _Rows({row.plan_id: row for row in data.plans}, "Plan with ID {} not found")
        self.customers = _Rows({row.customer_id: row for row in data.customers}, "Customer with ID {} not found")
        self.lines = _Rows({row.line_id: row for row in data.lines}, "Line with ID {} not found")
        self.bills = _Rows({row.bill_id: row for row in data.bills}, "Bill with ID {} not found")
        self.devices = _Rows({row.device_id: row for row in data.devices}, "Device with ID {} not found")
        self.sync()

    def sync(self) -> None:
        """Copy the company's settings to the phone, and payments to the company."""
        around = self.surroundings
        number = around.phone_number
        if number is None:
            return
        line = next((row for row in self.lines if row.phone_number == number), None)
        if line is None:
            raise ToolError(f"Line with phone number {number} not found")
        around.line_active = line.status == ACTIVE
        around.roaming_allowed = bool(line.roaming_enabled)
        limit = self.plans.get(line.plan_id).data_limit_gb + line.data_refueling_gb
        around.mobile_data_usage_exceeded = line.data_used_gb >= limit
        if around.payment_request is not None and around.payment_request.paid:
            self.bills.get(around.payment_request.bill_id).status = PAID
            around.payment_request = None
        if around.payment_request is None:
            bill = self.first_bill(self.get_customer_by_phone(number), AWAITING)
            if bill is not None:
                around.payment_request = PaymentRequest(bill.bill_id, bill.total_due)

    @tool("read")
    def get_customer_by_phone(self, phone_number: str) -> Customer:
        """Find a customer by their own number, or that of a line."""
        for customer in self.customers:
            numbers = [self.lines.get(line_id).phone_number for line_id in customer.line_ids]
            if phone_number in (customer.phone_number, *numbers):
                return customer
        raise ToolError(f"Customer with phone number {phone_number} not found")

    @tool("read")
    def get_customer_by_id(self, customer_id: str) -> Customer:
        return self.customers.get(customer_id)

    @tool("read")
    def get_customer_by_name(self, full_name: str, dob: str) -> list[Customer]:
        """Find customers by name, in any case, and date of birth."""
        named = [item for item in self.customers if item.full_name.lower() == full_name.lower()]
        return [customer for customer in named if customer.date_of_birth == dob]

    @tool("read")
    def get_details_by_id(self, id: str) -> Any:
        """Return the row with an id, whose first letter determines the table."""
        tables = {"L": self.lines, "D": self.devices, "B": self.bills, "C": self.customers, "P": self.plans}
        table = next((tables[letter] for letter in tables if id.startswith(letter)), None)
        if table is None:
            raise ToolError(f"Unknown ID format or type: {id}")
        return table.get(id)

    @tool("write")
    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> dict[str, Any]:
        del reason
        line = self.line_of(customer_id, line_id)
        if line.status != ACTIVE:
            raise ToolError("Line must be active to suspend")
        line.status = SUSPENDED
        line.suspension_start_date = str(TODAY)
        return {"message": "Line suspended successfully. $5/month holding fee will apply.", "line": line}

    @tool("write")
    def resume_line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Resume a suspended or new line."""
        line = self.line_of(customer_id, line_id)
        if line.status not in (SUSPENDED, PENDING):
            raise ToolError("Line must be suspended to resume")
        line.status = ACTIVE
        line.suspension_start_date = None
        return {"message": "Line resumed successfully", "line": line}

    @tool("read")
    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> list[Bill]:
        """Return the bills of a customer, newest first."""
        bills = [self.bills.get(bill_id) for bill_id in self.customers.get(customer_id).bill_ids]
        return sorted(bills, key=lambda bill: bill.issue_date, reverse=True)[:limit]

    @tool("write")
    def send_payment_request(self, customer_id: str, bill_id: str) -> str:
        """Ask a customer to pay a bill of any status."""
        customer = self.customers.get(customer_id)
        if self.first_bill(customer, AWAITING) is not None:
            raise ToolError("A bill is already awaiting payment for this customer")
        if bill_id not in customer.bill_ids:
            raise ToolError(f"Bill {bill_id} not found for customer {customer_id}")
        self.bills.get(bill_id).status = AWAITING
        return f"Payment request sent to the customer for bill {bill_id}"

    @tool("read")
    def get_data_usage(self, customer_id: str, line_id: str) -> dict[str, Any]:
        line = self.line_of(customer_id, line_id)
        return {
            "line_id": line_id,
            "data_used_gb": line.data_used_gb,
            "data_limit_gb": self.plans.get(line.plan_id).data_limit_gb,
            "data_refueling_gb": line.data_refueling_gb,
            "cycle_end_date": _next_month(TODAY) - timedelta(days=1),
        }

    enable_roaming = _roaming(is_on=True)
    disable_roaming = _roaming(is_on=False)

    transfer_to_human_agents = world.transfer_to_human_agents

    @tool("write")
    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> dict[str, Any]:
        """Add data to a line, on the next bill."""
        line = self.line_of(customer_id, line_id)
        if gb_amount <= 0:
            raise ToolError("Refuel amount must be positive")
        price = self.plans.get(line.plan_id).data_refueling_price_per_gb
        charge = gb_amount * price
        line.data_refueling_gb += gb_amount
        customer = self.customers.get(customer_id)
        bill = self.first_bill(customer, DRAFT)
        if bill is None:  # the original draws an id
            bill = self._new_bill(customer, f"B{len(list(self.bills)):08x}", _next_month(TODAY), DRAFT)
        kind = "Credit" if charge < 0 else "Charge"
        bill.line_items.append(LineItem(f"Data refueling: {gb_amount} GB at ${price}/GB", charge, str(TODAY), kind))
        bill.total_due += charge
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}",
            "new_data_refueling_gb": line.data_refueling_gb,
            "charge": charge,
        }

    # Functions of the tasks

    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> str:
        self.line_of(customer_id, line_id).data_used_gb = data_used_gb
        return f"Data usage set to {data_used_gb} GB for line {line_id}"

    def suspend_line_for_overdue_bill(
        self, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool
    ) -> None:
        """Suspend a line, with a new overdue bill from last month."""
        line, customer = self.lines.get(line_id), self.customers.get(customer_id)
        if line.status != ACTIVE:
            raise ToolError("Line must be active to suspend for unpaid bill")
        if self.first_bill(customer, OVERDUE) is not None:
            raise ToolError("Customer already has an overdue bill")
        last_month = (TODAY.replace(day=1) - timedelta(days=1)).replace(day=1)
        bill = self._new_bill(customer, new_bill_id, last_month, OVERDUE)
        amount = self.plans.get(line.plan_id).price_per_month
        bill.line_items.append(LineItem(f"Charge for line {line_id}", amount, str(TODAY), "Charge"))
        bill.total_due += amount
        line.status = SUSPENDED
        line.suspension_start_date = str(TODAY)
        if contract_ended:
            line.contract_end_date = bill.period_end

    def assert_data_refueling_amount(self, customer_id: str, line_id: str, expected_amount: float) -> bool:
        return abs(self.line_of(customer_id, line_id).data_refueling_gb - expected_amount) < _EPSILON

    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """Return whether a bill is paid or unknown."""
        return all(bill.status == PAID for bill in self.bills if bill.bill_id == overdue_bill_id)

    # Rows

    def first_bill(self, customer: Customer, status: str) -> Bill | None:
        """Return the first of a customer's bills that has a status."""
        bills = (self.bills.get(bill_id) for bill_id in customer.bill_ids)
        return next((bill for bill in bills if bill.status == status), None)

    def line_of(self, customer_id: str, line_id: str) -> Line:
        if line_id not in self.customers.get(customer_id).line_ids:
            raise ToolError(f"Line {line_id} not found for customer {customer_id}")
        return self.lines.get(line_id)

    def _new_bill(self, customer: Customer, bill_id: str, start: date, status: str) -> Bill:
        """Open the bill of a month."""
        end, due = _next_month(start) - timedelta(days=1), start + timedelta(days=14)
        bill = Bill(bill_id, customer.customer_id, str(start), str(end), str(start), 0.0, str(due), status=status)
        self.bills.add(bill_id, bill)
        customer.bill_ids.append(bill_id)
        return bill


def _next_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1)
