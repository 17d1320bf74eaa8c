"""The floors within `console/tui`, read from the source: a part knows the floors below it; a screen knows no other."""

from collections.abc import Iterable, Iterator

from rules.package import MODULES, imports_of

ROOM = "console.tui."
SCREENS = "console.tui.screens."
FLOORS = [
    {"actions", "symbols", "textual_patches", "themes"},
    {"data", "desktop", "frame_output", "keymap", "sanitize", "shell_commands"},
    {"render"},
    {"widgets"},
    {"suite_views"},
    {"services"},
    {"editor", "picture_page"},
    {"dialogs"},
    {"screens"},
    {"exports", "key_dispatch", "navigation"},
    {"app_services", "palette_commands"},
    {"app"},
    {"serve"},
    {"start"},
]
"""Folders and modules of the room, from the ground up; those of one floor do not know each other."""
FLOOR_OF = {part: number for number, parts in enumerate(FLOORS) for part in parts}


def part_of(module: str) -> str:
    """Return the folder or module of the room that a module belongs to; empty outside of the room."""
    return module.removeprefix(ROOM).split(".")[0] if module.startswith(ROOM) else ""


def climbs(arrows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the arrows between parts that do not go down."""
    for module, other in arrows:
        part, other_part = part_of(module), part_of(other)
        if part and other_part and part != other_part and FLOOR_OF[other_part] >= FLOOR_OF[part]:
            yield f"{module} knows {other}"


def meetings(arrows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the arrows from one screen, or from what all screens share, into the folder of another screen."""
    for module, other in arrows:
        folder = other.rpartition(".")[0] + "."
        if module.startswith(SCREENS) and folder.startswith(SCREENS) and folder != SCREENS and folder not in module:
            yield f"{module} knows {other}"


def arrows() -> list[tuple[str, str]]:
    return [(module, other) for module in MODULES for other in imports_of(module)]


def test_every_part_of_the_room_has_a_floor() -> None:
    assert {part_of(module) for module in MODULES} - {""} == set(FLOOR_OF)


def test_arrows_within_the_room_go_down() -> None:
    assert list(climbs(arrows())) == []


def test_no_screen_knows_another() -> None:
    assert list(meetings(arrows())) == []


def test_controllers_know_no_widgets() -> None:
    """A controller is tested without an event loop: it imports neither Textual nor what draws."""
    wrong: list[str] = []
    for module, path in MODULES.items():
        if module.startswith(SCREENS) and module.endswith(".controller"):
            drawing = {part_of(other) for other in imports_of(module)} & {"widgets", "dialogs"}
            wrong += [f"{module} knows {part}" for part in drawing]
            wrong += [f"{module} imports textual" for line in path.read_text("utf-8").splitlines() if "textual" in line]
    assert wrong == []


def test_the_rules_find_what_they_forbid() -> None:
    assert list(climbs([("console.tui.data.runs", "console.tui.services")]))
    assert list(climbs([("console.tui.sanitize", "console.tui.data.runs")]))
    assert list(meetings([("console.tui.screens.live.lists", "console.tui.screens.review.views")]))
    assert not list(meetings([("console.tui.screens.live.screen", "console.tui.screens.base")]))
