"""Compare's rules without an interface: what is listed, stepping, growing runs, and suites that are slow or fail."""

import threading
from pathlib import Path
from typing import Any

import pytest
from support.compared_runs import CASES, CallSuite, call_run
from support.run_suites import compare_by

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.data import case_reads
from console.tui.screens.compare.controller import NUMBERS, SIDE_BY_SIDE, CompareController

LOST = ["live_multiple_131-52", "live_multiple_140-58", "live_simple_77-40-0"]
GAINED = ["live_simple_14-3-9"]


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for suites as if every machine were quick."""
    monkeypatch.setattr(case_reads, "WAIT_S", 60.0)


class Loop:
    """Collects what threads hand over; calls it in the test's own thread."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.drawn = 0
        self.arrived = threading.Event()

    def take(self, call: Any) -> None:
        self.calls.append(call)
        self.arrived.set()

    def run(self) -> None:
        assert self.arrived.wait(60)
        for call in self.calls:
            call()

    def draw(self) -> None:
        self.drawn += 1


@pytest.fixture
def two(tmp_path: Path) -> tuple[RunFolder, RunFolder]:
    return call_run(tmp_path, "0116-0904", "gpt-w", 0), call_run(tmp_path, "0117-1420", "gpt-x", 1)


def opened(a: RunFolder, b: RunFolder, case: str = "", loop: Loop | None = None) -> CompareController:
    """Return a controller whose runs are read, at the first pair."""
    loop = loop or Loop()
    controller = CompareController(a, b, (case, 0) if case else None, in_loop=loop.take, case_arrived=loop.draw)
    controller.use_runs(controller.read(None))
    controller.current_key = controller.pop_first_row() or next(iter(controller.changes))
    return controller


def listed(controller: CompareController) -> list[str]:
    return [pair.slot[0] for pair in controller.changes.values()]


def test_what_was_lost_is_listed_first_and_stepping_ends_at_both_ends(two: Any) -> None:
    controller = opened(*two)
    assert listed(controller) == [*LOST, *GAINED]
    assert controller.position_words == "1 of 4 changed"
    assert controller.step(-1) is None
    seen = []
    while (key := controller.step(1)) is not None:
        controller.current_key = key
        seen.append(controller.changes[key].slot[0])
    assert seen == [*LOST[1:], *GAINED]
    assert controller.lost_cases == tuple(LOST)


def test_scopes_and_words_narrow_the_list(two: Any) -> None:
    controller = opened(*two)
    for scope, ids in (("lost", LOST), ("gained", GAINED), ("left out", ["live_simple_92-47-0"])):
        controller.list_scope(scope)
        assert listed(controller) == ids
    controller.list_scope("all")
    assert len(listed(controller)) == len(CASES)
    controller.current_key = next(iter(controller.changes))
    assert controller.position_words == f"1 of {len(CASES)} cases"
    controller.find("LANG live")
    assert listed(controller) == ["live_simple_77-40-0", "live_simple_81-43-0"]
    controller.find("nothing like it")
    assert (listed(controller), controller.empty_words) == ([], "Nothing matches. F clears the filter.")
    assert controller.current is None


def test_it_begins_at_a_named_case_once(two: Any) -> None:
    controller = opened(*two, case=LOST[2])
    assert controller.current is not None
    assert controller.current.slot[0] == LOST[2]
    assert controller.pop_first_row() == ""


def test_a_difference_that_is_shown_as_zero_has_no_sign(two: Any) -> None:
    controller = opened(*two)
    controller.sort("time")
    lost, *_, gained = controller.cases
    lost.b.seconds, gained.b.seconds = lost.a.seconds - 0.01, gained.a.seconds - 0.2
    assert [controller.sorted_by(case) for case in (lost, gained)] == ["0.0 s", "−0.2 s"]


def test_a_named_case_that_has_not_changed_is_listed(two: Any) -> None:
    controller = opened(*two, case="live_simple_90-45-0")
    assert controller.current is not None
    assert (controller.current.slot[0], controller.scope) == ("live_simple_90-45-0", "all")


