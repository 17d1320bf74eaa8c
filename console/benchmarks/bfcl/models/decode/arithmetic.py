"""Folding of binary operations in arguments, such as `width=2*3` or `text='a' + 'b'`, without evaluating model text.

The official scorer uses `eval`. Here the syntax tree is walked: literals, operators, a few builtins and harmless
methods are supported with bounded sizes; anything else raises `Refused`, which makes the reply undecodable, as do
Python's own exceptions (division by zero, wrong types).
"""

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.bounds import (
    Refused,
    bound,
    bounded_range,
    bounded_round,
    bounded_sum,
    guard_format,
    guard_method,
    guard_power,
    guard_product,
    guard_shift,
    guard_sum,
    guard_widths,
    json_text,
    power,
    text_of,
    weight,
)

__all__ = ["Refused", "fold", "literal_value"]

_NODES = 2_000
"""Maximum number of nodes in an expression."""
_DISPLAYS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load)
_OPERATIONS = (
    *(ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.BoolOp, ast.boolop, ast.Compare, ast.cmpop, ast.IfExp),
    *(ast.Subscript, ast.Slice, ast.Starred, ast.JoinedStr, ast.FormattedValue),
)
"""Operations allowed between literals."""
_NAMES: dict[str, Any] = {
    "MAXIMUM_STEP_LIMIT": 20,
    "LOCAL_SERVER_PORT": 1053,
    "LOCAL_SERVER_MAX_CONCURRENT_REQUEST": 100,
    "H100_X8_PRICE_PER_HOUR": 23.92,
    "TYPE_CHECKING": False,
}
"""Constants visible in the official scorer's `eval`."""


def fold(node: ast.expr) -> Any:
    """Return the value of a constant expression.

    Raises:
        Refused: too large, or not allowed.
        Exception: whatever Python raises for it, such as ZeroDivisionError or TypeError.
    """
    _bound_nodes(sum(1 for _ in ast.walk(node)))
    return _Folding().value(node)


def literal_value(node: ast.expr) -> Any:
    """Return the value of a literal, which may contain operations on literals, but no names or calls.

    Bounds the number of operations and their results, but not the size of the literal.

    Raises:
        Refused: anything else, or too many operations.
        Exception: whatever Python raises for it, such as ZeroDivisionError or TypeError.
    """
    operations = 0
    for part in ast.walk(node):
        if isinstance(part, _DISPLAYS):
            continue
        if not isinstance(part, _OPERATIONS):
            raise Refused(f"a literal contains {type(part).__name__}")
        operations += 1
    _bound_nodes(operations)
    return _Folding().value(node)


def _bound_nodes(count: int) -> None:
    """Check the number of nodes."""
    if count > _NODES:
        raise Refused("the expression is too large")


