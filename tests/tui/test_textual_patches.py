"""The private names of Textual that `textual_patches` relies on are still there, and mean the same."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.dom import DOMNode
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

import console.tui

METHODS = {
    "App._begin_batch": "(self) -> 'None'",
    "App._close_messages_no_wait": "(self) -> 'None'",
    "App._display": "(self, screen: 'Screen', renderable: 'RenderableType | None') -> 'None'",
    "App._end_batch": "(self) -> 'None'",
    "App._fatal_error": "(self) -> 'None'",
    "App._load_screen_css": "(self, screen: 'Screen')",
    "Screen._compositor_refresh": "(self) -> 'None'",
    "Screen._invoke_and_clear_callbacks": "(self) -> 'None'",
    "Screen._watch__select_state": "(self, select_state: 'SelectState | None') -> 'None'",
    "MessagePump._dispatch_message": "(self, message: 'Message') -> 'None'",
    "Screen._get_breakpoint_classes": "(self, dimension: 'int', breakpoints: 'list[tuple[int, str]]') -> 'set[str]'",
    "Widget._get_style": "(self, style: 'VisualStyle | str') -> 'VisualStyle'",
    "Widget._refresh_scrollbars": "(self) -> 'None'",
    "Widget._size_updated": "(self, size: 'Size', virtual_size: 'Size', container_size: 'Size', "
    "layout: 'bool' = True) -> 'bool'",
    "ChopsUpdate.__init__": "(self, chops: 'Sequence[Mapping[int, Strip | None]]', "
    "spans: 'list[tuple[int, int, int]]', chop_ends: 'list[list[int]]') -> 'None'",
    "LayoutUpdate.__init__": "(self, strips: 'list[Iterable[Strip]]', region: 'Region') -> 'None'",
}
CLASSES = {"App": App, "MessagePump": MessagePump, "Screen": Screen, "Widget": Widget, "ChopsUpdate": ChopsUpdate,
           "LayoutUpdate": LayoutUpdate}  # fmt: skip
ATTRIBUTES: dict[str, Any] = {
    "_batch_count": App,
    "_callbacks": Screen,
    "_closing": MessagePump,
    "_css_update_count": App,
    "_current_mode": App,
    "_driver": App,
    "_exception": App,
    "_exit": App,
    "_pruning": DOMNode,
    "_screen_stacks": App,
    "_writer_thread": LinuxDriver,
    "_queue": WriterThread,
}
"""Private attributes and the class whose `__init__` sets them."""


@pytest.mark.parametrize("name", METHODS)
def test_a_private_method_takes_the_same(name: str) -> None:
    owner, _, method = name.partition(".")
    assert str(inspect.signature(getattr(CLASSES[owner], method))) == METHODS[name]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_private_attribute_is_set(name: str) -> None:
    source = inspect.getsource(ATTRIBUTES[name].__init__)
    assert re.search(rf"self\.{name}\b", source)


def test_a_screen_counts_its_updates_from_below_zero() -> None:
    """`reads_styles_once` tells a new screen by it."""
    screen: Any = Screen[None]()
    assert screen._css_update_count < 0


def test_the_driver_makes_its_decoder_by_the_name_that_is_replaced() -> None:
    assert 'getincrementaldecoder("utf-8")()' in inspect.getsource(LinuxDriver.run_input_thread)


def test_every_private_name_of_the_module_is_checked() -> None:
    used = set(re.findall(r"\.(_[a-z]\w+)", source("textual_patches.py")))
    used |= set(re.findall(r'"(_[a-z]\w+)"', source("textual_patches.py")))
    checked = {name.partition(".")[2] for name in METHODS} | set(ATTRIBUTES) | {"_compositor"}
    assert used - checked == set()


def source(name: str) -> str:
    """Return the source of a module of the app."""
    return (Path(console.tui.__file__).parent / name).read_text(encoding="utf-8")
