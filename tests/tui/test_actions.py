"""One table of actions: every key is in the bindings, the key line, the help and the palette, and means one thing."""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_size
from support.screen_text import see, text_of
from support.screen_tour import PLACES as PLACES_TOURED
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input
from tui.services_double import FakeServices

from console.store.runs import RunFolder
from console.tui.actions import ACTIONS
from console.tui.app import ConsoleApp
from console.tui.dialogs.help import groups_of
from console.tui.key_dispatch import responders_on
from console.tui.keymap import KeyMap, actions_at, bindings_for, find_action, load_key_map
from console.tui.navigation import SCREENS, screen_class
from console.tui.screens.base import BaseScreen
from console.tui.screens.review.label_screen import LabelScreen
from console.tui.widgets.find_bar import FindBar
from console.tui.widgets.key_line import KeyLine
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript

PLACES = tuple(SCREENS)
ARGUMENTS = {"live": 1, "review": 1, "compare": 2, "grid": None}
"""How many runs a screen takes; None: a list of them."""


def screen_at(where: str, run: RunFolder) -> BaseScreen:
    """Make a screen without an app."""
    number, kind = ARGUMENTS.get(where, 0), screen_class(where)
    given = (FakeServices(), *([[run, run]] if number is None else [run] * number))
    try:
        inspect.signature(kind).bind(*given)
    except TypeError as error:
        pytest.fail(
            f"{kind.__name__} cannot be made of services and {len(given) - 1} more arguments ({error}): "
            f"say in ARGUMENTS of {__file__} how many runs the screen {where!r} takes"
        )
    screen: BaseScreen = kind(*given)
    return screen


def not_done(where: str, missing: list[str]) -> str:
    """Return the sentence for actions without a method."""
    methods = ", ".join(f"action_{id.replace('.', '_')}" for id in missing)
    return f"nothing at {where!r} has {methods}: write it in an action group there, or take it out of tui/actions.py"


def without_responder(where: str, responders: Iterable[object]) -> list[str]:
    """Return the ids of the actions that none of these objects does."""
    able = list(responders)
    return [
        action.id
        for action in actions_at(where)
        if not action.opens_menu and not any(hasattr(responder, f"action_{action.method}") for responder in able)
    ]


@pytest.mark.parametrize(
    ("where", "widget"), [("rows", RowList), ("text", Transcript), ("line", FindBar), ("label", LabelScreen)]
)
def test_every_action_of_a_widget_is_done_by_the_widget(where: str, widget: type[Widget]) -> None:
    missing = without_responder(where, [widget])
    assert missing == [], not_done(where, missing)


@pytest.mark.parametrize("where", SCREENS)
def test_every_action_of_a_screen_has_a_responder(where: str, workspace: Any) -> None:
    app, run = ConsoleApp(workspace.paths), workspace.run("a")
    screen = screen_at(where, run)
    missing = without_responder(where, responders_on(screen, [app.services.exports]))
    assert missing == [], not_done(where, missing)
    # and the check can fail
    assert without_responder(where, [app]), f"tui/actions.py has no action at {where!r}: is its tuple in ACTIONS?"


def test_every_action_is_of_a_place_that_exists() -> None:
    places = {*SCREENS, "all", "rows", "text", "line", "label"}
    strange = {action.id: action.where for action in ACTIONS if action.where not in places}
    assert not strange, f"these actions are at no screen of navigation.SCREENS: {strange}"


def test_every_action_of_the_app_has_a_responder(workspace: Any) -> None:
    app = ConsoleApp(workspace.paths)
    screen = screen_at("home", workspace.run("a"))
    missing = without_responder("all", responders_on(screen, [app.navigator, app.services.exports, app]))
    assert missing == [], not_done("all", missing)
    assert without_responder("all", [app])