class _Folding:
    """Evaluator of one expression and its local names."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        self._spent = 0

    def value(self, node: ast.AST) -> Any:
        rule = _RULES.get(type(node))
        if rule is None:
            raise Refused(f"an expression contains {type(node).__name__}")
        return rule(self, node)

    def binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        guard = _GUARDS.get(type(node.op))
        if guard is not None:
            guard(left, right)
        return getattr(operator, _BINARY[type(node.op)])(left, right)

    def unary(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def boolean(self, node: ast.BoolOp) -> Any:
        value: Any = None
        stops_at = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.value(part)
            if bool(value) is stops_at:
                break
        return value

    def compare(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), True
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            result = _COMPARE[type(op)](left, right)
            if not result:
                break
            left = right
        return result

    def choice(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def items(self, parts: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                unpacked: list[Any] = [*self.value(part.value)]
                self._spend(weight(unpacked))
                items += unpacked
            else:
                items.append(self.value(part))
        return items

    def dictionary(self, node: ast.Dict) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:
                unpacked: dict[Any, Any] = {**self.value(part)}
                self._spend(weight(unpacked))
                entries |= unpacked
            else:
                entries[self.value(key)] = self.value(part)
        return entries

    def name(self, node: ast.Name) -> Any:
        for names in (self._made, _NAMES, _TYPES):
            if node.id in names:
                return names[node.id]
        raise Refused(f"an expression contains the unknown name {node.id}")

    def assigned(self, node: ast.NamedExpr) -> Any:
        self._made[node.target.id] = value = self.value(node.value)
        return value

    def call(self, node: ast.Call) -> Any:
        arguments = self.items(node.args)
        if any(keyword.arg is None for keyword in node.keywords):
            raise Refused("unpacked keywords")
        keywords = {cast(str, keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        match node.func:
            case ast.Name(id=name) if name in _FUNCTIONS and name not in self._made:
                return _FUNCTIONS[name](*arguments, **keywords)
            case ast.Attribute(value=ast.Name(id="json"), attr="dumps") if not keywords:
                return json_text(*arguments)
            case ast.Attribute(value=owner, attr=method):
                value = self.value(owner)
                if method in _METHODS.get(type(value).__name__, ()):
                    guard_method(value, method, arguments, keywords)
                    return getattr(value, method)(*arguments, **keywords)
            case _:
                pass
        raise Refused("a call of something not allowed")

    def formatted(self, node: ast.JoinedStr) -> str:
        parts = [self.formatted_part(part) for part in node.values]
        bound(sum(map(len, parts)))
        return "".join(parts)

    def formatted_part(self, part: ast.expr) -> str:
        if not isinstance(part, ast.FormattedValue):
            return str(self.value(part))
        value = self.value(part.value)
        if part.conversion != -1:
            value = {ord("r"): repr, ord("a"): ascii}.get(part.conversion, str)(value)
        how = self.formatted(part.format_spec) if isinstance(part.format_spec, ast.JoinedStr) else ""
        guard_widths(how)
        return format(value, how)

    def subscript(self, node: ast.Subscript) -> Any:
        return self.value(node.value)[self.value(node.slice)]

    def slice(self, node: ast.Slice) -> slice:
        return slice(*(None if part is None else self.value(part) for part in (node.lower, node.upper, node.step)))

    def listed(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> list[Any]:
        items: list[Any] = []
        for _ in self._rounds(node.generators):
            items.append(self.value(node.elt))
            self._spend(weight(items[-1]))
        return items

    def mapped(self, node: ast.DictComp) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        for _ in self._rounds(node.generators):
            key, value = self.value(node.key), self.value(node.value)
            entries[key] = value
            self._spend(weight(key) + weight(value))
        return entries

    def _rounds(self, loops: list[ast.comprehension]) -> Iterator[None]:
        if not loops:
            yield None
            return
        target = loops[0].target
        if not isinstance(target, ast.Name) or loops[0].is_async:
            raise Refused("a loop over more than one name")
        outer = dict(self._made)
        for item in self.value(loops[0].iter):
            self._spend(10)
            self._made[target.id] = item
            if all(self.value(test) for test in loops[0].ifs):
                yield from self._rounds(loops[1:])
        self._made = outer

    def _spend(self, cost: int) -> None:
        self._spent += cost
        bound(self._spent)


_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.BitAnd: "and_",
    ast.MatMult: "matmul",
}
"""Function in the module `operator` by operator."""
_GUARDS: dict[type[ast.operator], Callable[[Any, Any], None]] = {
    ast.Add: guard_sum,
    ast.Pow: guard_power,
    ast.LShift: guard_shift,
    ast.Mult: guard_product,
    ast.Mod: guard_format,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
# The official scorer prints the whole expression, which fails for numbers with too many digits; `repr` fails likewise.
_RULES: dict[type[ast.AST], Callable[[_Folding, Any], Any]] = {
    ast.Constant: lambda _, node: node.value if repr(node.value) else None,
    ast.BinOp: _Folding.binary,
    ast.UnaryOp: _Folding.unary,
    ast.BoolOp: _Folding.boolean,
    ast.Compare: _Folding.compare,
    ast.IfExp: _Folding.choice,
    ast.List: lambda at, node: at.items(node.elts),
    ast.Tuple: lambda at, node: tuple(at.items(node.elts)),
    ast.Set: lambda at, node: set(at.items(node.elts)),
    ast.Dict: _Folding.dictionary,
    ast.Name: _Folding.name,
    ast.NamedExpr: _Folding.assigned,
    ast.Call: _Folding.call,
    ast.JoinedStr: _Folding.formatted,
    ast.Subscript: _Folding.subscript,
    ast.Slice: _Folding.slice,
    ast.ListComp: _Folding.listed,
    ast.GeneratorExp: lambda at, node: iter(at.listed(node)),
    ast.SetComp: lambda at, node: set(at.listed(node)),
    ast.DictComp: _Folding.mapped,
}


def _mapped_by(kind: Any, items: Any) -> Any:
    """Return the result of `map` with a type; functions are not supported as values."""
    return map(kind, items)


_TYPES: dict[str, Any] = {
    kind.__name__: kind for kind in (bool, complex, dict, float, frozenset, int, list, set, str, tuple)
}
"""Types allowed as values, such as in `isinstance`, but without their methods."""
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_TYPES,
    **{
        function.__name__: function
        for function in (
            *(abs, all, any, ascii, bin, chr, divmod, enumerate, hex, isinstance, len, max, min, oct, ord, repr),
            *(reversed, sorted, zip),
        )
    },
    "map": _mapped_by,
    "pow": power,
    "range": bounded_range,
    "round": bounded_round,
    "str": text_of,
    "sum": bounded_sum,
}
_METHODS: dict[str, frozenset[str]] = {
    "str": frozenset(
        (
            *("capitalize", "casefold", "center", "count", "encode", "endswith", "find", "format", "index"),
            *("isalnum", "isalpha", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper"),
            *("join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind"),
            *("rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase"),
            *("title", "upper", "zfill"),
        )
    ),
    "bytes": frozenset(("decode", "hex")),
    **dict.fromkeys(("int", "bool"), frozenset(("bit_length", "conjugate"))),
    "float": frozenset(("as_integer_ratio", "conjugate", "hex", "is_integer")),
    "list": frozenset(("copy", "count", "index")),
    "tuple": frozenset(("count", "index")),
    "dict": frozenset(("copy", "get", "items", "keys", "values")),
    "set": frozenset(("copy", "difference", "intersection", "issubset", "issuperset", "union")),
}
"""Allowed methods by type; their results are small or guarded."""
