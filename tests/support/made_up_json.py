"""JSON that nobody thought of: values at large, and sound records with something replaced, left out or added."""

import copy
import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, cast

from hypothesis import strategies as st

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**400,
    2**63,
    -(2**64),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "nan",
    "\ud800",
    "\x00\x1b[31m",
    "../../x",
    "1" * 5_000,
    [],
    {},
    [None],
    ["x"],
    [[]],
    {"": None},
    {"id": 1},
    {"$py": "bytes(10**10)"},
)
"""Values that have broken readers before."""


def deep(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


ODD_ONES = st.integers(0, len(ODD) - 1).map(lambda place: copy.deepcopy(ODD[place]))
VALUES: st.SearchStrategy[Any] = ODD_ONES | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
VALUES_AND_DEEP = VALUES | st.sampled_from([150, 250, 600]).map(deep)


@st.composite
def damaged(draw: st.DrawFn, samples: Sequence[Any]) -> Any:
    """Return a sound value with one or two places in it changed, at any depth."""
    value = copy.deepcopy(samples[draw(st.integers(0, len(samples) - 1))])
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        value = _changed(draw, value)
    return value


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Go down by chance and change what is there: replaced, left out, doubled, or under another name."""
    steps: list[Any] = []
    if isinstance(value, dict):
        steps = list(cast(dict[Any, Any], value))
    elif isinstance(value, list):
        steps = list(range(len(cast(list[Any], value))))
    if not steps or draw(st.integers(0, 9)) == 0:
        return draw(VALUES_AND_DEEP)
    step = draw(st.sampled_from(steps))
    how = draw(st.sampled_from(("down", "down", "down", "replace", "leave out", "add")))
    if how == "leave out":
        del value[step]
    elif how == "add" and isinstance(value, dict):
        value[draw(st.sampled_from(("id", "x", "kind", "")))] = draw(VALUES)
    elif how == "add":
        cast(list[Any], value).insert(step, draw(VALUES))
    else:
        value[step] = draw(VALUES_AND_DEEP) if how == "replace" else _changed(draw, value[step])
    return value


def as_text(value: Any) -> str:
    """Return JSON text as other programs write it; what is too deep even for Python's writer is written by hand."""
    try:
        return json.dumps(value)
    except RecursionError:
        return "[" * 2_000 + "]" * 2_000


LINES = (VALUES_AND_DEEP | st.just({})).map(as_text) | st.sampled_from(
    (
        "{",
        "[1",
        "nul",
        "{}{}",
        '{"a":1,}',
        "9" * 5_000,
        "[" * 100_000,
        '{"a":' * 3_000,
        "\ufeff{}",
        '"\\ud800"',
        "1e999",
    )
)
"""Lines at large, most of them JSON."""


KINDS: tuple[Any, ...] = (
    None, True, 7, 10**400, -0.5, float("nan"), "x", [], ["x"], [{"a": 1}], {}, {"a": {"b": [1]}},
)  # fmt: skip
"""A value of each type that JSON has."""


def confused(sample: Any) -> Iterator[Any]:
    """Yield the sample with each of its values, at any depth, replaced by one of each type."""
    for kind in KINDS:
        if type(kind) is not type(sample) or kind != sample:
            yield copy.deepcopy(kind)
    parts: list[tuple[Any, Any]] = []
    if isinstance(sample, dict):
        parts = list(cast(dict[Any, Any], sample).items())
    elif isinstance(sample, list):
        parts = list(enumerate(cast(list[Any], sample)))
    for step, part in parts:
        for other in confused(part):
            changed = copy.copy(sample)
            changed[step] = other
            yield changed


def change(value: Any, rng: Random) -> Any:
    """Return a value with something in it replaced or left out, at any depth; changes the value it is given."""
    steps: list[Any] = []
    if isinstance(value, dict):
        steps = list(cast(dict[Any, Any], value))
    elif isinstance(value, list):
        steps = list(range(len(cast(list[Any], value))))
    if not steps or rng.random() < 0.08:
        return deep(rng.choice((150, 400))) if rng.random() < 0.05 else copy.deepcopy(rng.choice(ODD))
    step, how = rng.choice(steps), rng.random()
    if how < 0.15:
        del value[step]
    elif how < 0.4:
        value[step] = change(None, rng)
    else:
        value[step] = change(value[step], rng)
    return value
