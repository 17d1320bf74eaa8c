"""The decode families: each is a module of `families`, named by the table of models, that knows no model's name.

A family reads an answer twice: for calls that are compared with the ground truth, and for the call texts of a step that
are executed. The two differ, officially too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, cast

FAMILIES = (
    *("prompt", "gemini_prompt", "phi_prompt", "fc_json", "gemini_fc", "dictlist", "dictlist_strict", "cohere"),
    *("mining", "gorilla", "nemotron", "tool_call_tags", "falcon3", "llama31", "bitagent", "xlam", "hammer"),
    *("granite20b", "thinkagent", "glm_local", "minicpm_fc", "functiongemma"),
)
"""Every family, the modules of `families`."""


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of an answer's form before it is read; only families of prompted models look at it."""

    syntax: str = "python"
    """`python`, `java` or `javascript`; in format sensitivity the form that was asked for, such as `json`."""
    tagged: bool = False
    """Whether calls must stand between `<TOOLCALL>` tags."""


@dataclass(frozen=True, slots=True)
class Family:
    """One way to read answers."""

    decode: Callable[[Any, Form], Any]
    """From an answer to whatever it decodes to, calls if all is well; raises any exception where it cannot be read."""
    executable: Callable[[Any], list[str]]
    """From an answer to the call texts that are executed; raises any exception where there are none."""


@cache
def find_family(name: str) -> Family:
    """Return a family by its name.

    Raises:
        KeyError: there is none of that name.
    """
    if name not in FAMILIES:
        raise KeyError(name)
    module = import_module(f"console.benchmarks.bfcl.models.decode.families.{name}")
    return cast(Family, module.FAMILY)
