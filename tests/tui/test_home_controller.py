"""The rules of Home, without an app."""

import time
from pathlib import Path
from typing import Any

import pytest

from console.core.case import Key
from console.core.looks import Look
from console.core.run import Summary, Tally
from console.store.notes import Note, Notes
from console.store.runs import RunFolder
from console.suites.suite import DemoRun, SuiteEntry
from console.tui.data.runs import RunLine, last_failures
from console.tui.data.suites import SuiteLine, Suites
from console.tui.render import row_cells
from console.tui.render.columns import lay_out
from console.tui.screens.home.controller import HomeController


def run_line(
    name: str, state: str = "completed", *, place: int = 0, at: float = 0.0, root: Path = Path("/runs"), **more: Any
) -> RunLine:
    tally = Tally(**{key: value for key, value in more.items() if key in Tally.__struct_fields__})
    summary = Summary(
        id=name, at=at, suite=more.get("suite", "s"), model=more.get("model", "m"), state=state, tally=tally,
        planned=10, simulated=more.get("simulated", False), parent=more.get("parent", ""),
        simulated_note="simulated" if more.get("simulated") else "",
    )  # fmt: skip
    return RunLine(RunFolder(root / name), summary, place=place)


def home(*lines: RunLine, is_stranded: bool = False) -> HomeController:
    controller = HomeController()
    controller.use_runs(lines, len(lines), failed=last_failures(lines), is_stranded=is_stranded)
    return controller


def names(controller: HomeController) -> list[str]:
    return [line.name for line in controller.listing.lines]


def test_runs_are_narrowed_by_all_words() -> None:
    controller = home(run_line("a", model="sim/hasty", simulated=True), run_line("b", model="gpt"), run_line("c"))
    controller.words = "SIM hasty"
    assert names(controller) == ["a"]
    assert controller.listing.total == 3
    controller.words = "completed"
    assert names(controller) == ["a", "b", "c"]


def test_branches_are_folded_under_their_run() -> None:
    run, other = run_line("run", at=1.0), run_line("other", at=2.0)
    done, again = run_line("done", at=3.0, parent="run"), run_line("again", at=4.0, parent="done")
    queued = run_line("queued", "queued", at=5.0, place=1, parent="run")
    orphan = run_line("orphan", at=6.0, parent="deleted")
    controller = home(run, other, done, again, queued, orphan)
    assert names(controller) == ["orphan", "other", "run", "queued"], "what waits is never folded"
    assert controller.listing.fold_of(run) == (3, False)
    assert controller.fold(other) is None
    assert controller.fold(run) == "run"
    assert names(controller) == ["orphan", "other", "run", "queued", "again", "done"]
    assert controller.fold(again) == "run", "from a branch, too"
    controller.words = "done"
    assert names(controller) == ["done"], "the filter finds what is folded"


def test_a_branch_that_was_seen_playing_is_not_folded_when_it_ends() -> None:
    run, branch = run_line("run"), run_line("branch", "running", parent="run")
    controller = home(run, branch)
    ended = [run, run_line("branch", parent="run")]
    controller.use_runs(ended, 2, failed=None, is_stranded=False)
    assert names(controller) == ["run", "branch"]


def test_runs_are_sorted_by_a_column_and_the_order_is_remembered() -> None:
    lines = run_line("a", at=1.0, passed=9, failed=1), run_line("b", at=2.0, failed=3, cost_usd=1.0), run_line("c")
    controller = home(*lines)
    shown = [(controller.listing.order, "".join(names(controller)))]
    for order in ("suite", "score", "cost", "cost", "id", "newest first"):
        controller.sort(order)
        shown.append((controller.listing.order, "".join(names(controller))))
    assert shown == [
        ("newest first", "bac"),
        ("suite ↑", "abc"),
        ("score ↑", "bac"),
        ("cost ↓", "bac"),
        ("cost ↑", "acb"),
        ("id ↑", "abc"),
        ("newest first", "bac"),
    ]
    controller.order = "-cost"
    assert (controller.order, controller.listing.column, controller.listing.sign) == ("-cost", "cost", "↑")
    controller.order = "by the moon"
    assert controller.order == "newest first"


