"""Worlds: tables shared between conversations, tools, and the text of their results.

Rows are `msgspec` structs with the fields in official order. Attributes are assigned without validation, so a number
keeps the spelling of the caller, as in the official state: 2 and 2.0 make different worlds.
"""

import ast
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

import msgspec

from console.core.ready_type import ready_type

Kind = Literal["read", "write", "generic"]
RowT = TypeVar("RowT", bound=msgspec.Struct)
ToolT = TypeVar("ToolT", bound=Callable[..., Any])
AGENT, USER = "assistant", "user"
"""Parties, as the official files call them."""


class ToolError(Exception):
    """Error raised when a tool rejects a call; the wording is official."""


class Misfit(ToolError):
    """Error raised when a value in a call has the wrong type; the wording is ours."""


class Tool(NamedTuple):
    """One tool of a kit."""

    name: str
    kind: Kind
    function: Callable[..., Any]
    signature: inspect.Signature


class Result(NamedTuple):
    """The result of one call."""

    content: str
    error: bool = False
    is_own: bool = False
    """True if the text of the error is ours or Python's, because the original's is different."""


class Difference(NamedTuple):
    """One row that differs between two worlds; None if it does not exist there."""

    table: str
    key: str
    ours: Any
    theirs: Any


def tool(kind: Kind, side: str = AGENT) -> Callable[[ToolT], ToolT]:
    """Mark a method of a world as a tool of a party; other methods are for tasks only."""

    def mark(function: ToolT) -> ToolT:
        function.__dict__.update(kind=kind, side=side)
        return function

    return mark


@cache
def tools_of(world: "type[World]", side: str) -> Mapping[str, Tool]:
    """Return the tools of a party by name, in order of definition."""
    functions = {name: item for part in reversed(world.__mro__) for name, item in vars(part).items()}
    own = {name: item for name, item in functions.items() if getattr(item, "side", None) == side}
    tools = {name: Tool(name, item.kind, item, inspect.signature(item)) for name, item in own.items()}
    return MappingProxyType(tools)


class Table(Generic[RowT]):
    """Rows by id. The data is shared; a row is copied when it is first fetched, so tools may modify it."""

    def __init__(self, rows: Mapping[str, RowT], refusal: str) -> None:
        """Store the data, and the error text for a missing row, with `{}` for its id."""
        self._rows, self._refusal = rows, refusal
        self._own: dict[str, RowT] = {}

    def get(self, key: Any) -> RowT:
        """Fetch a row.

        Raises:
            ToolError: there is no such row.
        """
        if key not in self._own:
            if key not in self._rows:
                raise ToolError(self._refusal.format(key))
            row = self._rows[key]
            self._own[key] = msgspec.msgpack.decode(msgspec.msgpack.encode(row), type=ready_type(type(row)))
        return self._own[key]

    def add(self, key: str, row: RowT) -> None:
        """Add a row at the end."""
        self._own[key] = row

    def __contains__(self, key: object) -> bool:
        return key in self._own or key in self._rows

    def __iter__(self) -> Iterator[RowT]:
        """Yield all rows, for reading only."""
        return iter({**self._rows, **self._own}.values())

    def changes(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the rows that differ from the data: id, before and after; None if the row did not exist."""
        for key, row in self._own.items():
            before, after = msgspec.to_builtins(self._rows.get(key)), msgspec.to_builtins(row)
            if canonical(before) != canonical(after):
                yield key, before, after


class World:
    """The state of one conversation, whose attributes are tables, with the tools of both parties."""

    rows: ClassVar[type[msgspec.Struct]]
    """The class of the pulled data."""
    is_solo: bool = False
    """True if the agent has the user's tools too."""

    def __init__(self, data: Any) -> None:
        """Create tables of the pulled data."""

    def sync(self) -> None:
        """Exchange changes between the parties' states; called after each call."""

    def changes(self) -> dict[tuple[str, str], tuple[Any, Any]]:
        """Return the rows that differ from the pulled data, before and after, by table and id."""
        return {
            (name, key): (before, after)
            for name, table in vars(self).items()
            if isinstance(table, Table)
            for key, before, after in cast(Table[Any], table).changes()
        }

    def tools(self, requestor: str, name: str) -> Mapping[str, Tool]:
        """Return the tools of the party that owns the tool of this name."""
        is_users = self.is_solo and name in tools_of(type(self), USER)
        return tools_of(type(self), USER if is_users else requestor)

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any], *, sync: bool = True) -> Result:
        """Carry out one call of a party."""
        tools = self.tools(requestor, name)
        if name not in tools:
            return Result(
                f"Error: Tool '{name}' not found." if tools else "Error: User tools not available", error=True
            )
        try:
            bound = tools[name].signature.bind(self, **arguments)
            value = tools[name].function(*bound.args, **bound.kwargs)
            if sync:
                self.sync()
            return Result(result_text(value))
        except Exception as error:  # a tool may fail on any value the model writes
            is_official = isinstance(error, ToolError) and not isinstance(error, Misfit)
            return Result(f"Error: {error}", error=True, is_own=not is_official)

    def run(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a function of a task.

        Raises:
            ToolError: there is no such function.
        """
        function = getattr(self, name, None)
        if function is None or name.startswith("_"):
            raise ToolError(f"Function '{name}' not found.")
        value = function(**arguments)
        self.sync()
        return value


def canonical(value: Any) -> str:
    """Return a string that two states share only if they are equal."""
    return json.dumps(value, sort_keys=True)


def differing(world: World, other: World) -> list[Difference]:
    """Return the rows in which two worlds over the same data differ."""
    here, there = world.changes(), other.changes()
    differences: list[Difference] = []
    for place, (before, _) in {**here, **there}.items():
        (_, ours), (_, theirs) = here.get(place, (before, before)), there.get(place, (before, before))
        if canonical(ours) != canonical(theirs):
            differences.append(Difference(*place, ours, theirs))
    return differences


def result_text(value: Any) -> str:
    """Return the text of a tool's result, in the official format."""
    return value if isinstance(value, str) else json.dumps(_plain(value), default=str)


def _plain(value: Any) -> Any:
    """Return JSON values: rows with all their fields; other numbers as strings; times as Python prints them."""
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value, builtin_types=(datetime,))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast(list[Any], value)]
    return value if value is None else str(value)


