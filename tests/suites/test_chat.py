"""Conversations of somebody's own suites: what tools are offered as, and what is told of calls that go wrong."""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
import pytest
from support.memory_stage import MemoryStage

from console.core.fault import UsageError
from console.suites.chat import Chat, call, tool_schema
from console.suites.simulated_user import SimulatedUser


def look_up(
    city: Annotated[str, msgspec.Meta(description="Its name.")],
    unit: Literal["km", "miles"] = "km",
    most: int | None = None,
) -> dict[str, Any]:
    """How wide a city is."""
    return {"city": city, "width": {"Graz": 12}[city], "unit": unit}


def test_a_function_is_offered_with_its_types_and_words() -> None:
    function = tool_schema(look_up)["function"]
    assert (function["name"], function["description"]) == ("look_up", "How wide a city is.")
    assert function["parameters"]["required"] == ["city"]
    properties = function["parameters"]["properties"]
    assert properties["city"] == {"type": "string", "description": "Its name."}
    assert properties["unit"]["enum"] == ["km", "miles"]


def test_a_parameter_without_a_type_is_refused_with_its_place() -> None:
    def untyped(city) -> str:  # type: ignore[no-untyped-def]
        return city

    with pytest.raises(UsageError, match=r"test_chat.py:\d+: `city` of the tool untyped has no type"):
        tool_schema(untyped)


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("look_up", {"city": "Gratz"}, "KeyError: 'Gratz'"),
        ("look_up", {"town": "Graz"}, "no parameter 'town'"),
        ("look_up", {}, "the parameter 'city' is missing"),
        ("look_up", {"city": 3}, "Expected `str`, got `int`"),
        ("look_up", {"city": "Graz", "unit": "feet"}, "Invalid enum value 'feet'"),
        ("look_up", "{", "Input data was truncated"),
        ("find", {}, "there is no tool 'find'"),
    ],
)
def test_a_call_that_does_not_fit_is_told_to_the_model(name: str, arguments: Any, error: str) -> None:
    stage = MemoryStage(lambda turn, step, messages: [(name, arguments)] if step == 0 else "sorry")
    chat = Chat(stage, tools=[look_up])
    assert asyncio.run(chat.say("How wide?")) == "sorry"
    assert error in chat.calls[0]["error"]
    assert error in str(stage.asked[1][-1].get("content"))


def test_a_fault_of_a_tool_is_not_told_to_the_model() -> None:
    def broken(city: str) -> str:
        raise ZeroDivisionError(city)

    stage = MemoryStage(lambda turn, step, messages: [("broken", {"city": "x"})])
    with pytest.raises(ZeroDivisionError):
        asyncio.run(Chat(stage, tools=[broken]).say("?"))


def test_what_an_async_tool_returns_is_journaled() -> None:
    asked: list[str] = []

    async def fetch(page: str) -> str:
        """Read a page."""
        asked.append(page)
        return f"page {page}"

    def stage_of(journal: list[tuple[str, Any]]) -> MemoryStage:
        return MemoryStage(lambda turn, step, messages: [("fetch", {"page": "a"})] if step == 0 else "done", journal)

    first = stage_of([])
    asyncio.run(Chat(first, tools=[fetch]).say("?"))
    again = Chat(stage_of(first.journal), tools=[fetch])
    assert asyncio.run(again.say("?")) == "done"
    assert asked == ["a"]
    assert again.calls == [{"name": "fetch", "arguments": {"page": "a"}, "result": "page a"}]


def test_a_simulated_user_sees_its_goal_and_the_answers_and_stops() -> None:
    stage = MemoryStage()
    chat = Chat(stage, tools=[look_up], script=[call("look_up", city="Graz"), "12 km."])
    assert asyncio.run(chat.with_user("You ask about Graz.", lines=["How wide is Graz?"])) == "12 km."
    assert chat.output == {
        "text": "12 km.",
        "calls": [{"name": "look_up", "arguments": {"city": "Graz"},
                   "result": {"city": "Graz", "width": 12, "unit": "km"}}],
        "turns": 1,
        "stopped": "it has what it wanted",
    }  # fmt: skip
    last = stage.asked[-1]
    assert "You ask about Graz." in str(last[0].get("content"))
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user"]
    assert str(last[-1].get("content")) == "12 km."


def test_a_user_who_never_stops_is_stopped() -> None:
    chat = Chat(MemoryStage(lambda turn, step, messages: "more"), tools=[])
    asyncio.run(chat.with_user(SimulatedUser("Go on.", max_turns=3)))
    assert (chat.turns, chat.stopped) == (3, "after 3 turns, its limit")
    assert "<end>" not in str(chat.messages)


@pytest.mark.parametrize("end", ["<end>enough</end>", "Thanks! <end>enough</end>", "<end>enough"])
def test_the_end_of_a_simulated_user_is_read_and_noted_and_no_model_is_sent_it(end: str) -> None:
    stage = MemoryStage(lambda turn, step, messages: end if "To stop" in str(messages[0]) and turn > 1 else "more")
    chat = Chat(stage, system="Be brief.")
    asyncio.run(chat.say("First."))
    asyncio.run(chat.with_user("Go on."))
    assert (chat.turns, chat.stopped) == (2, "enough")
    assert "end>" not in str(chat.messages)
    assert stage.notes == [("user_stopped", 1, {"goal": "Go on.", "why": "enough"})]


def test_a_user_calls_tools_of_its_own_and_the_model_sees_neither_them_nor_their_results() -> None:
    phone = {"airplane": True}

    def set_airplane_mode(on: bool) -> str:
        """Switch the airplane mode."""
        phone["airplane"] = on
        return "switched"

    stage = MemoryStage()
    chat = Chat(stage, script=["Switch it off.", "Good."])
    lines = ["No data.", call("set_airplane_mode", on=False), "Done."]
    asyncio.run(chat.with_user("You want data.", tools=[set_airplane_mode], lines=lines))
    assert phone == {"airplane": False}
    assert chat.output["user_calls"] == [
        {"name": "set_airplane_mode", "arguments": {"on": False}, "result": "switched"}
    ]
    assert [message["role"] for message in chat.messages] == ["user", "assistant", "user", "assistant"]
    roles = ["system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in stage.asked[-1]] == roles


def test_a_user_who_only_calls_tools_is_stopped() -> None:
    def look() -> str:
        """Look at the phone."""
        return "dark"

    chat = Chat(MemoryStage(), most_steps=2)
    asyncio.run(chat.with_user("You want data.", tools=[look], lines=[call("look")] * 5))
    assert (chat.turns, chat.stopped) == (0, "it still called its tools after 2 replies")


def test_a_tool_may_have_a_parameter_called_name() -> None:
    assert call("greet", name="Ada").calls == (("greet", {"name": "Ada"}),)
