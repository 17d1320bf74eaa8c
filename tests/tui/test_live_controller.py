"""The rules of the Live screen, without a terminal and an event loop: rows, watched conversations, times of drawing."""

from dataclasses import dataclass, field

import pytest

from console.core.case import Case, Key, Setting, Slot
from console.core.live import Status
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.core.run import Manifest, ModelFacts
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.sort_orders import RUN_ORDER, WORST_FIRST, SortOrder
from console.tui.screens.live.controller import (
    FIGURES_EVERY_S,
    LINGER_S,
    LOADING_LIST_S,
    ROWS_EVERY_S,
    RUNNING,
    LiveController,
    StableRows,
    WatchedConversations,
)

MANIFEST = Manifest(id="r", at=0.0, suite="s", model=ModelFacts("m"), setting=Setting(), cases=9)


@dataclass
class PlayedRun:
    """A run whose conversations begin, speak and end when a test says so; its clock stands still."""

    overview: Overview = field(default_factory=Overview)
    manifest: Manifest = MANIFEST
    is_live: bool = True
    is_read: bool = True
    damages: int = 0
    seconds: float = 100.0

    def now(self) -> float:
        return self.seconds

    def conversation(self, key: Key) -> Conversation:
        return Conversation(key)

    def begin(self, *ids: str) -> None:
        for id in ids:
            self.overview.apply(Started(at=self.seconds, key=Key(id), case=Case(id, "", {})))

    def speak(self, *ids: str) -> None:
        for id in ids:
            self.overview.rollouts[id, 0].append_text("words")

    def finish(self, *ids: str, outcome: Outcome = Outcome.PASSED) -> None:
        for id in ids:
            verdict = Verdict(outcome, None if outcome is Outcome.PASSED else "reason")
            self.overview.apply(Finished(at=self.seconds, key=Key(id), verdict=verdict))


@pytest.fixture
def run() -> PlayedRun:
    """A run with four conversations that have all said something."""
    played = PlayedRun()
    played.begin(*"abcd")
    played.speak(*"abcd")
    return played


@pytest.fixture
def controller(run: PlayedRun) -> LiveController:
    """A controller that watches the run, its cursor on the first row."""
    live = LiveController()
    live.run = run
    live.list_rollouts(None, 0.0)
    live.advance(("a", 0))
    return live


def ids(slots: list[Slot]) -> str:
    return "".join(case for case, _ in slots)


def shown(controller: LiveController) -> str:
    return "".join(tile.slot[0] if tile.slot else "-" for tile in controller.watched.tiles)


# The list ------------------------------------------------------------------------------------------------------------


def test_rows_stay_where_they_are() -> None:
    rows = StableRows()
    a, b, c, d = ((letter, 0) for letter in "abcd")
    assert rows.update([a, b, c])
    assert not rows.update([a, b, c])
    rows.update([a, c, d])
    assert rows.slots == [a, d, c]
    rows.update([c], kept=a, spare=0)
    assert rows.slots == [a, c]
    rows.update([], kept=None, spare=1)
    assert rows.slots == [a]


def test_the_row_of_what_ended_goes_to_what_begins_but_the_cursor_keeps_its_own(
    run: PlayedRun, controller: LiveController
) -> None:
    run.finish("a", "b", "c")
    run.begin("e", "f")
    assert ids(controller.list_rollouts(("b", 0), 0.0)) == "ebfd"


def test_as_many_ended_rows_stay_as_may_run_at_once(run: PlayedRun, controller: LiveController) -> None:
    run.overview.apply_frame(Status("running", 3))
    run.finish("a", "c")
    assert ids(controller.list_rollouts(None, 0.0)) == "abd", "three at once: two that run and one that has ended"


def test_a_run_that_begins_again_has_new_rows(run: PlayedRun, controller: LiveController) -> None:
    run.finish("a")
    run.begin("e")
    assert ids(controller.list_rollouts(None, 0.0)) == "ebcd"
    controller.restart()
    assert ids(controller.list_rollouts(None, 0.0)) == "bcde"


def test_orders_of_a_run_that_is_live_and_of_one_that_is_over(run: PlayedRun, controller: LiveController) -> None:
    run.finish("c", outcome=Outcome.FAILED)
    run.finish("d", outcome=Outcome.BROKEN)
    assert [controller.next_order() for _ in range(3)] == [RUN_ORDER, WORST_FIRST, RUNNING]
    run.is_live = False
    assert ids(controller.list_rollouts(None, 0.0)) == "abcd"
    assert controller.order is RUN_ORDER, "nothing runs that could be listed alone"
    assert controller.next_order() is WORST_FIRST
    assert ids(controller.list_rollouts(None, 0.0)) == "dcab"