def test_today_sums_up_what_was_started_on_this_day() -> None:
    now = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))
    old = run_line("old", at=now - 86_400, cost_usd=9.0)
    runs = [
        run_line("paid", at=now, cost_usd=16.3, input_tokens=1_000_000, output_tokens=200_000),
        run_line("free", at=now, simulated=True),
    ]
    waits = run_line("waits", "queued", at=now)
    assert home(old, waits).today(now) == ""
    assert home(old, waits, *runs).today(now) == "today 2 runs · $16.30 · 1.20 M tokens"
    unknown = run_line("unknown", at=now, cost_unknown=3)
    assert "3 runs · ≥$16.30 · " in home(*runs, unknown).today(now)
    assert "1 run · cost unknown · " in home(unknown).today(now)
    assert "1 run · simulated · " in home(runs[1]).today(now)
    controller = home(*runs)
    assert not controller.is_new_day(now)
    controller.today(now)
    assert not controller.is_new_day(now)
    assert controller.is_new_day(now + 86_400)


def test_two_marks_are_kept_in_the_order_of_marking() -> None:
    first, second = run_line("a"), run_line("b")
    controller = home(first, second, RunLine(RunFolder(Path("/runs/torn")), mistake="torn"))
    assert controller.toggle_mark(second) == [second]
    assert controller.toggle_mark(first) == [second, first]
    assert controller.toggle_mark(second) == [first]
    assert controller.toggle_mark(controller.listing.lines[-1]) == [first], "a damaged run is not compared"
    assert controller.toggle_mark(None) == [first]
    controller.unmark_all()
    assert controller.listing.marked == frozenset()


def test_next_steps_are_the_newest_of_each_kind() -> None:
    stopped, queued = run_line("d", "stopped"), run_line("c", "queued", place=2)
    lines = run_line("e", "running", failed=2), stopped, queued, run_line("b", "queued", place=1), run_line("a")
    steps = home(*lines).next_steps
    assert steps.resumable is stopped
    assert [line.name for line in steps.queued] == ["b", "c"]
    assert steps.failed is None, "failures of a live run are not its last ones"
    assert home().next_steps.resumable is None


def test_last_failures_are_the_newest_that_nobody_has_reviewed(tmp_path: Path) -> None:
    branch, newer, older = (
        run_line("c", failed=9, parent="b", root=tmp_path),
        run_line("b", failed=1, root=tmp_path),
        run_line("a", broken=1, root=tmp_path),
    )
    example, lines = run_line("example-s", failed=3, root=tmp_path), [branch, newer, older]
    assert home(example, *lines).next_steps.failed is newer, "no branch, and no example before the reader's own runs"
    assert home(example, branch).next_steps.failed is example
    newer.folder.path.mkdir()
    Notes(newer.folder.path).add(Note(Key("case", 0), "reviewed", "yes"))
    assert home(example, *lines).next_steps.failed is older
    older.folder.path.mkdir()
    Notes(older.folder.path).add(Note(Key("case", 0), "tag", "model"))
    assert home(example, *lines).next_steps.failed is example
    assert home(*lines).next_steps.failed is newer, "all are reviewed: the newest stays at hand"
    assert home(*lines).next_steps.reviewed == 1


@pytest.mark.parametrize(
    ("action", "line", "reason"),
    [
        ("queue.earlier", run_line("a", "queued", place=1), ""),
        ("queue.earlier", run_line("a"), "this run is not queued"),
        ("run.failed", run_line("a", failed=1), ""),
        ("run.failed", run_line("a"), "this run has no failed case"),
        ("run.delete", run_line("a", "running"), "it is running; ctrl+x in Live stops it"),
        ("run.delete", run_line("a"), ""),
        ("run.delete", None, "there is no run"),
        ("run.resume", run_line("a", "stopped"), ""),
        ("run.resume", run_line("a"), "this run has nothing to resume"),
        ("copy.id", None, "there is no run"),
        ("models.edit", None, ""),
    ],
)
def test_what_cannot_act_says_why(action: str, line: RunLine | None, reason: str) -> None:
    assert home().why_not(action, line, line) == reason


def test_a_queue_goes_on_only_where_nobody_plays_it() -> None:
    assert home().why_not("queue.go", None, None)
    assert home(is_stranded=True).why_not("queue.go", None, None) == ""


def test_the_key_line_names_what_acts_on_the_run() -> None:
    controller = home()
    assert controller.key_words(None) == {"queue.earlier": "", "run.failed": "", "fold": "", "run.delete": ""}
    assert controller.key_words(run_line("a", "queued", place=1)) == {
        "run.failed": "",
        "fold": "",
        "run.delete": "dequeue",
    }
    assert controller.key_words(run_line("a", failed=1)) == {"queue.earlier": "", "fold": "", "run.delete": "delete"}


