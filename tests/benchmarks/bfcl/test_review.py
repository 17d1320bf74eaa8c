"""What Review says of BFCL: whole paths into a state, what is wrong of a turn, and entries that nothing can pass."""

from textual.content import Content

from console.benchmarks.aidanbench.view.live import LoopLiveView
from console.benchmarks.bfcl.leaderboard import BFCL_LEADERBOARD
from console.benchmarks.bfcl.view import BfclView
from console.core.case import Key
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.insight.leaderboard import Leaderboard, LeaderboardRow
from console.insight.rollout import Rollout
from console.suites.leaderboard import Cell
from console.tui.render import diff
from console.tui.render.leaderboard_rows import about, columns_of, line, room_for
from console.tui.render.progress import watched_words
from console.tui.screens.review.case_pane import reason_line, two_lines
from console.tui.screens.review.views import turn_title

PATH = "workspace.document.drafts.a_report_with_a_long_name.pdf"


def test_the_attribute_that_differs_is_never_cut() -> None:
    row = Row(Mark.DIFFERS, PATH, ("'old'",), "'new'", decisive=True)
    pair = Pair(Mark.DIFFERS, "GorillaFileSystem.root", "GorillaFileSystem.root", (row,), kind="state")
    for width in (76, 100, 156):
        shown = [line.plain for line in diff.pair_lines([pair], width, diff.Style())]
        assert any(PATH in line for line in shown), width
        assert any("'old'" in line for line in shown)
        assert any("'new'" in line for line in shown)
        assert max(map(len, shown)) <= width


def test_what_only_one_side_has_is_shown_over_the_whole_width() -> None:
    result = "{" + ", ".join(f'"key_{place}": "a value of some length"' for place in range(12)) + "}"
    row = Row(Mark.MISSING, "result", (result,), None, decisive=True)
    pair = Pair(Mark.MISSING, "results of the turn", "", (row,), kind="result")
    cut = [line.plain for line in diff.pair_lines([pair], 80, diff.Style())]
    assert sum("key_" in line for line in cut) == 3
    assert cut[-1].rstrip().endswith("…")
    whole = [line.plain for line in diff.pair_lines([pair], 80, diff.Style(wrap=True))]
    assert "key_11" in "".join(whole)
    assert max(map(len, whole)) <= 80


def test_a_missing_call_is_shown_whole_at_any_width() -> None:
    call = "authenticate_twitter(username='dr_smith', password='securePass123', device='the one in the laboratory')"
    for width in (60, 80, 156):
        shown = [line.plain for line in diff.pair_lines([Pair(Mark.MISSING, call, "")], width, diff.Style())]
        assert "laboratory')" in "".join(line.strip() for line in shown), width
        assert max(map(len, shown)) <= width


def test_class_and_attribute_that_differ_are_named_whole() -> None:
    name = "VehicleControlAPI.remainingUnlockedDoors_of_all"
    pair = Pair(Mark.DIFFERS, name, name, (Row(Mark.DIFFERS, "value", ("0",), "4"),), kind="state")
    assert any(name in line.plain for line in diff.pair_lines([pair], 76, diff.Style()))


def test_a_long_reason_takes_two_lines() -> None:
    said = Content("the state of VehicleControlAPI differs: remainingUnlockedDoors, doorStatus, " + "engineState " * 20)
    first, second = two_lines(said, 70)
    assert first.plain.endswith("remainingUnlockedDoors,")
    assert second.plain.strip().startswith("doorStatus")
    assert second.plain.endswith("…")
    assert [line.plain for line in two_lines(Content("short"), 70)] == ["short"]


def test_a_turn_says_what_was_wrong_without_counting_what_is_only_listed_when_wrong() -> None:
    pairs = [
        Pair(Mark.DIFFERS, "A.x", "A.x", kind="state"),
        Pair(Mark.DIFFERS, "A.y", "A.y", kind="state"),
        Pair(Mark.MISSING, "results of the turn", kind="result"),
    ]
    title = turn_title("turn 2", Mark.DIFFERS, pairs).plain
    assert "state ✗" in title
    assert "results ✗" in title
    assert " of " not in title


def test_an_entry_that_no_output_can_pass_is_called_known_bad() -> None:
    hint = "no output can pass this entry: a required parameter has no acceptable value"
    bad = Verdict(Outcome.FAILED, "type_error:simple", detail={"known_bad": hint})
    assert BfclView().hint_label(bad).name == "known bad"
    assert BfclView().hint_label(Verdict(Outcome.FAILED, "type_error:simple")).name == "would pass"
    assert BfclView().hint_label(Verdict(Outcome.UNDECIDED, "unreadable_judge")).name == "to do"
    assert Comparison("wrong", hint=hint).hint == hint


def test_a_model_shows_every_category_and_what_its_first_number_lacks() -> None:
    cells = dict.fromkeys(BFCL_LEADERBOARD.columns, Cell(None, note="N/A"))
    cells |= {
        "overall": Cell(
            0.1, 0.05, 0.15, 10, note="incomplete: 1 of 21 categories complete; 2 failed inferences judged as answers"
        )
    }
    cells |= {"memory_kv": Cell(0.5, 0.4, 0.6, 10, note="2 failed inferences judged as answers")}
    row = LeaderboardRow("m", "prompt", "", 1.0, ("r",), cells, 0.0, 0)
    board = Leaderboard("bfcl", BFCL_LEADERBOARD.columns, (row,), BFCL_LEADERBOARD)
    shown = "\n".join(line.plain for line in about(board, row, "", 156, 12))
    assert "overall: incomplete: 1 of 21 categories complete" in shown
    assert "2 failed inferences judged as answers: memory kv" in shown
    assert "kv .500~ [.40 .60]" in shown
    assert "vector N/A" in shown


def test_the_reason_names_its_subject_once() -> None:
    rollout = Rollout(
        Key("c"),
        0,
        outcome=Outcome.FAILED,
        reason="wrong_value",
        subject="room",
        message="room: 'x' is not among ['y']",
    )
    assert reason_line(rollout, None, 120).plain.rstrip() == " ✗ wrong value: room   'x' is not among ['y']"


def test_what_was_played_comes_first_and_a_part_of_a_group_is_no_number() -> None:
    cells = dict.fromkeys(BFCL_LEADERBOARD.columns, Cell(None, note="N/A"))
    cells |= {"overall": Cell(None, note="2 of 21 categories"), "live": Cell(None, note="1 of 4 categories")}
    cells |= {"live_simple": Cell(0.5, 0.4, 0.6, 258), "memory_kv": Cell(0.25, 0.1, 0.4, 155)}
    row = LeaderboardRow("m", "prompt", "", 1.0, ("r",), cells, 0.0, 0)
    board = Leaderboard("bfcl", BFCL_LEADERBOARD.columns, (row,), BFCL_LEADERBOARD)
    assert columns_of(board)[:3] == ["live", "live_simple", "memory_kv"]
    shown = line(board, 0, 0, room_for([board], 98), marked=False).plain
    assert "— (2 of 21)  — (1 of 4)  .500 [.40 .60]  .250 [.10 .40]" in shown


def test_the_watched_conversation_says_turn_and_step() -> None:
    rollout = Rollout(Key("multi_turn_base_1"), 0, turn=1, step=2, state="asking")
    assert "turn 2, step 3" in watched_words(rollout).plain
    assert "turn" not in watched_words(Rollout(Key("simple_python_1"), 0)).plain.replace("multi_turn", "")
    assert "round 2" in LoopLiveView().watched_words(rollout).plain