@pytest.mark.parametrize("where", PLACES)
def test_a_key_means_one_thing_on_a_screen(where: str) -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for action in actions_at(where, "all"):
        for key in action.keys:
            if not action.menu:
                owners[key].add(action.id)
    shared = {key: sorted(ids) for key, ids in owners.items() if len(ids) > 1}
    assert shared == {}, f"these keys mean several things at {where!r}; give all but one action another: {shared}"


@pytest.mark.parametrize("where", PLACES)
def test_a_menu_has_one_entry_for_a_key(where: str) -> None:
    here = actions_at(where)
    for opener in (action for action in here if action.opens_menu):
        keys = [key for action in here if action.menu == opener.id for key in action.keys]
        assert keys, f"the menu {opener.id!r} at {where!r} has no entries"
        twice = sorted({key for key in keys if keys.count(key) > 1})
        assert not twice, f"these letters of the menu {opener.id!r} at {where!r} have two entries: {twice}"
    assert {action.menu for action in here} - {""} <= {action.id for action in here if action.opens_menu}


def test_ids_are_unique_where_they_are_and_pairs_exist() -> None:
    for action in ACTIONS:
        assert sum(other.id == action.id and other.where == action.where for other in ACTIONS) == 1
        assert not action.pair or find_action(action.pair, action.where) is not None
        assert ": " in action.title or not action.palette or " " not in action.title


def test_no_key_needs_a_terminal_that_can_tell_it_apart() -> None:
    forbidden = {f"ctrl+{letter}" for letter in "hijmsz"}
    for action in ACTIONS:
        assert not action.keys or any("alt+" not in key and not key.startswith("f1") for key in action.keys)
        assert not forbidden & set(action.keys)


def test_bindings_come_from_the_table() -> None:
    for where, kind in (("rows", RowList), ("text", Transcript), ("label", LabelScreen)):
        ids = {binding.id for binding in kind.BINDINGS if isinstance(binding, Binding)}
        assert ids == {action.id for action in actions_at(where) if action.keys}
    assert {binding.id for binding in bindings_for("home") if isinstance(binding, Binding)} == {
        action.id for action in actions_at("home") if action.keys and not action.menu
    }


def test_key_line_help_and_palette_use_the_same_words() -> None:
    for action in ACTIONS:
        footer, meaning, title = (
            set(re.findall(r"[\w.-]+", text.lower())) for text in (action.footer, action.meaning, action.title)
        )
        assert footer <= meaning, action
        assert not action.palette or action.opens_menu or footer <= title, action


@pytest.mark.parametrize("width", [60, 72, 80, 100, 160])
async def test_the_key_line_is_never_cut(width: int, opened: Any, frame: Callable[[ConsoleApp], str]) -> None:
    async with opened((width, 24)) as (app, _):
        last = frame(app).rstrip("\n").split("\n")[-1]
        assert last.endswith("? help  : commands")
        assert "…" not in last
        assert " enter open" in last
        assert len(last) <= width
        assert app.screen.query_one(KeyLine)


async def test_help_lists_every_key_of_the_place(opened: Any) -> None:
    async with opened() as (app, _):
        actions = app.screen.actions_here()
        listed = {action for group in groups_of(actions, "").values() for action in group}
        shown = {action.id for action in listed} | {action.pair for action in listed}
        assert {action.id for action in actions} <= shown
        groups = groups_of(actions, "")
        assert list(groups)[-2:] == ["MOVE", "EVERYWHERE"]
        assert set(groups_of(actions, "sort")) == {"RUNS"}


async def test_help_uses_the_words_of_the_key_line(
    opened: Any, frame: Callable[[ConsoleApp], str], workspace: Any
) -> None:
    workspace.usual_runs()
    async with opened() as (_, pilot):
        await pilot.press("tab", "question_mark", "slash", *"delete")
        await pilot.pause()
        help_line = next(line for line in frame(pilot.app).split("\n") if "│D " in line or " D " in line)
        assert "delete" in help_line
        assert "dequeue" not in help_line