def test_demo_runs_come_from_the_suites_in_their_order() -> None:
    entry = SuiteEntry("a", "own", Path("/x"), "A")
    suites = Suites([
        SuiteLine(replace_demo(entry, "a", DemoRun(3, "sim/careful", 3))),
        SuiteLine(replace_demo(entry, "b", DemoRun(2, "sim/broken", 2), DemoRun(1, "sim/hasty", 1))),
        SuiteLine(replace_demo(entry, "torn", DemoRun(0, "sim/hasty", 1)), mistake="torn"),
    ])  # fmt: skip
    assert [(suite, run.order) for suite, run in suites.demo_runs()] == [("b", 1), ("b", 2), ("a", 3)]


def replace_demo(entry: SuiteEntry, name: str, *runs: DemoRun) -> SuiteEntry:
    import msgspec

    return msgspec.structs.replace(entry, name=name, demo=runs)


def scored(name: str, *, model: str = "sim/careful", suite: str = "bfcl-starter", state: str = "completed") -> RunLine:
    line = run_line(name, state, model=model, suite=suite, passed=101, failed=14)
    assert line.summary is not None
    line.summary.tally.cases = {1: {1: 101, 0: 14}}
    line.summary.categories = {"simple_python": line.summary.tally}
    return line


@pytest.mark.parametrize("room", [72, 78, 120])
def test_a_suite_is_cut_before_an_interval_is_left_out(room: int) -> None:
    lines = [scored("a"), scored("b", suite="dialogue-starter-with-a-long-name")]
    layout = row_cells.runs_narrow(lines, room, 0.0)
    score = row_cells.run_narrow(lines[0], row_cells.Kin(), 0.0, layout)[3].plain
    widths = [width for _, _, width in lay_out(layout.columns, room)]
    assert score == ".878 [.81 .93]"
    assert widths[3] >= len(score)
    assert widths[2] >= 10


def test_only_the_row_that_is_too_long_loses_what_its_score_is_based_on() -> None:
    usual, early = scored("a"), scored("b", model="sim/rambling", state="running")
    assert early.summary is not None
    early.summary.look = Look(number=1, of=20, rollouts=1_234, planned=9_000, value=0.45)
    early.summary.is_shown_by_look = True
    shown = {}
    for room in (64, 120):
        layout = row_cells.runs_narrow([usual, early], room, 0.0)
        shown[room] = [row_cells.run_narrow(line, row_cells.Kin(), 0.0, layout)[3].plain for line in (usual, early)]
    assert shown == {64: [".878 [.81 .93]", ".450 …"], 120: [".878 [.81 .93]", ".450 (first 1,234)"]}


@pytest.mark.parametrize("state", ["completed", "running", "queued"])
def test_each_column_of_the_runs_has_a_cell(state: str) -> None:
    line = run_line("a", state)
    layout = row_cells.runs_narrow([line], 72, 0.0)
    cells = {"NARROW": row_cells.run_narrow(line, row_cells.Kin(), 0.0, layout),
             "WIDE": row_cells.run_wide(line, row_cells.Kin(), 0.0)}  # fmt: skip
    columns = {"NARROW": row_cells.RUNS_NARROW, "WIDE": row_cells.RUNS_WIDE}
    wrong = [name for name in cells if len(cells[name]) != len(columns[name])]
    assert not wrong, (
        f"the columns RUNS_{wrong[0]} of tui/render/row_cells.py and the cells of its rows differ in number"
    )


def test_archived_runs_are_not_counted_among_the_others() -> None:
    old, new = run_line("old"), run_line("new")
    assert old.summary is not None
    old.summary.archived = True
    controller = home(old, new)
    assert (names(controller), controller.listing.total) == (["new"], 1)
    controller.shows_archived = True
    assert (names(controller), controller.listing.total) == (["old"], 1)


def test_words_beside_a_count_give_way_before_the_intervals_of_all_scores() -> None:
    usual, early = scored("a"), scored("b")
    assert early.summary is not None
    early.summary.tally.not_run = 1_203
    layout = row_cells.runs_narrow([usual, early], 79, 0.0)
    cells = [row_cells.run_narrow(line, row_cells.Kin(), 0.0, layout) for line in (usual, early)]
    assert [row[3].plain for row in cells] == [".878 [.81 .93]"] * 2
    assert [row[4].plain for row in cells] == ["✓ 101 ✗ 14", "✓ 101 ✗ 14 · 1,203"]