def test_runs_that_agree_list_everything(two: Any) -> None:
    controller = opened(two[0], two[0])
    assert controller.scope == "all"
    assert len(listed(controller)) == len(CASES)


def test_swapping_makes_losses_gains(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compare_by(monkeypatch, CallSuite())
    controller = opened(*two, case=LOST[0])
    before = controller.case()
    controller.swap()
    after = controller.case()
    assert listed(controller) == [*GAINED, *LOST]
    assert controller.folders == two[::-1]
    assert before is not None
    assert after is not None
    assert (after.a.rollout, after.b.rollout) == (before.b.rollout, before.a.rollout)


def test_views_go_round_and_the_numbers_are_a_toggle(two: Any) -> None:
    controller = opened(*two)
    seen = [controller.view]
    for _ in range(4):
        controller.show_next_view()
        seen.append(controller.view)
    assert seen == ["Side by side", "Talk A", "Talk B", "Numbers", "Side by side"]
    controller.toggle_numbers()
    assert controller.view == NUMBERS
    controller.toggle_numbers()
    assert controller.view == SIDE_BY_SIDE


def test_a_run_that_grows_is_noticed(two: Any) -> None:
    controller = opened(*two)
    assert not controller.has_grown
    with two[1].journal_path.open("a") as journal:
        journal.write("\n")
    assert controller.has_grown
    assert controller.pair is not None
    controller.pair.read_s = 3.0
    assert controller.look_every_s == 12.0


def test_names_of_files(two: Any) -> None:
    controller = opened(*two)
    assert controller.export_path(".md") == Path("compare-0116-0904-0117-1420.md")
    name = f"2026-11-26T2254-{'long-' * 20}b0fa1b"
    controller.folders = two[0], RunFolder(two[1].path.with_name(name))
    path = str(controller.export_path(".md"))
    assert path.endswith("long-b0fa1b.md")
    assert len(path) < 100 + len("0116-0904")


def test_a_suite_that_fails_costs_that_case_only(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(CallSuite):
        def compare(self, case: Any, *rest: Any) -> Any:
            if case.id == LOST[0]:
                raise SystemExit("no")
            return super().compare(case, *rest)

    compare_by(monkeypatch, Failing())
    controller = opened(*two)
    case = controller.case()
    assert case is not None
    assert "SystemExit: no" in case.a.fault
    controller.current_key = controller.step(1) or ""
    case = controller.case()
    assert case is not None
    assert case.a.comparison is not None
    assert not case.a.fault


def test_a_slow_suite_is_not_waited_for(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(case_reads, "WAIT_S", 0.05)

    class Slow(CallSuite):
        def compare(self, *arguments: Any) -> Any:
            let_go.wait(60)
            return super().compare(*arguments)

    compare_by(monkeypatch, Slow())
    loop = Loop()
    controller = opened(*two, loop=loop)
    assert controller.case() is None
    assert controller.case() is None, "it is read once"
    let_go.set()
    loop.run()
    assert loop.drawn == 1
    assert controller.case() is not None


def test_a_suite_that_hangs_is_left_behind(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    class Hanging(CallSuite):
        def compare(self, case: Any, *rest: Any) -> Any:
            if case.id == LOST[0]:
                let_go.wait(60)
            return super().compare(case, *rest)

    monkeypatch.setattr(case_reads, "GIVE_UP_S", 0.05)
    monkeypatch.setattr(case_reads, "WAIT_S", 0.2)
    compare_by(monkeypatch, Hanging())
    controller = opened(*two)
    assert controller.case() is None
    monkeypatch.setattr(case_reads, "WAIT_S", 60.0)
    controller.current_key = controller.step(1) or ""
    assert controller.case() is not None
    let_go.set()


def test_a_run_that_is_gone_is_said(two: Any) -> None:
    two[1].manifest_path.unlink()
    controller = CompareController(*two, in_loop=lambda call: None, case_arrived=lambda: None)
    with pytest.raises(UsageError, match=r"run\.json is missing"):
        controller.read(None)