def test_a_run_that_was_opened_while_it_started_lists_what_runs(run: PlayedRun, controller: LiveController) -> None:
    run.is_live = False
    controller.list_rollouts(None, 0.0)
    assert controller.order is RUN_ORDER
    run.is_live = True
    assert controller.order is RUNNING, "the reader has chosen no order"


def test_a_view_of_the_suite_lists_everything_and_brings_its_own_orders(
    run: PlayedRun, controller: LiveController
) -> None:
    run.finish("b")
    by_name = SortOrder("by name, the last first", lambda rollout: -ord(rollout.key.case))
    controller.view_orders = [by_name]
    assert ids(controller.list_rollouts(None, 0.0)) == "abcd"
    assert controller.order is RUN_ORDER
    assert controller.next_order() is by_name
    assert ids(controller.list_rollouts(None, 0.0)) == "dcba"
    assert controller.next_order() is WORST_FIRST


def test_the_order_of_an_earlier_visit_is_taken_up_where_it_exists(controller: LiveController) -> None:
    controller.restore_order(WORST_FIRST.name)
    assert controller.order is WORST_FIRST
    controller.restore_order("no such order")
    assert controller.order is WORST_FIRST


def test_nothing_is_listed_without_a_run() -> None:
    controller = LiveController()
    assert controller.list_rollouts(None, 0.0) == []
    assert controller.advance(None) is None
    assert not controller.is_live


# Watched conversations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [RUNNING, RUN_ORDER, WORST_FIRST])
def test_the_first_tile_follows_the_newest_stream_until_the_reader_moves(run: PlayedRun, order: SortOrder) -> None:
    controller = LiveController()
    controller.run = run
    controller.restore_order(order.name)
    controller.list_rollouts(None, 0.0)
    assert controller.advance(("a", 0)) == ("d", 0), "the newest of those that stream"
    assert controller.following_words(0, at_end=True) == "FOLLOWING (space pins)"
    run.begin("e")
    run.speak("e")
    assert controller.advance(("d", 0)) is None, "what streams is followed to its end"
    run.finish("d")
    assert controller.advance(("d", 0)) is None, "what has just ended stays a moment"
    run.seconds += LINGER_S + 0.1
    assert controller.advance(("d", 0)) == ("e", 0)
    assert controller.move_cursor(("c", 0))
    assert not controller.move_cursor(("c", 0))
    assert controller.following_words(0, at_end=True) == "PINNED (space follows)"
    run.finish("c")
    run.seconds += LINGER_S + 0.1
    assert controller.advance(("c", 0)) is None
    assert (shown(controller), controller.following_words(0, at_end=True)) == ("c", "PINNED (space follows)")


def test_it_goes_on_only_to_what_streams_and_leaves_what_waits(run: PlayedRun, controller: LiveController) -> None:
    run.begin("e")
    run.finish("a", "b", "c", "d")
    run.seconds += LINGER_S + 0.1
    assert controller.advance(("d", 0)) is None
    run.speak("e")
    assert controller.advance(("d", 0)) == ("e", 0)
    run.begin("f")
    run.speak("f")
    run.overview.rollouts["e", 0].why = "429, again in 2 s"
    assert controller.advance(("e", 0)) == ("f", 0)


def test_space_pins_and_follows_again_and_scrolling_pins(run: PlayedRun, controller: LiveController) -> None:
    assert controller.toggle_follow(0, at_end=True), "the text goes on"
    assert not controller.follows_run
    assert controller.toggle_follow(0, at_end=True)
    assert controller.follows_run
    controller.note_scroll(0, at_end=True)
    assert controller.follows_run
    controller.note_scroll(0, at_end=False)
    assert controller.following_words(0, at_end=False) == "PINNED (space follows)"
    assert controller.toggle_follow(0, at_end=False), "back to the end of the text"
    controller.move_cursor(("b", 0))
    run.finish("b")
    run.seconds += LINGER_S + 0.1
    controller.toggle_follow(0, at_end=True)
    assert controller.advance(("b", 0)) == ("d", 0)


def test_a_sorted_list_stays_true_once_a_second_and_never_moves_under_the_cursor(
    run: PlayedRun, controller: LiveController
) -> None:
    longest_first = SortOrder("longest first", lambda rollout: (not rollout.is_running, -len(rollout.recent_text)))
    controller.view_orders = [longest_first]
    controller.restore_order(longest_first.name)
    run.overview.rollouts["b", 0].append_text("more")
    assert ids(controller.list_rollouts(("b", 0), 10.0)) == "bacd"
    run.overview.rollouts["d", 0].append_text("much more than that")
    run.begin("e")
    assert ids(controller.list_rollouts(("b", 0), 10.5)) == "bacde", "nothing jumps within a second"
    assert not controller.is_sort_due(10.5)
    assert controller.is_sort_due(11.1)
    assert ids(controller.list_rollouts(("b", 0), 11.1)) == "bdace"
    run.finish("b")
    assert ids(controller.list_rollouts(("b", 0), 12.2)) == "bdace", "the row under the cursor stays on its line"
    assert ids(controller.list_rollouts(("a", 0), 13.3)) == "dcaeb"


