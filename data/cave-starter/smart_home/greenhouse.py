"""A greenhouse: a tool for forecasts beside live objects, so that calls and state are judged together."""

from cave_agent import Type, Variable
from cave_agent.runtime import PythonRuntime
from core.types import ToolCall, Turn
from core.validation import ValidatorResult


class Vent:
    """A roof vent."""

    def __init__(self) -> None:
        """Begin closed."""
        self.opening = 0

    def open_to(self, percent: int) -> None:
        """Open the vent, from 0 to 100 percent."""
        self.opening = percent


class Sprinkler:
    """A sprinkler over one bed."""

    def __init__(self) -> None:
        """Begin with no water given."""
        self.litres = 0.0

    def water(self, litres: float) -> None:
        """Give some water."""
        self.litres += litres


_FORECAST = {"today": {"high": 29, "rain": 0.1}, "tomorrow": {"high": 17, "rain": 0.8}}
_MOISTURE = {"tomatoes": 22, "beans": 61, "basil": 35}


def forecast(day: str) -> dict:
    """Return the highest temperature and the chance of rain.

    Args:
        day: today or tomorrow.
    """
    return _FORECAST[day]


def soil_moisture(bed: str) -> int:
    """Measure the moisture of a bed in percent.

    Args:
        bed: tomatoes, beans or basil.
    """
    return _MOISTURE[bed]


def validate_vent_open(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Vent wide open on a hot day."""
    opening = runtime.retrieve("vent").opening
    return ValidatorResult(opening == 100, f"the vent should be at 100, not {opening}")


def validate_vent_shut(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Vent shut for rain."""
    opening = runtime.retrieve("vent").opening
    return ValidatorResult(opening == 0, f"the vent should be shut, not at {opening}")


def validate_watering(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Water for the dry beds only."""
    given = {name: sprinkler.litres for name, sprinkler in runtime.retrieve("sprinklers").items()}
    return ValidatorResult(given == {"tomatoes": 4.0, "beans": 0.0, "basil": 4.0}, f"water was given so: {given}")


def validate_sum(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Compare the water used."""
    used = runtime.retrieve("litres_used")
    return ValidatorResult(used == 8, f"litres_used should be 8, not {used!r}")


tools = [forecast, soil_moisture]
types = [Type(Vent), Type(Sprinkler)]
variables = [
    Variable("vent", Vent(), "The roof vent"),
    Variable("sprinklers", {name: Sprinkler() for name in _MOISTURE}, "One sprinkler by name of the bed"),
    Variable("litres_used", None, "Put the litres of water used here"),
]
validators = {
    "validate_vent_open": validate_vent_open,
    "validate_vent_shut": validate_vent_shut,
    "validate_watering": validate_watering,
    "validate_sum": validate_sum,
}
