"""Tool schemas out of live functions and out of signatures as text."""

from typing import Annotated, Any

import pytest

from console.benchmarks.cavebench.rules.schema import ToolSchemaError, schema_from_text, schema_of

GOOGLE = """Book a table.

    Args:
        guests (int): How many come.
            More than eight need a call.
        name: Who books.

    Returns:
        dict: the booking
    """
NUMPY = """Book a table.

Parameters
----------
guests : int
    How many come.
    More than eight need a call.
name : str
    Who books.

Returns
-------
dict
"""
SPHINX = """Book a table.

:param guests: How many come.
    More than eight need a call.
:param str name: Who books.
:return: the booking
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_descriptions_in_three_styles(doc: str) -> None:
    properties = schema_from_text("book", "(guests: int, name: str = 'Ann')", doc)["parameters"]["properties"]
    assert properties["guests"] == {
        "description": "How many come.\nMore than eight need a call.",
        "title": "Guests",
        "type": "integer",
    }
    assert properties["name"]["description"] == "Who books."
    assert properties["name"]["default"] == "Ann"


def test_text_and_live_function_agree() -> None:
    def order(items: list[str], rush: bool = False, note: Any = None, *extra: int, **options: str) -> dict[str, Any]:
        """Order things.

        Args:
            items: What to order.
        """
        return {"items": items, "rush": rush, "note": note, "extra": extra, "options": options}

    signature = "(items: List[str], rush: bool = False, note: typing.Any = None, *extra: int, **options: str) -> dict"
    assert schema_of(order) == schema_from_text("order", signature, order.__doc__)


def test_list_items_at_the_margin_are_no_descriptions() -> None:
    doc = "Find.\n\nParameters:\n- city (str): where\n\nReturns:\n- dict"
    assert "description" not in schema_from_text("find", "(city: str)", doc)["parameters"]["properties"]["city"]


def test_google_names_stand_before_the_colon_or_before_their_type() -> None:
    doc = "Find.\n\nArgs:\n    city (str): Where.\n    day : When.\n    hour:\n"
    properties = schema_from_text("find", "(city: str, day: str, hour: datetime.time)", doc)["parameters"]["properties"]
    assert [properties[name].get("description") for name in ("city", "day", "hour")] == ["Where.", None, ""]
    assert properties["hour"]["format"] == "time"


def test_a_section_within_a_fence_describes_nothing() -> None:
    doc = "Find.\n\n```\nArgs:\n    city: Where.\n```\n"
    assert "description" not in schema_from_text("find", "(city: str)", doc)["parameters"]["properties"]["city"]


def test_annotated_text_describes() -> None:
    def find(city: Annotated[str, "Where to look."]) -> str:
        return city

    assert schema_of(find)["parameters"]["properties"]["city"]["description"] == "Where to look."


@pytest.mark.parametrize(
    "signature", ["(a: numpy.ndarray)", "(a: pandas.core.frame.DataFrame)", "(a: __import__('os'))"]
)
def test_types_without_a_schema_are_refused(signature: str) -> None:
    with pytest.raises(ToolSchemaError):
        schema_from_text("f", signature, None)


def test_live_function_with_an_arbitrary_type_is_refused() -> None:
    class Opaque:
        pass

    def use(thing: Opaque) -> None:
        del thing

    with pytest.raises(ToolSchemaError):
        schema_of(use)
