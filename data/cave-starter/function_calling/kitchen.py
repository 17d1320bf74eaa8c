"""Scaling and converting recipes; tools that take lists and objects."""

from typing import Any

from core.types import ToolCall, Turn
from core.validation import ValidatorResult

_RECIPES = {
    "flatbread": {"serves": 4, "flour_g": 300, "water_ml": 180, "salt_g": 6},
    "lentil soup": {"serves": 2, "lentils_g": 150, "water_ml": 700, "onions": 1},
}
_GRAMS = {"flour": 125.0, "sugar": 200.0, "rice": 185.0}


def get_recipe(name: str) -> dict[str, Any]:
    """Return a recipe by name.

    :param name: Name of the dish, in lower case.
    """
    return dict(_RECIPES[name])


def scale_recipe(recipe: dict[str, Any], people: int) -> dict[str, Any]:
    """Return a recipe for another number of people.

    :param recipe: Recipe as get_recipe returns it.
    :param people: Number of people to serve.
    """
    factor = people / recipe["serves"]
    scaled = {key: round(value * factor, 1) for key, value in recipe.items() if key != "serves"}
    return {"serves": people, **scaled}


def cups_to_grams(ingredient: str, cups: float) -> float:
    """Convert cups of an ingredient to grams.

    :param ingredient: flour, sugar or rice.
    :param cups: Number of cups.
    """
    return _GRAMS[ingredient] * cups


def shopping_list(dishes: list[str], have: list[str] | None = None) -> list[str]:
    """List what has to be bought for some dishes.

    :param dishes: Names of dishes.
    :param have: Ingredients that are in the house already.
    """
    needed = {key.rsplit("_", 1)[0] for dish in dishes for key in _RECIPES[dish] if key != "serves"}
    return sorted(needed - set(have or []))


def validate_list(response: str, runtime: object, turn: Turn, actual_calls: list[ToolCall]) -> ValidatorResult:
    """Accept an answer that names what is missing, and not what is there."""
    missing = [word for word in ("flour", "lentils", "onions") if word not in response.lower()]
    return ValidatorResult(not missing, f"not in the answer: {', '.join(missing)}")


tools = [get_recipe, scale_recipe, cups_to_grams, shopping_list]
validators = {"validate_list": validate_list}
