"""Stubs of the modules that published scenario modules import, so that these run unchanged.

`core`, `core.types`, `core.validation`, `utils` and `cave_agent` with the paths of all its versions. They are
installed before a scenario is imported; the checkout's own modules of these names are never imported. Types accept the
keywords of all versions.
"""

import ast
import json
import re
import sys
import types
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class ValidatorResult(NamedTuple):
    """The result of a validator."""

    success: bool
    message: str


@dataclass
class ToolCall:
    """A call in the form that validators receive."""

    function: str
    arguments: Any = field(default_factory=dict[str, Any])
    call_id: str = ""


class Turn:
    """A turn in the form that validators and hooks receive: the JSON fields that enter the sandbox, as attributes."""

    query: str

    def __init__(self, **fields: Any) -> None:
        """Store the turn's JSON, with defaults for missing fields."""
        self.__dict__.update({"query": "", "validator": None, "pre_turn_hook": None} | fields)

    def __getattr__(self, name: str) -> Any:
        """Raise an error for missing attributes.

        Raises:
            AttributeError: always; expectations do not enter the sandbox.
        """
        raise AttributeError(f"a turn has no {name} here: what is expected of the model does not enter the sandbox")


class Variable:
    """A live object that the scenario puts into the runtime."""

    def __init__(self, name: str, value: Any = None, description: str | None = None, **others: Any) -> None:
        """Keep name, value and description; other keywords belong to other versions and are ignored."""
        del others
        self.name, self.value, self.description = name, value, description


class Type:
    """A class that the scenario shows to the model."""

    def __init__(
        self,
        value: Any,
        description: str | None = None,
        include_schema: bool = True,
        include_doc: bool = True,
        **_: Any,
    ) -> None:
        self.value, self.description = value, description
        self.name = getattr(value, "__name__", str(value))
        self.include_schema, self.include_doc = include_schema, include_doc


class Function:
    """A function wrapped for the runtime."""

    def __init__(self, func: Any, description: str | None = None, include_doc: bool = True, **_: Any) -> None:
        self.func, self.description, self.include_doc = func, description, include_doc
        self.name = func.__name__


class PythonRuntime:
    """Holds variables, for modules that create their own runtime and for annotations."""

    def __init__(self, functions: Any = (), variables: Any = (), types: Any = (), **_: Any) -> None:
        del functions, types
        self._values = {variable.name: variable.value for variable in variables or ()}

    def retrieve(self, name: str) -> Any:
        return self._values[name]

    def update_variable(self, name: str, value: Any) -> None:
        self._values[name] = value

    get_variable = get_variable_value = retrieve


def extract_json_from_response(text: str) -> Any:
    """Return the JSON in an answer: from a fenced block, else between the outermost braces or brackets; or None."""
    fenced = re.findall(r"```(?:json)?\s*\n(.*?)```", text, re.DOTALL | re.IGNORECASE)
    for candidate in [*fenced, *_bracketed(text), text]:
        for read in (json.loads, _lenient):
            try:
                return read(candidate.strip())
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                continue
    return None


def _bracketed(text: str) -> list[str]:
    pairs = (("{", "}"), ("[", "]"))
    spans = [(text.find(left), text.rfind(right)) for left, right in pairs]
    return [text[start : end + 1] for start, end in sorted(spans) if 0 <= start < end]


def _lenient(text: str) -> Any:
    """Read almost-JSON: trailing commas, single quotes, Python's names."""
    tidied = re.sub(r",\s*([}\]])", r"\1", text)
    try:
        return json.loads(tidied)
    except ValueError:
        return ast.literal_eval(
            re.sub(r"\bnull\b", "None", re.sub(r"\bfalse\b", "False", re.sub(r"\btrue\b", "True", tidied)))
        )


def install() -> None:
    """Install the stubs in `sys.modules`."""
    runtime = {
        "PythonRuntime": PythonRuntime,
        "IPythonRuntime": PythonRuntime,
        "Variable": Variable,
        "Type": Type,
        "Function": Function,
    }
    _module("cave_agent", runtime)
    for name in ("cave_agent.runtime", "cave_agent.python_runtime"):
        _module(name, runtime)
    turns = {"Turn": Turn, "BenchmarkTurn": Turn, "ToolCall": ToolCall}
    validation = {"ValidatorResult": ValidatorResult}
    _module("core", turns | validation)
    _module("core.types", turns | validation)
    _module("core.validation", validation | turns)
    _module("utils", {"extract_json_from_response": extract_json_from_response})


def _module(name: str, contents: dict[str, Any]) -> None:
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    module.__path__ = []
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)