async def test_a_menu_lists_its_letters_and_acts(
    opened: Any, frame: Callable[[ConsoleApp], str], workspace: Any
) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("y")
        assert "name of this run" in frame(app)
        await pilot.press("i")
        await pilot.pause()
        assert app.clipboard == "2025-01-17T1320-a"
        await pilot.press("y", "escape")
        assert app.screen.where == "home"


async def test_the_palette_narrows_and_acts(opened: Any, frame: Callable[[ConsoleApp], str]) -> None:
    async with opened() as (app, pilot):
        await pilot.press("colon", *"theme")
        await pilot.pause()
        assert "Theme: next" in frame(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.theme == "console-light"
        assert app.screen.where == "home"


USUAL_WORDS = {
    "start": "Run: new",
    "launch": "Run: new",
    "queue": "Run: new",
    "resume": "Run: resume",
    "retry": "Run: re-run its failed cases",
    "delete": "Run: delete",
    "theme": "Theme: next",
    "dark": "Theme: console-dark",
    "light": "Theme: console-light",
    "settings": "Settings: bell when a run is done",
    "export": "Export: CSV",
    "price": "Models: edit models.toml",
    "ranking": "Go: Leaderboard",
    "history": "Go: Trends",
    "stop": "Run: stop",
    "clear": "Runs: show all",
    "careful": "Model: sim/careful",
    "small": "Suite: small-talk",
    "2025-01-17T1320-a": "Run: 2025-01-17T1320-a",
    "ground truth": "View: ground truth",
    "wrap": "View: wrap",
}
"""Words that readers may type, and the first command that each finds."""


async def test_the_palette_finds_everything_by_its_usual_words(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("colon")
        first = dict[str, str]()
        for typed in USUAL_WORDS:
            app.screen.query_one(Input).value = typed
            await pilot.pause()
            first[typed] = app.screen.query_one(RowList).cursor
        assert first == USUAL_WORDS


@pytest.mark.parametrize("kind", ["Model", "Suite", "Run", "Theme"])
async def test_the_palette_lists_all_of_a_kind_by_its_plural(kind: str, opened: Any, workspace: Any) -> None:
    name = "2025-01-17T1300-a-model-with-a-long-name-on-a-suite-with-a-long-name-b0fa1b"
    workspace.run(name, passed=1)
    async with opened() as (app, pilot):
        await see(pilot, "RUNS  1")
        await see(pilot, f"{kind}: ", "colon", *f"{kind.lower()}s")
        assert ("b0fa1b" in text_of(app)) == (kind == "Run")  # an id is cut in its middle


async def test_enter_in_the_palette_takes_what_is_available(opened: Any, workspace: Any) -> None:
    workspace.usual_runs()
    async with opened() as (app, pilot):
        await pilot.press("colon", *"queue")
        await pilot.pause()
        rows = app.screen.query_one(RowList)
        assert rows.cursor == rows.keys[0]
        assert "Queue: earlier" in rows.keys
        assert rows.keys.index("Queue: earlier") > rows.keys.index("Run: new")


@pytest.mark.parametrize("size", first_size([(80, 24), (60, 16), (130, 36), (160, 45)]), ids=str)
@pytest.mark.parametrize("opening_key", ["colon", "ctrl+t"])
async def test_the_cursor_of_a_long_list_of_choices_is_always_in_sight(
    size: tuple[int, int], opening_key: str, opened: Any, workspace: Any
) -> None:
    for number in range(30):
        workspace.run(f"2025-01-17T13{number:02}-a", passed=1)
    async with opened(size) as (app, pilot):
        await see(pilot, "30")
        await pilot.press(opening_key)
        rows = app.screen.query_one(RowList)
        for key in ("pagedown", "pagedown", "pageup", *["pagedown"] * 9):
            await pilot.press(key)
            assert "│> " in text_of(app), key
        assert rows.cursor == rows.keys[-1]


async def test_the_palette_puts_the_beginning_then_the_last_chosen_first(opened: Any) -> None:
    async with opened() as (app, pilot):

        async def listed(typed: str) -> list[str]:
            await pilot.press("colon", *typed)
            await pilot.pause()
            return list(app.screen.query_one(RowList).keys)

        assert (await listed("go"))[0] == "Go: Home"
        await pilot.press("pagedown")
        assert app.screen.query_one(RowList).cursor != "Go: Home"
        await pilot.press("pageup", "escape")
        assert "Go: Trends" in await listed("trends")
        await pilot.press("enter", "1")
        assert (await listed("go"))[0] == "Go: Trends"
        await pilot.press("escape")
        assert (await listed(""))[0] == "Go: Trends"


async def test_models_and_actions_of_other_screens_are_reached_from_the_palette(
    opened: Any, workspace: Any, frame: Callable[[ConsoleApp], str], settle: Any
) -> None:
    async with opened(toasts=True) as (app, pilot):
        await pilot.press("colon", *"careful", "enter")
        await settle(app, pilot)
        assert app.screen.where == "library"
        assert app.screen.run_offer == ("sim/careful", "")
        await pilot.press("colon", *"resume", "enter")
        await settle(app, pilot)
        assert app.screen.where == "home"
        assert "r  resume this run" in frame(app)


def test_every_word_of_the_key_line_is_in_the_help() -> None:
    def words(text: str) -> set[str]:
        return set(re.findall(r"[\w.]+", text.lower()))

    strange = {f"{action.where} {action.id}": words(action.footer) - words(action.meaning) for action in ACTIONS}
    assert {id: missing for id, missing in strange.items() if missing} == {}


def test_the_readers_own_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('run.new = "N"\n"cursor.down" = ["j", "ctrl+n"]\n"run.nwe" = "x"\nhelp = 3\n', encoding="utf-8")
    keys = load_key_map(path)
    assert keys.own == {"run.new": ("N",), "cursor.down": ("j", "ctrl+n")}
    assert len(keys.mistakes) == 3
    assert "N is both run.new and fail.prev" in keys.mistakes[2]
    assert "did you mean run.new?" in keys.mistakes[0]
    new = find_action("run.new", "all")
    assert new is not None
    assert keys.shown(new) == "N"


@pytest.mark.parametrize("text", ["not toml [", "\ud800".encode("utf-8", "surrogatepass")])
def test_a_broken_key_file_is_said_and_the_defaults_hold(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "keys.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    keys = load_key_map(path)
    assert keys.own == {}
    assert "cannot be read" in keys.mistakes[0]
    assert load_key_map(tmp_path / "missing.toml") == KeyMap()


async def test_a_remapped_key_works_and_shows(
    workspace: Any, tmp_path: Path, frame: Callable[[ConsoleApp], str]
) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('"run.new" = "N"\n', encoding="utf-8")
    app = ConsoleApp(workspace.paths, keys_path=path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "N new run" in frame(app)
        await pilot.press("L")
        assert app.screen.where == "home"
        await pilot.press("N")
        assert app.screen.where == "launch"


def test_every_action_is_in_the_help_and_fits_into_it() -> None:
    silent = [action.id for action in ACTIONS if not action.meaning or not action.group]
    assert silent == [], (
        f"give these actions a `meaning` and a `group` in tui/actions.py, or help cannot list them: {silent}"
    )
    long = [action.id for action in ACTIONS if len(action.meaning) > 21]
    assert long == [], f"help has room for 21 characters; say the `meaning` of these actions shorter: {long}"


def test_every_screen_is_toured() -> None:
    untoured = SCREENS.keys() - set(PLACES_TOURED)
    assert not untoured, (
        f"no test of all screens sees {sorted(untoured)}: add them to PLACES and KEYS of support/screen_tour.py"
    )