def test_a_run_that_is_over_is_not_followed(run: PlayedRun, controller: LiveController) -> None:
    run.finish(*"abcd")
    run.is_live = False
    run.seconds += LINGER_S + 0.1
    controller.list_rollouts(None, 0.0)
    assert controller.advance(("a", 0)) is None
    assert controller.following_words(0, at_end=True) == ""


# The grid ------------------------------------------------------------------------------------------------------------


def test_what_ends_gives_its_tile_to_the_next_but_a_pinned_one_stays(
    run: PlayedRun, controller: LiveController
) -> None:
    assert controller.toggle_pin(0)
    controller.watched.resize(2)
    controller.advance(("a", 0))
    assert shown(controller) == "dc"
    assert controller.following_words(0, at_end=True) == "PINNED (m unpins)"
    assert controller.watched.cursor_tile is controller.watched.tiles[1]
    run.finish("d", "c")
    run.seconds += LINGER_S + 0.1
    assert controller.advance(("a", 0)) == ("b", 0)
    assert shown(controller) == "db"
    assert not controller.toggle_pin(0)
    assert controller.following_words(1, at_end=True) == ""
    assert controller.following_words(1, at_end=False) == "scrolled (space follows)"


def test_a_fuller_grid_shows_what_runs_and_fewer_tiles_forget_the_rest(
    run: PlayedRun, controller: LiveController
) -> None:
    controller.watched.resize(4)
    controller.advance(("a", 0))
    assert shown(controller) == "dabc"
    assert controller.is_watched(Key("c"))
    controller.watched.resize(1)
    assert not controller.is_watched(Key("c"))
    controller.watched.resize(2)
    assert shown(controller) == "d-"


def test_tiles_of_a_run_that_is_over_show_what_follows_the_cursor(run: PlayedRun, controller: LiveController) -> None:
    run.finish(*"abcd")
    run.is_live = False
    run.seconds += LINGER_S + 0.1
    controller.list_rollouts(None, 0.0)
    controller.watched.resize(3)
    controller.move_cursor(("c", 0))
    controller.advance(("c", 0))
    assert shown(controller) == "cda"


def test_titles_say_what_each_tile_shows(run: PlayedRun, controller: LiveController) -> None:
    controller.watched.resize(2)
    controller.advance(("a", 0))
    controller.toggle_pin(1)
    first, second = controller.tile_states([True, False])
    assert (first.words, first.is_pinned) == ("FOLLOWING (space pins)", False)
    assert (second.words, second.is_pinned) == ("PINNED (m unpins)", True)
    assert second.rollout is run.overview.rollouts["a", 0]


def test_an_empty_tile_cannot_be_pinned() -> None:
    controller = LiveController()
    assert not controller.toggle_pin(0)
    assert not WatchedConversations().tiles[0].is_pinned


# When to draw --------------------------------------------------------------------------------------------------------


def test_answers_that_begin_are_drawn_at_once_and_other_rows_a_little_later(controller: LiveController) -> None:
    a, b = ("a", 0), ("b", 0)
    assert set(controller.rows_to_draw_at_once({a, b}, {a})) == {a}
    assert set(controller.stale_rows(10.0)) == {b}
    controller.rows_to_draw_at_once({a}, ())
    assert not controller.stale_rows(10.0 + ROWS_EVERY_S / 2)
    assert set(controller.stale_rows(10.0 + ROWS_EVERY_S * 1.1)) == {a}
    assert not controller.stale_rows(20.0)


def test_figures_of_a_live_run_change_with_time(run: PlayedRun, controller: LiveController) -> None:
    assert controller.are_figures_due(10.0)
    assert not controller.are_figures_due(10.0 + FIGURES_EVERY_S / 2)
    assert controller.are_figures_due(10.0 + FIGURES_EVERY_S * 1.1)
    run.is_live = False
    assert not controller.are_figures_due(20.0)


def test_rows_that_show_a_clock_are_drawn_once_a_second(run: PlayedRun, controller: LiveController) -> None:
    run.begin("e")
    assert controller.rows_with_clock(10.0) == [("e", 0)]
    assert controller.rows_with_clock(10.9) is None
    assert controller.rows_with_clock(11.0) == [("e", 0)]


def test_the_list_of_a_run_that_is_being_read_is_drawn_now_and_then(run: PlayedRun, controller: LiveController) -> None:
    run.is_read = False
    assert controller.is_list_due(10.0)
    assert not controller.is_list_due(10.0 + LOADING_LIST_S / 2)
    run.is_read = True
    assert controller.is_list_due(10.0 + LOADING_LIST_S / 2)
