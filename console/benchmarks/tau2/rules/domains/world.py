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
    """A tool refuses a call; the text is official."""


class Misfit(ToolError):
    """A value of a call has the wrong type; the text is ours."""


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
    """The text of the error is ours or Python's, where the original has another one."""


class Change(NamedTuple):
    """One row that differs from the pulled data; None: the row did not exist."""

    side: str
    table: str
    key: str
    before: Any
    after: Any


class Difference(NamedTuple):
    """One row that two worlds have not alike; None: it does not exist there."""

    table: str
    key: str
    ours: Any
    theirs: Any


def tool(kind: Kind) -> Callable[[ToolT], ToolT]:
    """Mark a method as a tool; other methods are for tasks only."""

    def mark(function: ToolT) -> ToolT:
        function.__dict__["kind"] = kind
        return function

    return mark


@cache
def tools_of(kit: type[Any]) -> Mapping[str, Tool]:
    """Return the tools of a kit in order of definition."""
    tools: dict[str, Tool] = {}
    for name, function in vars(kit).items():
        if kind := getattr(function, "kind", None):
            tools[name] = Tool(name, kind, function, inspect.signature(function))
    return MappingProxyType(tools)


class Table(Generic[RowT]):
    """Rows by id. The data is shared; a row is copied when it is first fetched, so tools may change what they get."""

    def __init__(self, rows: Mapping[str, RowT], refusal: str) -> None:
        """Store the data, and the text of the error for a missing row, in which `{}` stands for its id."""
        self._rows, self._refusal = rows, refusal
        self._own: dict[str, RowT] = {}

    def get(self, key: Any) -> RowT:
        """Fetch a row.

        Raises:
            ToolError: there is none.
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

    def changes(self, side: str, name: str) -> Iterator[Change]:
        """Yield the rows that differ from the data."""
        for key, row in self._own.items():
            before = self._rows.get(key)
            change = Change(side, name, key, before and msgspec.to_builtins(before), msgspec.to_builtins(row))
            if canonical(change.before) != canonical(change.after):
                yield change


class World:
    """The state of one conversation with the tools of both parties."""

    rows: ClassVar[type[msgspec.Struct]]
    """The class of the pulled data."""
    agent_kit: ClassVar[type[Any]]
    """The class of the agent's tools, made of the data; its attributes are tables."""
    user_kit: ClassVar[type[Any] | None] = None
    """The class of the user's tools; None: the user has none."""
    agent: Any
    user: Any
    is_solo: bool = False
    """The agent holds the user's tools too."""

    def __init__(self, data: Any) -> None:
        make_user = type(self).user_kit
        self.agent, self.user = type(self).agent_kit(data), make_user and make_user(data)

    def sync(self) -> None:
        """Carry changes between the parties' states; after each call."""

    def changes(self) -> Iterator[Change]:
        """Yield the rows that differ from the pulled data, of both parties."""
        for side, kit in ((AGENT, self.agent), (USER, self.user)):
            for name, table in cast(dict[str, Any], {} if kit is None else vars(kit)).items():
                if isinstance(table, Table):
                    yield from cast(Table[Any], table).changes(side, name)

    @classmethod
    def tools(cls, side: str) -> Mapping[str, Tool]:
        """Return the tools of a party by name, in order of definition."""
        kit = cls.user_kit if side == USER else cls.agent_kit
        return {} if kit is None else tools_of(kit)

    def side_of(self, requestor: str, name: str) -> str:
        """Return the party whose tool a call reaches."""
        return USER if self.is_solo and name in self.tools(USER) else requestor

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any], *, sync: bool = True) -> Result:
        """Carry out one call of a party."""
        side = self.side_of(requestor, name)
        kit, asked_tool = self.user if side == USER else self.agent, self.tools(side).get(name)
        if kit is None:
            return Result("Error: User tools not available", error=True)
        if asked_tool is None:
            return Result(f"Error: Tool '{name}' not found.", error=True)
        try:
            bound = asked_tool.signature.bind(kit, **arguments)
            value = asked_tool.function(*bound.args, **bound.kwargs)
            if sync:
                self.sync()
            return Result(result_text(value))
        except Exception as error:  # a tool may fail on any value the model writes
            is_official = isinstance(error, ToolError) and not isinstance(error, Misfit)
            return Result(f"Error: {error}", error=True, is_own=not is_official)

    def run(self, requestor: str, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a function of a task.

        Raises:
            ToolError: the party has no such function.
        """
        function = getattr(self.user if requestor == USER else self.agent, name, None)
        if function is None or name.startswith("_"):
            raise ToolError(f"Function '{name}' not found.")
        value = function(**arguments)
        self.sync()
        return value


def canonical(value: Any) -> str:
    """Return a text that is equal for equal states, and for no others."""
    return json.dumps(value, sort_keys=True)


def differing(world: World, other: World) -> list[Difference]:
    """Return the rows in which two worlds over the same data differ."""
    here, there = ({change[:3]: change for change in side.changes()} for side in (world, other))
    differences: list[Difference] = []
    for place, change in {**here, **there}.items():
        unchanged = change._replace(after=change.before)
        ours, theirs = here.get(place, unchanged).after, there.get(place, unchanged).after
        if canonical(ours) != canonical(theirs):
            differences.append(Difference(change.table, change.key, ours, theirs))
    return differences


def result_text(value: Any) -> str:
    """Return the text of a tool's result, in the official form."""
    return value if isinstance(value, str) else json.dumps(_plain(value), default=str)


def _plain(value: Any) -> Any:
    """Return JSON values: rows with all their fields; numbers outside of rows as texts; times as Python prints them."""
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value, builtin_types=(datetime,))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast(list[Any], value)]
    return value if value is None else str(value)


def converted(kind: type[RowT], value: Any) -> RowT:
    """Build a row from the values of a call, with integral floats and number texts accepted as numbers.

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
    """A card, without a limit."""

    id: str
    brand: str
    last_four: str


@tool("generic")
def transfer_to_human_agents(self: Any, summary: str) -> str:
    """Say that a person takes over."""
    del self, summary
    return "Transfer successful"


@tool("generic")
def calculate(self: Any, expression: str) -> str:
    """Compute an arithmetic expression, rounded to cents. Huge integers are refused, on which Python would hang.

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
