"""Two threads that first decode one struct at the same moment."""

import threading

import msgspec

from console.core.ready_type import ready_type

outcomes: dict[str, object] = {}


def convert(name: str) -> None:
    outcomes[name] = msgspec.convert({"inner": {"text": "a"}}, ready_type(Outer)).inner.text


def text_type() -> type:
    """Evaluate an annotation while another thread wants the struct that contains it, half described by then."""
    second = threading.Thread(target=convert, args=("second",))
    second.start()
    second.join(0.2)
    outcomes["early"] = "second" in outcomes
    outcomes["thread"] = second
    return str


class Inner(msgspec.Struct):
    text: "text_type()"  # type: ignore[valid-type]


class Outer(msgspec.Struct):
    inner: Inner


def test_the_second_waits_until_the_struct_is_described() -> None:
    convert("first")
    outcomes["thread"].join(60)  # type: ignore[attr-defined]
    assert not outcomes["early"]
    assert (outcomes["first"], outcomes["second"]) == ("a", "a")
