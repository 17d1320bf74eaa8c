"""Options of a run of cave-bench; defaults follow the published runs where those have a limit."""

from dataclasses import dataclass
from typing import Literal, cast

from console.benchmarks.cavebench.rules.value import TypeRule
from console.core.case import Setting
from console.core.fault import UsageError
from console.suites.options import read_values
from console.suites.suite import Option

Mode = Literal["cave", "json"]
MODES: dict[str, Mode] = {"cave": "cave", "json": "json", "prompt": "cave", "fc": "json"}
"""Mode by cave-bench's name, and by the name in models.toml, which older runs use."""
CAVE_STEPS, JSON_STEPS = 100, 20

OPTIONS = (
    Option("max_steps", "int", None, "model replies per turn; 100 in cave mode and 20 in json mode unless set"),
    Option("max_history", "int", 200, "messages kept of a conversation in cave mode"),
    Option("max_output", "int", 80_000, "maximum characters of a cell's output sent to the model"),
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
    bounds = {"max_steps": (1, None), "max_history": (2, None), "max_output": (1, None), "cell_seconds": (0.01, None)}
    values, mode = read_values(OPTIONS, setting.options, bounds), mode_of(setting)
    return CaveOptions(
        mode=mode,
        max_steps=values["max_steps"] or (CAVE_STEPS if mode == "cave" else JSON_STEPS),
        max_history=values["max_history"],
        max_output=values["max_output"],
        cell_s=float(values["cell_seconds"]),
        type_rule=cast("TypeRule", values["type_rule"]),
        trusted=values["i_trust_this_model"] is True,
    )
