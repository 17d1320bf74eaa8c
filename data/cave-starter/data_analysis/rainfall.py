"""A year of rain at three made-up stations, as a data frame in the runtime."""

from pathlib import Path

import pandas as pd
from cave_agent import Variable
from cave_agent.runtime import PythonRuntime
from core.types import ToolCall, Turn
from core.validation import ValidatorResult

rain = pd.read_csv(Path(__file__).with_name("rainfall.csv"))


def _near(runtime: PythonRuntime, name: str, expected: float) -> ValidatorResult:
    found = runtime.retrieve(name)
    try:
        close = abs(float(found) - expected) < 0.05
    except (TypeError, ValueError):
        return ValidatorResult(False, f"{name} should be a number near {expected}, not {found!r}")
    return ValidatorResult(close, f"{name} should be {expected}, not {found!r}")


def _is(runtime: PythonRuntime, name: str, expected: object) -> ValidatorResult:
    found = runtime.retrieve(name)
    return ValidatorResult(found == expected, f"{name} should be {expected!r}, not {found!r}")


def validate_total(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Compare the year's sum over all stations."""
    return _near(runtime, "total_mm", float(rain["rain_mm"].sum()))


def validate_wettest(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the station with the most rain."""
    return _is(runtime, "wettest", rain.groupby("station")["rain_mm"].sum().idxmax())


def validate_driest_month(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the month with the least rain in Cove."""
    cove = rain[rain["station"] == "Cove"].set_index("month")["rain_mm"]
    return _is(runtime, "driest_month", int(cove.idxmin()))


def validate_per_day(
    response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]
) -> ValidatorResult:
    """Compare the rain per rainy day on Peak."""
    peak = rain[rain["station"] == "Peak"]
    return _near(runtime, "mm_per_rainy_day", float(peak["rain_mm"].sum() / peak["days_with_rain"].sum()))


def validate_table(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Compare a table of stations by quarter."""
    table = runtime.retrieve("quarters")
    if not isinstance(table, dict):
        return ValidatorResult(False, f"quarters should be a dictionary, not {type(table).__name__}")
    first = {name: int(part[part["month"] <= 3]["rain_mm"].sum()) for name, part in rain.groupby("station")}
    return ValidatorResult(table == first, f"quarters should be {first}, not {table}")


def validate_answer(response: str, runtime: PythonRuntime, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept an answer that names the wettest station."""
    return ValidatorResult("Peak" in response, "the answer should name Peak")


variables = [
    Variable("rain", rain, "One row per station and month: station, month, rain_mm, days_with_rain"),
    Variable("total_mm", None, "Put the sum of all rain in mm here"),
    Variable("wettest", None, "Put the name of the station with the most rain here"),
    Variable("driest_month", None, "Put the number of the driest month in Cove here"),
    Variable("mm_per_rainy_day", None, "Put the rain per day with rain on Peak here"),
    Variable("quarters", None, "Put a dictionary here: station to rain in mm from January to March"),
]
validators = {
    "validate_total": validate_total,
    "validate_wettest": validate_wettest,
    "validate_driest_month": validate_driest_month,
    "validate_per_day": validate_per_day,
    "validate_table": validate_table,
    "validate_answer": validate_answer,
}
requirements = "Put results into the declared variables, and answer in one sentence."
