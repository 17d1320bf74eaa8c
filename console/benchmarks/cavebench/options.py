"""Options of a run of cave-bench; defaults follow the published runs where those have a limit."""

from dataclasses import dataclass
from typing import Any, Literal, cast

from console.benchmarks.cavebench.rules.value import TypeRule
from console.core.case import Setting
from console.core.fault import UsageError
from console.suites.suite import Option

Mode = Literal["cave", "json"]
MODES: dict[str, Mode] = {"cave": "cave", "json": "json", "prompt": "cave", "fc": "json"}
"""cave-bench's name of each mode, by that name and by the one in models.toml, which older runs use."""
CAVE_STEPS, JSON_STEPS = 100, 20

OPTIONS = (
    Option("max_steps", "int", None, "model replies per turn; 100 in cave mode and 20 in json mode unless set"),
    Option("max_history", "int", 200, "messages kept of a conversation in cave mode"),
    Option("max_output", "int", 80_000, "longest output of a code cell that the model gets, in characters"),
    Option("cell_seconds", "float", 60.0, "wall time of one code cell or tool call"),
    Option(
        "type_rule",
        "choice",
        "compatible",
        "`exact`: argument types by class name only, as in the runs of 2025",
        ("compatible", "exact"),
    ),
    Option("i_trust_this_model", "bool", False, "run its code where it cannot be confined"),
)


@dataclass(frozen=True, slots=True)
class CaveOptions:
    """Validated options."""

    mode: Mode
    max_steps: int
    max_history: int
    max_output: int
    cell_s: float
    type_rule: TypeRule
    trusted: bool


def mode_of(setting: Setting) -> Mode:
    """Return the benchmark's mode of a run: cave mode for code in text, JSON mode for native tools.

    Raises:
        UsageError: another mode.
    """
    mode = MODES.get(setting.mode)
    if mode is None:
        raise UsageError(f"cave-bench has no mode {setting.mode!r}", where="--mode", hint="Use cave or json.")
    return mode


def read_options(setting: Setting) -> CaveOptions:
    """Validate a run's options.

    Raises:
        UsageError: a number out of range.
    """
    values = {option.name: option.default for option in OPTIONS} | setting.options
    mode = mode_of(setting)
    steps = values["max_steps"] if values["max_steps"] is not None else CAVE_STEPS if mode == "cave" else JSON_STEPS
    for name, least in (("max_history", 2), ("max_output", 1), ("cell_seconds", 0.01)):
        _at_least(name, values[name], least)
    _at_least("max_steps", steps, 1)
    return CaveOptions(
        mode=mode,
        max_steps=int(steps),
        max_history=int(values["max_history"]),
        max_output=int(values["max_output"]),
        cell_s=float(values["cell_seconds"]),
        type_rule=cast("TypeRule", values["type_rule"]),
        trusted=values["i_trust_this_model"] is True,
    )


def _at_least(name: str, value: Any, least: float) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value < least:
        raise UsageError(f"{name} must be at least {least}, not {value!r}", where="--option")