def converted(kind: type[RowT], value: Any) -> RowT:
    """Build a row from the values of a call, accepting integral floats and numeric strings as numbers.

    Raises:
        Misfit: a value is missing or has another type.
    """
    try:
        return msgspec.convert(value, ready_type(kind), strict=False)
    except msgspec.ValidationError as error:
        raise Misfit(f"1 validation error for {kind.__name__}: {error}") from error


def rows_or_given(kind: type[RowT], values: Any) -> list[RowT]:
    """Build rows from a list of objects; a list with anything else is returned as given, to fail later."""
    items = list(values)
    return [converted(kind, value) for value in items] if all(isinstance(value, dict) for value in items) else values


# Rows and tools of several kits ---------------------------------------------------------------------------------------


class Name(msgspec.Struct, gc=False):
    """The name of a user."""

    first_name: str
    last_name: str


class CreditCard(msgspec.Struct, tag_field="source", tag="credit_card", gc=False):
    """A credit card, which has no limit."""

    id: str
    brand: str
    last_four: str


@tool("generic")
def transfer_to_human_agents(self: Any, summary: str) -> str:
    """Report the transfer to a human agent."""
    del self, summary
    return "Transfer successful"


@tool("generic")
def calculate(self: Any, expression: str) -> str:
    """Compute an arithmetic expression, rounded to cents. Huge integers, on which Python would hang, are refused.

    Raises:
        ToolError: another character, or too large a number.
    """
    del self
    if not all(sign in _SIGNS for sign in expression):
        raise ToolError("Invalid characters in expression")
    tree = ast.parse("".join(expression).lstrip(" "), mode="eval")
    return str(round(float(_value(tree.body)), 2))


# Arithmetic ----------------------------------------------------------------------------------------------------------

_LONGEST_BITS = 10_000
_SIGNS = frozenset("0123456789+-*/(). ")
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
}


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        value: Any = node.value
    elif isinstance(node, ast.UnaryOp):
        inner = _value(node.operand)
        value = -inner if isinstance(node.op, ast.USub) else inner
    elif isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        value = _power(left, right) if isinstance(node.op, ast.Pow) else _BINARY[type(node.op)](left, right)
    else:
        raise ToolError("invalid syntax")
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        raise ToolError("Integer result is too large")
    return value


def _power(base: Any, exponent: Any) -> Any:
    both_whole = isinstance(base, int) and isinstance(exponent, int)
    if both_whole and exponent > 0 and base.bit_length() * exponent > 2 * _LONGEST_BITS and abs(base) > 1:
        raise ToolError("Exponentiation result is too large")
    return base**exponent
