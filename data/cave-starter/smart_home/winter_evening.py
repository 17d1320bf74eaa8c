"""An evening at home: lamps, heater, locks and blinds, step by step; a hook lets the room cool down."""

from cave_agent import Type, Variable
from cave_agent.runtime import PythonRuntime
from core.types import ToolCall, Turn
from core.validation import ValidatorResult

from .devices import Blind, Heater, Lamp, Lock


def cool_down(runtime: PythonRuntime, turn: Turn) -> None:
    """Let the living room get colder before the question."""
    runtime.retrieve("heater").measured = 16.5


def _report(problems: list[str]) -> ValidatorResult:
    return ValidatorResult(not problems, "; ".join(problems) or "as wanted")


def validate_reading(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Reading light and half-closed blinds."""
    lamp, blind = runtime.retrieve("reading_lamp"), runtime.retrieve("street_blind")
    problems = [f"the reading lamp should be at 60, not {lamp.brightness}"] if lamp.brightness != 60 else []
    problems += [f"the blind should be at 50, not {blind.closed_percent}"] if blind.closed_percent != 50 else []
    return _report(problems)


def validate_warm(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Heat to 21 degrees when it is below 18."""
    target = runtime.retrieve("heater").target
    return _report([f"the heater should be set to 21, not {target}"] if target != 21 else [])


def validate_dark(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """All lamps off, and the blind closed."""
    lamps = [runtime.retrieve("reading_lamp"), runtime.retrieve("hall_lamp")]
    problems = [f"the lamp in the {lamp.room} is on" for lamp in lamps if lamp.is_on()]
    blind = runtime.retrieve("street_blind")
    return _report([*problems, *(["the blind is not closed"] if blind.closed_percent != 100 else [])])


def validate_locked(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Both doors locked."""
    locks = [runtime.retrieve("front_door"), runtime.retrieve("garden_door")]
    return _report([f"the {lock.door} is not locked" for lock in locks if not lock.locked])


def validate_night(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Heater at 17 degrees for the night, hall lamp as a night light."""
    heater, hall = runtime.retrieve("heater"), runtime.retrieve("hall_lamp")
    problems = [f"the heater should be set to 17, not {heater.target}"] if heater.target != 17 else []
    return _report([*problems, *(["the hall lamp should be at 10"] if hall.brightness != 10 else [])])


types = [Type(Lamp), Type(Heater), Type(Lock), Type(Blind)]
variables = [
    Variable("reading_lamp", Lamp("living room"), "Lamp beside the chair"),
    Variable("hall_lamp", Lamp("hall"), "Lamp in the hall"),
    Variable("heater", Heater("living room", 19.5), "Heater of the living room"),
    Variable("front_door", Lock("front door"), "Lock of the front door"),
    Variable("garden_door", Lock("garden door", locked=True), "Lock of the garden door"),
    Variable("street_blind", Blind("street"), "Blind of the window to the street"),
]
hooks = {"cool_down": cool_down}
validators = {
    "validate_reading": validate_reading,
    "validate_warm": validate_warm,
    "validate_dark": validate_dark,
    "validate_locked": validate_locked,
    "validate_night": validate_night,
}
description = "You look after a home by code. {{Braces}} in answers are not needed."
