"""Review: failures by reason, expected beside actual, and everything a reader needs to sort two hundred of them out."""

from pathlib import Path
from typing import Any

import pytest
from support.fake_engine import FakeEngine
from support.quick_rows import first_size
from support.recorded_runs import QUESTION, Recorder, WeatherSuite, call_reply, loop_run, plain_run
from support.review_opening import review, reviewing
from support.run_suites import compare_by
from support.screen_text import assert_no_control_byte, assert_until, see, text_of, wait_until_unchanged

from console.core.case import Key
from console.core.chat import Reply
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.fault import UsageError
from console.core.live import Command
from console.core.outcome import Outcome
from console.insight.filter import read_filter
from console.store.notes import Note, Notes
from console.store.runs import RunFolder
from console.suites import run_suite
from console.suites.catalog import RECORDED
from console.tui.editor import pager_command
from console.tui.screens import branching
from console.tui.screens.review.case_actions import case_text
from console.tui.screens.review.screen import ReviewScreen
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript


@pytest.fixture(autouse=True)
def weather(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open the weather suite for every run."""
    compare_by(monkeypatch, WeatherSuite())


def current(screen: ReviewScreen) -> str:
    rollout = screen.controller.cursor.rollout
    return rollout.key.case if rollout else ""


def listed(screen: ReviewScreen) -> list[str]:
    """Return the ids of the listed cases in reading order."""
    return [rollout.key.case for rollout in screen.controller.triage.order]


def labels_of(screen: ReviewScreen) -> list[str]:
    """Return the labels of the groups."""
    return [group.label for group in screen.controller.triage.groups]


# Frames --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_it_opens_on_the_first_failure_of_the_largest_group(
    size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any
) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=size) as (app, _, screen):
        assert current(screen) == "live_multiple_118-41"
        assert_frame(app, f"review-{size[0]}x{size[1]}")


async def test_first_and_last_are_of_the_whole_list_whatever_is_folded(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (_, pilot, screen):
        order = listed(screen)
        assert len(screen.controller.triage.groups) > 1
        await pilot.press("G")
        assert (current(screen), screen.case_list.cursor) == (order[-1], screen.case_list.keys[-1])
        await pilot.press("g")
        assert current(screen) == order[0]
        assert screen.case_list.scroll_offset.y == 0


async def test_cases_are_sorted_by_a_column_within_their_group(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=(160, 45)) as (app, pilot, screen):
        await see(pilot, lambda: listed(screen) == sorted(listed(screen)), "o", "n", "s", "i")
        await see(pilot, lambda: listed(screen) == sorted(listed(screen), reverse=True), "s", "s")
        await pilot.press("s", "t")
        rollouts = screen.controller.triage.order
        await see(pilot, "time ↓")
        assert [r.seconds for r in rollouts] == sorted((r.seconds for r in rollouts), reverse=True)
        await see(pilot, lambda: "time ↓" not in text_of(app), "s", "o")


@pytest.mark.parametrize("size", [(80, 24), (130, 36), (160, 45)], ids=str)
async def test_the_value_that_cases_are_sorted_by_is_shown_before_any_description(
    size: tuple[int, int], opened: Any, workspace: Any
) -> None:
    folder = plain_run(workspace.root / "runs").folder
    values = {"c": ("cost ↓", " $0.004 "), "t": ("time ↓", " 1.9 s "), "k": ("tokens ↓", " 1,172 "),
              "n": ("turns ↓", " 1 "), "r": ("repeats ↑", " 0/1 ")}  # fmt: skip
    async with reviewing(opened, folder, "live_multiple_131-52", size=size) as (app, pilot, _):
        for letter, (mark, value) in values.items():
            await see(pilot, mark, "s", letter)
            row = next(row for row in text_of(app).splitlines() if "> " in row and "131-52" in row)
            assert value in f"{row} ".replace("┃", "  ", 1).partition("┃")[0], row


async def test_a_reason_stands_once_and_a_zoomed_pane_has_it(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "turn 1: 13 instead of 92"
    pair = Pair(Mark.DIFFERS, "number: 92", "13", note=note)
    monkeypatch.setattr(WeatherSuite, "compare", lambda *_: Comparison(f"wrong number: {note}", (pair,)))
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, _):
        assert text_of(app).count(note) == 1
        await pilot.press("i")
        await wait_until_unchanged(app, pilot)
        assert text_of(app).count(note) == 1
        assert " verdict " not in text_of(app)
        await pilot.press("tab", "z")
        await wait_until_unchanged(app, pilot)
        assert "─ ✗ " in text_of(app), "the outcome, as nothing else has it"
        assert " verdict " in text_of(app)
        await pilot.press("i")
        await wait_until_unchanged(app, pilot)
        assert text_of(app).count(note) == 1, "in the diff"


async def test_the_conversation_alone_names_its_case(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=(160, 45)) as (app, pilot, screen):
        screen.query_one("#talk").focus()
        await pilot.press("z")
        await wait_until_unchanged(app, pilot)
        title = next(row for row in text_of(app).splitlines() if " Talk " in row)
        assert f"━ {current(screen)}  Talk  ✗ wrong value" in title


async def test_x_opens_every_block_that_names_it(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=(100, 40)) as (app, pilot, screen):
        for view in ("", "i", "p"):
            if view:
                await pilot.press(view)
                await wait_until_unchanged(app, pilot)
            shown = text_of(app).count("(x)")
            assert shown <= 1 or view == ""
            await pilot.press("x")
            await wait_until_unchanged(app, pilot)
            assert text_of(app).count("(x)") < shown or not shown
        assert screen.controller.views.current.name == "Raw"


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_the_tab_of_a_view_can_be_clicked(size: tuple[int, int], opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=size) as (app, pilot, screen):
        for word in ("Truth", "Raw", "Diff"):
            y, row = next(
                (y, row) for y, row in enumerate(text_of(app).splitlines()) if "Truth" in row and "Raw" in row
            )
            await pilot.click(offset=(row.index(word) + 1, y))
            await see(pilot, f"[{word}]")
        assert screen.controller.views.current.name == "Diff"


async def test_views_follow_each_other(opened: Any, workspace: Any, assert_frame: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, size=(100, 40)) as (app, pilot, _):
        for name in ("talk", "truth", "tools", "scores", "raw"):
            await pilot.press("v")
            await wait_until_unchanged(app, pilot)
            assert_frame(app, f"review-{name}-100x40")
        await pilot.press("V", "V", "V", "V")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, "review-talk-100x40")


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_every_view_is_one_key_away_and_the_same_key_goes_back(
    size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any
) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    truth = {"ground_truth": [{"get_weather": {"unit": ["celsius"]}}], "involved": ["weather"]}
    key = recorder.start("live_simple_1-1-0", "live_simple", QUESTION, **truth)
    tools = [{"type": "function", "function": {
        "name": "get_weather", "description": "Tells the weather.",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "Where."},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}}}}}]  # fmt: skip
    recorder.ask(key, QUESTION, call_reply("get_weather", '{"city": "Lima"}'), tools=tools)
    recorder.finish(key, Outcome.FAILED, "value_error:string", "unit", output=[{"get_weather": {"city": "Lima"}}])
    async with reviewing(opened, recorder.close(), size=size) as (app, pilot, _):
        for letter, words in (("i", "[Talk]"), ("p", "[Raw]"), ("M", "get_weather(city, unit?)"),
                              ("a", "ground_truth of the case")):  # fmt: skip
            await see(pilot, words, letter)
            if letter in "sa":
                await wait_until_unchanged(app, pilot)
                assert_frame(app, f"review-{'tools' if letter == 's' else 'truth'}-{size[0]}x{size[1]}")
            await see(pilot, "EXPECTED", letter)


async def test_words_are_found_in_every_text_of_all_cases(opened: Any, workspace: Any) -> None:
    recorder = plain_run(workspace.root / "runs", close=False)
    key = recorder.start("live_simple_99-0-0", "live_simple", QUESTION)
    recorder.ask(key, "Where does the zebra cross?", call_reply("get_current_weather", "{}"))
    recorder.finish(key, Outcome.FAILED, "value_error:string", "unit")
    async with reviewing(opened, recorder.close()) as (app, pilot, screen):
        await see(pilot, "words of any text", "slash")
        await see(pilot, lambda: listed(screen) == ["live_simple_99-0-0"], *"ZEBRA", "enter")
        await pilot.press("i")  # the conversation has it
        await see(pilot, "zebra")
        assert "failure · ZEBRA · by reason" in text_of(app)
        await see(pilot, lambda: len(screen.controller.triage.order) == 8, "F")


async def test_a_text_that_is_in_another_view_of_the_case_is_gone_to(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, _):
        await see(pilot, "words of any text", "tab", "slash")
        await see(pilot, lambda: "[Raw]" in text_of(app) and '"tool_calls"' in text_of(app), *"tool_calls", "enter")


async def test_a_broken_case_says_what_happened_and_what_to_do(opened: Any, workspace: Any, assert_frame: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder, "live_multiple_9-4-1") as (app, _, _):
        assert_frame(app, "review-broken-80x24")


async def test_without_its_suite_the_raw_output_is_shown(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch, assert_frame: Any
) -> None:
    def refuse(data: object, manifest: object) -> None:
        raise UsageError("the suite is not here", hint="Pull it.")

    monkeypatch.setattr(run_suite, "find_suite", refuse)
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, _, _):
        assert_frame(app, "review-no-suite-80x24")


async def test_a_suite_that_fails_is_named_and_the_rest_goes_on(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(WeatherSuite, "compare", fail)
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, _, _):
        assert "the suite cannot compare this case: KeyError" in text_of(app)


async def test_a_run_without_failures_says_so(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    recorder.finish(recorder.start("a"), Outcome.PASSED)
    async with reviewing(opened, recorder.close()) as (app, pilot, screen):
        assert "No failures. 1 of 1 passed; f then a shows the passes." in text_of(app)
        await see(pilot, lambda: current(screen) == "a", "f", "a")


# Stepping ------------------------------------------------------------------------------------------------------------


async def test_n_steps_through_all_failures_and_stops_at_the_last(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        seen = [current(screen)]
        for _ in range(6):
            await pilot.press("n")
            seen.append(current(screen))
        assert sorted(seen) == sorted(listed(screen))
        assert seen[:4] == ["live_multiple_118-41", "live_multiple_131-52", "live_simple_77-40-0", "live_simple_14-3-9"]
        await pilot.press("n")
        assert current(screen) == seen[-1]
        assert "This is the last one; 7 of 7 not reviewed yet." in app.services.messages[-1].plain
        for case in reversed(seen[:-1]):
            await pilot.press("N")
            assert current(screen) == case


async def test_moving_the_cursor_opens_groups_on_the_way(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (_, pilot, screen):
        order = listed(screen)
        for case in order[1:]:
            await see(pilot, lambda case=case: current(screen) == case, "j")
        for case in reversed(order[:-1]):
            await see(pilot, lambda case=case: current(screen) == case, "k")


async def test_reasons_are_stepped_through(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (_, pilot, screen):
        firsts = [leaf.rollouts[0].key.case for found in screen.controller.triage.groups for leaf in found.leaves]
        for case in firsts[1:]:
            await pilot.press("]")
            assert current(screen) == case
        await pilot.press("J")
        assert current(screen) == firsts[-1]
        await pilot.press("[", "K")
        assert current(screen) == firsts[-3]


async def test_new_failures_move_neither_cursor_nor_groups(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        for n in range(2):
            engine.recorder.finish(engine.recorder.start(f"first-{n}"), Outcome.FAILED, "value_error:string", "unit")
        screen = await review(app, pilot, engine.recorder.folder)
        await pilot.press("n")
        assert current(screen) == "first-1"
        for n in range(5):
            engine.recorder.finish(engine.recorder.start(f"later-{n}"), Outcome.FAILED, "ast_decoder:decoder_failed")
        await assert_until(pilot, lambda: len(screen.controller.triage.order) == 7)
        assert current(screen) == "first-1"
        assert [found.count for found in screen.controller.triage.groups] == [2, 5]
        assert screen.query_one("#list", RowList).cursor == "0/first-1"


# Sorting out ---------------------------------------------------------------------------------------------------------


async def test_a_tag_is_kept_and_moves_on(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with reviewing(opened, folder) as (app, pilot, screen):
        await see(pilot, lambda: current(screen) == "live_multiple_131-52", "t", "m")
        annotations = Notes(folder.path).annotations()
        assert {case: annotation.tag for (case, _), annotation in annotations.items()} == {
            "live_multiple_118-41": "model"
        }
        assert "1 reviewed" in text_of(app)
        await see(pilot, lambda: not Notes(folder.path).annotations(), "u")
        assert current(screen) == "live_multiple_118-41"
        await pilot.press("u")
        assert app.services.messages[-1].plain == "There is nothing to undo."


async def test_a_whole_group_is_tagged_after_a_question(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with reviewing(opened, folder) as (_, pilot, screen):
        await see(pilot, "Tag 3 of unit as", "T")
        await see(pilot, lambda: len(Notes(folder.path).annotations()) == 3, "g")
        await assert_until(pilot, lambda: current(screen) == "live_simple_14-3-9")
        await see(pilot, lambda: len(screen.controller.triage.order) == 4, "f", "u")
        await see(pilot, lambda: not Notes(folder.path).annotations(), "F", "u")


async def test_a_case_is_marked_as_reviewed_and_counted(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, "3 of 7  2 reviewed", "space", "space")
        assert current(screen) == "live_simple_77-40-0"
        await see(pilot, lambda: len(screen.controller.triage.order) == 5, "f", "n")
        await see(pilot, "1 reviewed", "F", "u")
        assert app.services.messages[-1].plain == "Undid 1 mark."
        assert current(screen) == "live_multiple_131-52"


@pytest.mark.parametrize("size", first_size([(80, 24), (160, 45)]))
async def test_a_dispute_is_kept_with_who_and_why_and_changes_no_score(
    size: tuple[int, int], opened: Any, workspace: Any, assert_frame: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.store.notes.user_name", lambda: "ann")
    monkeypatch.setattr("console.store.notes.time.time", lambda: 1_800_000_060.0)
    folder = plain_run(workspace.root / "runs").folder
    before = folder.summary()
    async with reviewing(opened, folder, size=size) as (app, pilot, screen):
        await see(pilot, "celsius is right too", "D", *"celsius is right too", "enter")
        annotation = Notes(folder.path).annotations()["live_multiple_118-41", 0]
        assert (annotation.dispute, annotation.disputed_by) == ("celsius is right too", "ann")
        assert folder.summary() == before
        await see(pilot, lambda: listed(screen) == ["live_multiple_118-41"], "f", "d")
        await wait_until_unchanged(app, pilot)
        assert_frame(app, f"review-disputed-{size[0]}x{size[1]}")


@pytest.mark.parametrize(
    ("letter", "labels"),
    [
        ("e", ["value_error:string", "parallel_function_checker_no_order:wrong_count"]),
        ("p", ["unit", "no parameter named"]),
        ("c", ["live_multiple", "live_simple"]),
        ("f", ["get_current_weather"]),
    ],
)
async def test_failures_are_grouped_by(letter: str, labels: list[str], opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, lambda: {it.label for it in screen.controller.triage.groups} >= set(labels), "o", letter)
        assert labels[0] in text_of(app)


async def test_it_opens_on_the_first_untagged_one(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    Notes(folder.path).add(Note(Key("live_multiple_118-41"), "tag", "model"))
    async with opened() as (app, pilot):
        assert current(await review(app, pilot, folder)) == "live_multiple_131-52"


async def test_a_comment_is_kept_shown_and_taken_back(opened: Any, workspace: Any) -> None:
    folder = plain_run(workspace.root / "runs").folder
    async with reviewing(opened, folder) as (app, pilot, _):
        await see(pilot, "comment     odd", "c", *"odd", "enter")
        assert [annotation.comment for annotation in Notes(folder.path).annotations().values()] == ["odd"]
        await pilot.press("c")
        await see(pilot, lambda: "comment     odd" not in text_of(app), "escape", "u")


async def test_what_is_not_seen_in_a_comment_is_marked_where_it_stands_and_where_it_is_edited(
    opened: Any, workspace: Any
) -> None:
    folder = plain_run(workspace.root / "runs").folder
    notes = Notes(folder.path)
    notes.add(Note(Key("live_multiple_118-41"), "comment", "un\u200bseen\ufeff 👩‍👩‍👧"))
    notes.add(Note(Key("live_multiple_131-52"), "tag", "\u200btag of another program"))
    async with reviewing(opened, folder) as (app, pilot, _):
        await see(pilot, "un‹U+200B›seen‹U+FEFF› 👩‍👩‍👧")
        assert "\u200b" not in text_of(app)
        await see(pilot, "holds ‹U+200B› ‹U+FEFF›   enter saves", "c")
        await see(pilot, "holds ‹U+200B›   enter saves", *["backspace"] * 7)


async def test_notes_that_cannot_be_written_are_said(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Notes, note: Note) -> Note:
        raise UsageError("the note cannot be saved: read-only")

    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        monkeypatch.setattr(Notes, "add", refuse)
        await see(pilot, lambda: any("cannot be saved" in text.plain for text in app.services.messages), "t", "m")
        assert current(screen) == "live_multiple_118-41"


# Choosing ------------------------------------------------------------------------------------------------------------


async def test_filters(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, lambda: listed(screen) == ["live_multiple_9-4-1"], "f", "b")
        await see(pilot, lambda: len(screen.controller.triage.order) == 13, "f", "a")
        await see(pilot, lambda: len(screen.controller.triage.order) == 7, "F")
        await see(pilot, lambda: len(screen.controller.triage.order) == 3, "/", *"reason:unit", "enter")
        assert "reason:unit" in text_of(app)
        await see(pilot, lambda: len(screen.controller.triage.order) == 2, "/", *"reason:unit !118", "enter")
        await see(pilot, lambda: {it.subject for it in screen.controller.triage.order} == {"unit"}, "F", "f", "r")


async def test_a_bad_filter_filters_nothing_and_says_why(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, "Did you mean reason?", "/", *"reson:unit")
        assert len(screen.controller.triage.order) == 7
        await see(pilot, lambda: "by reason" in text_of(app) and "Did you mean" not in text_of(app), "escape")


async def test_what_is_wrong_with_a_filter_is_shown_whole_and_goes_when_it_is_mended(
    opened: Any, workspace: Any
) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await pilot.press("/", *"colour:red")
        mistake = read_mistake("colour:red")
        await assert_until(pilot, lambda: mistake in " ".join(text_of(app).split()))
        assert len(mistake) > 80, "longer than a line"
        assert "by reason" in text_of(app), "the title says what is listed"
        await pilot.press(*["backspace"] * len("colour:red"), *"reason:unit")
        await assert_until(pilot, lambda: len(screen.controller.triage.order) == 3)
        assert "colour" not in text_of(app)


def read_mistake(text: str) -> str:
    with pytest.raises(UsageError) as raised:
        read_filter(text)
    return f"{raised.value.message}. {raised.value.hint}"


async def test_a_filter_without_hits_names_the_way_back(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, "Nothing matches zzz. F clears the filter.", "/", *"zzz", "enter")
        assert "live_multiple_118-41" not in text_of(app)  # nor does the case stay that was shown before
        await see(pilot, lambda: current(screen) == "live_multiple_118-41", "F")


@pytest.mark.parametrize(("key", "labels"), [
    ("c", ["live_multiple", "live_simple", "live_parallel", "live_irrelevance"]),
    ("f", ["get_current_weather", "no function called"]),
    ("t", ["untagged"]),
])  # fmt: skip
async def test_groups(key: str, labels: list[str], opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (_, pilot, screen):
        await see(pilot, lambda: labels_of(screen) == labels, "o", key)
        await see(pilot, lambda: not screen.controller.triage.heads, "o", "n")
        assert len(screen.query_one("#list", RowList).keys) == 7


# The case ------------------------------------------------------------------------------------------------------------


async def test_layouts_wrap_and_fold(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, _):
        assert "'fahrenheit'" in text_of(app)
        await see(pilot, "expected  'fahrenheit'", "d")
        await see(pilot, "+   unit = 'imperial'", "d")
        await pilot.press("d", "x", "x")  # first all is shown, then nothing that is equal
        await see(pilot, "2 equal (x)")
        await see(pilot, lambda: "2 equal (x)" not in text_of(app), "x", "w")


async def test_finding_in_the_text_takes_n_until_escape(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await see(pilot, lambda: bool(screen.case_pane.search_text), "enter", "/", *"chicago", "enter")
        assert "next match" in text_of(app)
        await pilot.press("n")
        assert current(screen) == "live_multiple_118-41"
        await pilot.press("escape")
        await pilot.press("n")
        assert current(screen) == "live_multiple_131-52"


async def test_turns_are_stepped_through(opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple(Row(Mark.SAME, f"a{n}", (f"{n}",), f"{n}") for n in range(12))
    pairs = tuple(Pair(Mark.SAME, f"f{turn}", f"f{turn}", rows, turn=turn) for turn in range(3))
    monkeypatch.setattr(WeatherSuite, "compare", lambda *args: Comparison("ended early", pairs))
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (app, pilot, screen):
        assert "turn  1 ✓   2 ✓   3 ✓" in text_of(app)
        detail = screen.query_one("#detail", Transcript)
        await pilot.press(">", ">")
        block = detail.block_at_top()
        assert block is not None
        assert block.key == "turn 1"
        await pilot.press("<")
        block = detail.block_at_top()
        assert block is not None
        assert block.key == "turn 0"


async def test_loops_are_reviewed_too(opened: Any, workspace: Any) -> None:
    async with reviewing(opened, loop_run(workspace.root / "runs").folder) as (app, pilot, screen):
        await assert_until(
            pilot,
            lambda: labels_of(screen) == ["repeated itself", "not finished"],
        )
        assert "Why did Rome fall, number 1?" in text_of(app)
        await see(pilot, "coherence", "v", "v")


async def test_attempts_appear_when_there_are_several(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    for attempt, outcome in ((1, Outcome.BROKEN), (2, Outcome.FAILED)):
        key = recorder.start("a", attempt=attempt)
        recorder.ask(key, QUESTION, Reply(f"answer {attempt}"))
        recorder.finish(key, outcome, "value_error:string", messages=[f"message {attempt}"])
    async with reviewing(opened, recorder.close()) as (app, pilot, _):
        assert "attempt 2 of 2" in text_of(app)
        assert "Scores  Raw  Attempts ─" in text_of(app), "tabs, which can be clicked, come before time and cost"
        await see(pilot, "message 1", "V")
        assert "answer 2" in text_of(app)


async def test_copies_are_source_text_without_controls(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    key = recorder.start("a\x1b[31m")
    recorder.ask(key, "ask \x07", call_reply("f\x1b]52;c;eA==\x07", '{"x": 1}'))
    recorder.finish(key, Outcome.FAILED, "value_error:string", messages=["because\x1b[2J"])
    async with reviewing(opened, recorder.close()) as (app, pilot, _):
        copied: list[str] = []
        app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        for letter in "iaepmjc":
            await pilot.press("y", letter)
            await pilot.pause()
        assert len(copied) == 7
        assert copied[0] == "a[31m"
        assert copied[1] == 'f]52;c;eA=={"x": 1}'.replace("==", "==(", 1) + ")"
        assert "fahrenheit" in copied[2]
        assert copied[4] == "because[2J"
        assert copied[6].startswith("eval-console show '0117-1420-bfcl-live-gpt-x#")
        assert not any("\x1b" in text or "\x07" in text for text in copied)


async def test_the_whole_case_as_text_has_no_control_character(opened: Any, workspace: Any, hostile_some: str) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    key = recorder.start("a")
    recorder.ask(key, hostile_some, Reply(hostile_some))
    recorder.finish(key, Outcome.FAILED, hostile_some, messages=[hostile_some])
    async with reviewing(opened, recorder.close()) as (_, _, screen):
        case = screen.controller.case.load()
        assert case is not None
        text = case_text(case)
        assert not any((ord(it) < 0x20 and it != "\n") or 0x7F <= ord(it) < 0xA0 for it in text)


def test_the_reader_chooses_the_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "less -S")
    assert pager_command() == ["less", "-S"]
    monkeypatch.setenv("PAGER", "")
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.delenv("VISUAL", raising=False)
    assert pager_command() == ["vi"]


# Again ---------------------------------------------------------------------------------------------------------------


async def test_again_goes_to_the_live_engine(opened: Any, workspace: Any) -> None:
    async with FakeEngine(workspace.root / "runs") as engine, opened() as (app, pilot):
        key = engine.recorder.start("a")
        engine.recorder.finish(key, Outcome.BROKEN, "server", cost_usd=0.0)
        screen = await review(app, pilot, engine.recorder.folder)
        await assert_until(pilot, lambda: screen.feed is not None and screen.feed.is_attached)
        await see(pilot, lambda: engine.heard == [Command("retry_case", key=key)], "r")


async def test_again_repeats_what_broke_and_plays_what_has_a_grade_in_a_new_run(
    opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned, branched = list[dict[str, Any]](), list[tuple[str, ...]]()
    monkeypatch.setattr("console.engine.process.spawn_engine", lambda run, **more: spawned.append(more))
    monkeypatch.setattr("console.engine.plan.reopen", lambda *places: None)
    monkeypatch.setattr(branching, "start_branch", lambda services, run, *, cases: branched.append(cases))
    async with reviewing(opened, plain_run(workspace.root / "runs").folder) as (_, pilot, _):
        await see(pilot, "Retry live_multiple_9-4-1? about ≥$0", "R")
        await see(pilot, "Play 6 cases again, in a new run? about $0.024")
        await see(pilot, "this run keeps its score")
        await pilot.press("escape")
        assert not spawned
        assert not branched
        await pilot.press("R")
        await see(pilot, lambda: bool(spawned), "y")
        assert (spawned[0]["only"], spawned[0]["retry"]) == (("live_multiple_9-4-1",), "broken")
        await pilot.press("R")
        await see(pilot, lambda: bool(branched), "a")
        assert len(branched[0]) == 6
        await see(pilot, "Play live_multiple_118-41 again, in a new run?", "r")
        await see(pilot, lambda: len(branched) == 2, "a")
        assert branched[1] == ("live_multiple_118-41",)
        assert len(spawned) == 1


@pytest.mark.parametrize("pressed", ["r", "R"])
@pytest.mark.parametrize(("shape", "said"), [(RECORDED, "recorded by another tool"), ("", "")])
async def test_a_run_that_cannot_be_played_is_not_said_to_be_asked_again(
    pressed: str, shape: str, said: str, opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[dict[str, Any]] = []
    monkeypatch.setattr("console.engine.process.spawn_engine", lambda run, **more: spawned.append(more))
    recorder = Recorder(workspace.root / "runs", cases=1, format=shape, suite="recorded")  # a suite that is not there
    recorder.finish(recorder.start("a"), Outcome.BROKEN, "server", cost_usd=0.0)
    async with reviewing(opened, recorder.close()) as (app, pilot, _):
        await see(pilot, lambda: app.services.messages and said in app.services.messages[-1].plain, pressed)
        assert "Retrying" not in app.services.messages[-1].plain
        assert not spawned


# Untrusted text ------------------------------------------------------------------------------------------------------


def hostile_run(root: Path, texts: tuple[str, ...]) -> RunFolder:
    recorder = Recorder(root, cases=len(texts), suite="s\x1b[31m[/x]", name="hostile")
    for text in texts:
        key = recorder.start(f"id {text}", f"cat {text}", f"title {text}")
        recorder.ask(key, f"{text} {QUESTION}", call_reply(f"f {text}", '{"a": 1', reasoning=text))
        recorder.ask(key, text, Reply(text * 3), n=2)
        recorder.finish(key, Outcome.FAILED, f"r {text}", f"s {text}", messages=[text], output={text: text})
    return recorder.close()


@pytest.mark.parametrize("size", [(80, 24), pytest.param((160, 45), marks=pytest.mark.slow)])
async def test_hostile_text_is_only_text(
    size: tuple[int, int], opened: Any, workspace: Any, all_hostile: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(all_hostile)
    row = Row(Mark.DIFFERS, text, (text, text), text, text, decisive=True)
    pair = Pair(Mark.DIFFERS, text, text, (row,), text)
    monkeypatch.setattr(WeatherSuite, "compare", lambda *args: Comparison(text, (pair,), text, text, text))
    folder = hostile_run(workspace.root / "runs", all_hostile)
    for place, note in enumerate(all_hostile):
        clean = note.encode("utf-8", "replace").decode()
        Notes(folder.path).add(Note(Key(f"id {clean}"), "tag" if place % 2 else "comment", clean))
    async with reviewing(opened, folder, size=size) as (app, pilot, screen):
        for _ in all_hostile if size[0] == 80 else all_hostile[:3]:
            for key in ("v", "v", "v", "v", "d", "w", "n"):
                await pilot.press(key)
                assert_no_control_byte(app)
        for keys in (("o", "t"), ("o", "c"), ("o", "f"), ("o", "n"), ("f", "c"), ("F",), ("T",), ("escape",)):
            await pilot.press(*keys)
            assert_no_control_byte(app)
        assert app.screen is screen


@pytest.mark.slow
async def test_ten_megabytes_open(opened: Any, workspace: Any) -> None:
    recorder = Recorder(workspace.root / "runs", cases=1)
    key = recorder.start("huge")
    recorder.ask(key, "x", Reply("word \x1b[2J" * 1_000_000))
    recorder.finish(
        key, Outcome.FAILED, "ast_decoder:decoder_failed", messages=["x" * 1_000_000], output="y" * 5_000_000
    )
    async with reviewing(opened, recorder.close()) as (app, pilot, _):
        for key_name in ("v", "v", "v", "enter", "G", "g"):
            await pilot.press(key_name)
            assert_no_control_byte(app)
