"""The rules of Review, without a screen and without an event loop."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.run_suites import ReviewedSuite

from console.core.case import Case, Key, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.insight.conversation import Conversation
from console.insight.failures import GroupBy
from console.insight.overview import Overview
from console.insight.rollout import Rollout
from console.insight.rollouts import RolloutList
from console.insight.sort_orders import Sorting
from console.store.notes import Note, Notes
from console.suites.run_suite import RunSuite
from console.suites.suite import Report
from console.tui.data.throttle import Throttle
from console.tui.screens.review import listing
from console.tui.screens.review.case_list import empty_text, end_of_list_text, list_titles, row_content
from console.tui.screens.review.case_loader import CaseLoader
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.listing import AT_ONCE, SLICE, Lister, ListPace, listings
from console.tui.screens.review.stale import Stale
from console.tui.screens.review.status_line import status_text
from console.tui.screens.review.triage import Triage
from console.tui.widgets.top_line import SubjectWidths


class RunDouble:
    """A run of which some cases have ended, without a journal."""

    def __init__(self, *, is_read: bool = True) -> None:
        """Begin a run of four cases."""
        self.manifest = Manifest("r", 0.0, "weather", ModelFacts("m"), Setting(), cases=4)
        self.overview = Overview()
        self.overview.apply(Opened(1.0, pid=1))
        self.is_read = is_read
        self.is_live = False
        self.conversations: dict[Key, Conversation] = {}

    def end(
        self,
        case_id: str,
        outcome: Outcome = Outcome.FAILED,
        reason: str = "value_error:string",
        rollout: int = 0,
        subject: str = "unit",
    ) -> None:
        """End a case."""
        key, case = Key(case_id, rollout), Case(case_id, "simple", {})
        verdict = Verdict(outcome, reason, subject, ("wrong unit",))
        conversation = self.conversations.setdefault(key, Conversation(key))
        for record in (Started(1.0, key, case), Finished(2.0, key, output={}, verdict=verdict)):
            self.overview.apply(record)
            conversation.apply(record)

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation, as a feed does."""
        return self.conversations[key]

    def prefetch(self, keys: Sequence[Key]) -> None:
        """Everything is at hand."""

    def is_kept(self, key: Key) -> bool:
        """Everything is at hand."""
        return True


class SuiteDouble(ReviewedSuite):
    """Compares when it is let."""

    def __init__(self) -> None:
        """Compare at once."""
        super().__init__()
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.threads: set[str] = set()

    def compare(self, *arguments: Any) -> Comparison:
        """Note the thread, and compare."""
        self.threads.add(threading.current_thread().name)
        self.may_go_on.wait(120)
        return Comparison(sentence="wrong value: unit")

    def report(self, *arguments: Any) -> Report:
        """Note the thread, and sum up."""
        self.threads.add(threading.current_thread().name)
        self.may_go_on.wait(120)
        return Report(())


class Loop:
    """Collects what threads want done, as the interface's loop does."""

    def __init__(self) -> None:
        """Do nothing until `turn`."""
        self.callbacks: list[Callable[[], None]] = []
        self.changes = 0

    def take(self, callback: Callable[[], None]) -> None:
        """Take a call from any thread."""
        self.callbacks.append(callback)

    def note_change(self) -> None:
        """Count what comes late."""
        self.changes += 1

    def turn(self) -> None:
        """Wait for a call, and do it."""
        until = time.monotonic() + 60
        while not self.callbacks and time.monotonic() < until:
            time.sleep(0.001)
        self.callbacks.pop(0)()


def make(
    tmp_path: Path, run: RunDouble, case: str = "", suite: Any = None, at_once: int = AT_ONCE
) -> tuple[ReviewController, CaseLoader, Loop]:
    loop = Loop()
    loader = CaseLoader(loop.take, loop.note_change, when_idle=lambda call: None)
    slot = (case, 0) if case else None
    controller = ReviewController(Notes(tmp_path), loader, Lister(loop.take, loop.note_change, at_once=at_once), slot)
    controller.open(run)
    if suite is not None:
        controller.use_suite(RunSuite(run.manifest, suite))
    controller.relist()
    controller.keep_cursor()
    return controller, loader, loop


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Wait for suites as if every machine were quick; a test may set another number of seconds."""

    def wait(seconds: float) -> None:
        for module in ("data.case_reads", "screens.review.case_loader"):
            monkeypatch.setattr(f"console.tui.{module}.WAIT_S", seconds)

    wait(60.0)
    return wait


@pytest.fixture
def run() -> RunDouble:
    """Three failures for two reasons, and a pass."""
    run = RunDouble()
    run.end("a", reason="value_error:string")
    run.end("b", reason="ast_decoder:decoder_failed")
    run.end("c", reason="value_error:string")
    run.end("d", Outcome.PASSED, "")
    return run


def current(controller: ReviewController) -> str:
    return controller.cursor.slot[0] if controller.cursor.slot else ""


def listed(controller: ReviewController) -> list[str]:
    return [rollout.key.case for rollout in controller.triage.order]


def test_it_opens_on_the_first_failure_of_the_largest_group(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    assert listed(controller) == ["a", "c", "b"]
    assert current(controller) == "a"
    assert controller.pop_stale() == Stale.LIST | Stale.CASE | Stale.FIGURES
    assert controller.pop_stale() is Stale.NOTHING
    assert controller.list_labels() == ["failures · by reason"]


def test_a_case_that_was_asked_for_is_gone_to_even_if_it_passed(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run, "d")
    assert current(controller) == "d"
    assert listed(controller) == ["a", "c", "b", "d"]


def test_steps_stop_at_both_ends(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    assert not controller.cursor.step(-1)
    assert [(controller.cursor.step(1), current(controller)) for _ in range(3)] == [
        (True, "c"),
        (True, "b"),
        (False, "b"),
    ]
    assert end_of_list_text(controller, 1).plain == "This is the last one; 3 of 3 not reviewed yet."


def test_groups_are_stepped_through_and_unfold_one_at_a_time(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    rows = controller.triage.rows(run.overview.rollouts)
    keys, fixed = list(rows), rows.fixed
    assert sum(key in controller.triage.heads for key in keys) == 2
    assert len(keys) == 4  # two groups, the first of them open
    controller.cursor.step_group(1)
    assert current(controller) == "b"
    controller.cursor.step_group(1)
    assert current(controller) == "b"
    rows = controller.triage.rows(run.overview.rollouts)
    keys, fixed = list(rows), rows.fixed
    folded = next(key for key in keys if key in controller.triage.heads and key not in fixed)
    controller.cursor.enter_row(folded)
    assert current(controller) == "c"  # from below: the last of the group


def test_what_arrives_moves_the_cursor_only_until_the_run_is_read(tmp_path: Path, run: RunDouble) -> None:
    run.is_read = False
    controller, _, _ = make(tmp_path, run)
    Notes(tmp_path).add(Note(Key("a"), "tag", "model"))
    controller.read_notes()
    controller.relist()
    assert current(controller) == "c"  # the first that nobody has tagged
    run.is_read = True
    controller.keep_cursor()
    run.end("e", reason="ast_decoder:decoder_failed")
    run.end("f", reason="ast_decoder:decoder_failed")
    controller.relist()
    assert current(controller) == "c"
    assert listed(controller) == ["a", "c", "b", "e", "f"]  # groups keep their place


def test_filters_narrow_and_are_cleared(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    controller.set_scope("")
    assert controller.list_labels() == ["cases · by reason"]
    assert listed(controller) == ["a", "c", "b", "d"]
    controller.add_to_filter('error:"value_error:string"', 'subject:"unit"')
    assert listed(controller) == ["a", "c"]
    controller.clear_filter()
    assert listed(controller) == ["a", "c", "b"]
    controller.regroup(GroupBy.NONE)
    assert listed(controller) == ["a", "b", "c"]
    assert controller.list_labels() == ["failures"]


def test_the_cursor_goes_back_to_the_case_that_a_filter_took_away(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    controller.cursor.step(1)
    before = current(controller)
    for typed in ("id:", "id:nobody", f"id:{before}"):
        controller.narrow(typed, done=False)
        controller.relist()
    assert current(controller) == before
    controller.narrow("id:a", done=True)
    controller.relist()
    assert current(controller) == "a"
    controller.clear_filter()
    assert current(controller) == before
    controller.cursor.step(-1)
    moved = current(controller)
    controller.narrow("id:nobody", done=True)
    controller.relist()
    controller.clear_filter()
    assert current(controller) == moved


def test_a_filter_that_cannot_be_read_filters_nothing_and_says_why(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    assert "reason" in controller.narrow("reson:unit", done=False)
    controller.relist()
    assert len(listed(controller)) == 3
    assert "Did you mean reason?" in controller.filter_mistake
    controller.narrow("reson:unit", done=True)
    assert controller.filter_mistake == ""
    assert controller.narrow("reason:unit", done=True) == ""


def test_words_found_in_conversations_count_as_matches(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    controller.triage.matches = {
        "zebra": [rollout for rollout in run.overview.rollouts.values() if rollout.slot == ("b", 0)]
    }
    controller.narrow("zebra", done=True)
    controller.relist()
    assert listed(controller) == ["b"]
    assert current(controller) == "b"


def test_setup_is_no_graded_case_and_nothing_has_no_last_one(tmp_path: Path) -> None:
    run = RunDouble()
    run.overview.apply(Started(1.0, Key("p"), Case("p", "simple", graded=False)))
    run.overview.apply(Finished(2.0, Key("p"), verdict=Verdict(Outcome.PASSED)))
    controller, _, _ = make(tmp_path, run)
    run.is_live = True
    assert empty_text(controller).plain == "Nothing has been graded yet; 1 setup done. 2 watches the run."
    run.is_live = False
    assert empty_text(controller).plain.endswith("1 setup done. 2 shows why, and resumes the run.")
    assert end_of_list_text(controller, 1).plain == "Nothing is listed."


def test_why_nothing_is_listed(tmp_path: Path, run: RunDouble) -> None:
    empty = RunDouble()
    controller, _, _ = make(tmp_path, empty)
    assert empty_text(controller).plain == "Nothing has been graded yet. 2 shows why, and resumes the run."
    assert current(controller) == ""
    empty.is_read = False
    assert empty_text(controller).plain == "reading 4 cases, 0 so far"
    empty.is_read = True
    empty.end("a", Outcome.PASSED, "")
    controller.relist()
    assert empty_text(controller).plain == "No failures. 1 of 1 passed; f then a shows the passes."
    empty.end("b")
    controller.set_scope("is:disputed")
    assert empty_text(controller).plain == "None of 1 failed is listed. f lists others."
    controller, _, _ = make(tmp_path, run)
    controller.narrow("nowhere", done=True)
    controller.relist()
    assert empty_text(controller).plain == "Nothing matches nowhere. F clears the filter."
    controller.clear_filter()
    controller.add_to_filter("!is:reviewed")
    for _ in range(3):
        controller.annotate_and_go_on("reviewed", "yes")
    assert empty_text(controller).plain == "Everything has been reviewed. F lists it again, E exports it."


def test_rows_are_counted_as_such_where_a_case_has_several(tmp_path: Path) -> None:
    """A case stands under each of the reasons for which its repeats failed."""
    run = RunDouble()
    run.manifest = msgspec.structs.replace(run.manifest, rollouts=2)
    for rollout, reason in enumerate(("value_error:string", "wrong_count")):
        run.end("a", reason=reason, rollout=rollout)
    controller, _, _ = make(tmp_path, run)
    for by, place in ((GroupBy.REASON, "1 of 2 rows"), (GroupBy.NONE, "✗ 1 of 1")):
        controller.triage.regroup(by)
        controller.relist()
        controller.keep_cursor()
        status = status_text(controller, run.overview, run.manifest, 120, SubjectWidths(46, 36, 20)).plain
        assert status.endswith(f"   {place}  0 reviewed"), status


def test_a_reason_stands_once_above_its_subjects_and_their_cases(tmp_path: Path) -> None:
    run = RunDouble()
    run.manifest = msgspec.structs.replace(run.manifest, rollouts=2)
    for case, subject in (("a", "unit"), ("b", "unit"), ("c", "city"), ("d", "day")):
        run.end(case, rollout=1, subject=subject)
    controller, _, _ = make(tmp_path, run)
    controller.triage.regroup(GroupBy.REASON)
    controller.relist()

    def rows(width: int) -> list[str]:
        return [" ".join(str(row_content(controller, key, width, live=False)).split()) for key in controller.rows()]

    heads = ["wrong value 4 ████████", "▾ unit 2 ████", "▸ others 2 ████"]
    assert rows(60) == [*heads[:2], "a · repeat 2 ✗ (1 of 2)", "b · repeat 2 ✗ (1 of 2)", heads[2]]
    assert len(controller.rows().fixed) == 2, "the headings of the case under the cursor"
    controller.cursor.step_group(1)
    assert rows(60)[-2:] == ["c · repeat 2 city ✗ (1 of 2)", "d · repeat 2 day ✗ (1 of 2)"]
    assert rows(24)[-1] == "d r2 ✗ (1 of 2)", "the detail gives way"


def test_a_row_names_the_reason_unless_its_group_does(tmp_path: Path) -> None:
    run = RunDouble()
    for case, subject in (("a", "unit"), ("b", "unit"), ("c", "city")):
        run.end(case, subject=subject)
    run.end("d", reason="wrong_count", subject="")
    controller, _, _ = make(tmp_path, run)

    def details(by: GroupBy) -> list[str]:
        controller.triage.regroup(by)
        controller.relist()
        faces = [row_content(controller, key, 80, live=False) for key in controller.rows()]
        return [face[-1].plain for face in faces if isinstance(face, tuple)]

    reasons = ["wrong value: unit", "wrong value: unit", "wrong value: city", "wrong count"]
    assert details(GroupBy.NONE) == reasons
    assert details(GroupBy.PARAMETER)[:2] == ["wrong value", "wrong value"]
    controller.triage.regroup(GroupBy.REASON)
    controller.relist()
    assert details(GroupBy.REASON) == ["", ""], "the group names the subject, also of a single case"
    controller.cursor.step_group(1)
    faces = [row_content(controller, key, 80, live=False) for key in controller.rows()]
    assert [face[-1].plain for face in faces if isinstance(face, tuple)] == [""]


def test_the_title_keeps_the_filter_before_the_grouping(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    controller.add_to_filter("!is:reviewed")
    assert controller.list_labels()[:2] == ["failures · not reviewed · by reason", "failures · not reviewed"]
    run.manifest = msgspec.structs.replace(run.manifest, rollouts=2)
    controller, _, _ = make(tmp_path, run)
    controller.add_to_filter("tag:none")
    controller.add_to_filter("!is:reviewed")
    assert controller.list_labels() == [
        "cases with failures · untagged, not reviewed · by repeats",
        "cases with failures · untagged, not reviewed",
        "cases · untagged, not reviewed",
    ]


def test_a_note_on_a_repeat_goes_on_to_the_next_failure(tmp_path: Path) -> None:
    run = RunDouble()
    run.manifest = msgspec.structs.replace(run.manifest, rollouts=4)
    for case in ("a", "b"):
        for rollout, outcome in enumerate((Outcome.PASSED, Outcome.FAILED, Outcome.PASSED, Outcome.FAILED)):
            run.end(case, outcome, rollout=rollout)
    controller, _, _ = make(tmp_path, run)
    controller.cursor.unfold()
    slots = [controller.cursor.slot]
    for _ in range(2):
        controller.annotate_and_go_on("reviewed", "yes")
        slots.append(controller.cursor.slot)
    assert slots == [("a", 1), ("a", 3), ("b", 1)]


def test_a_note_goes_on_to_the_next_case_and_undo_goes_back(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    controller.annotate_and_go_on("tag", "model")
    controller.annotate_and_go_on("tag", "grader")
    assert current(controller) == "b"
    assert controller.triage.seen == 2
    assert status_text(controller, run.overview, run.manifest, 120, SubjectWidths(46, 36, 20)).plain.endswith(
        "3 of 3  2 reviewed"
    )
    for room, rest in ((49, ".250 [.05 .70]   ✗ 3 of 3"), (38, ".250   ✗ 3 of 3")):  # as while a model labels
        narrow = status_text(controller, run.overview, run.manifest, room, SubjectWidths(28, 20, 9)).plain
        assert narrow.endswith(rest), narrow
    (note,) = controller.undo()
    assert (note.key.case, note.value) == ("c", "")
    assert current(controller) == "c"
    assert {case: annotation.tag for (case, _), annotation in Notes(tmp_path).annotations().items()} == {"a": "model"}
    controller.annotate([run.overview.rollouts["a", 0]], "tag", "data")
    controller.undo()
    assert controller.triage.annotation(("a", 0)).tag == "model"
    controller.undo()
    assert not Notes(tmp_path).annotations()
    assert controller.undo() == ()


def test_a_note_that_cannot_be_kept_changes_nothing(
    tmp_path: Path, run: RunDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Notes, note: Note) -> Note:
        raise UsageError("the note cannot be saved: read-only")

    controller, _, _ = make(tmp_path, run)
    monkeypatch.setattr(Notes, "add", refuse)
    with pytest.raises(UsageError, match="cannot be saved"):
        controller.annotate_and_go_on("tag", "model")
    assert current(controller) == "a"
    assert controller.undo() == ()


def test_views_follow_each_other_and_the_same_key_goes_back(tmp_path: Path, run: RunDouble) -> None:
    controller, _, _ = make(tmp_path, run)
    assert [view.name for view in controller.views.of_case()] == ["Diff", "Talk", "Truth", "Tools", "Scores", "Raw"]
    controller.views.step(-1)
    assert controller.views.current.name == "Raw"
    controller.views.step(1)
    assert controller.views.current.name == "Diff"
    controller.views.toggle("talk")
    assert controller.views.current.name == "Talk"
    controller.views.toggle("talk")
    assert controller.views.current.name == "Diff"
    controller.views.toggle("attempts")  # which the case does not have
    assert controller.views.current.name == "Diff"


def test_a_suite_runs_in_its_own_thread_and_quick_answers_are_there_at_once(tmp_path: Path, run: RunDouble) -> None:
    suite = SuiteDouble()
    controller, loader, loop = make(tmp_path, run, suite=suite)
    shown = controller.case.for_drawing(controller.views)
    assert shown is not None
    assert shown.case.comparison == Comparison(sentence="wrong value: unit")
    assert isinstance(shown.report(), Report)
    assert suite.threads == {"suite"}
    assert loop.changes == 0
    loader.close()


def test_a_slow_suite_is_waited_for_only_for_a_moment(
    tmp_path: Path, run: RunDouble, patience: Callable[[float], None]
) -> None:
    suite = SuiteDouble()
    controller, loader, loop = make(tmp_path, run, suite=suite)
    suite.may_go_on.clear()
    patience(0.05)
    begun = time.monotonic()
    shown = controller.case.for_drawing(controller.views)
    assert shown is not None
    assert shown.case.comparison is None
    assert shown.case.why == "comparing expected and actual …"
    assert shown.report() == "the report is being computed"
    assert time.monotonic() - begun < 60
    patience(60.0)
    suite.may_go_on.set()
    loop.turn()
    loop.turn()
    assert loop.changes == 2
    shown = controller.case.for_drawing(controller.views)
    assert shown is not None
    assert shown.case.comparison is not None
    assert isinstance(shown.report(), Report)
    loader.close()


def test_what_was_only_prefetched_draws_nothing(tmp_path: Path, run: RunDouble) -> None:
    controller, loader, loop = make(tmp_path, run, suite=SuiteDouble())
    controller.case.prefetch_neighbors()
    shown = controller.case.for_drawing(controller.views)  # after those that were prefetched, in the same thread
    assert shown is not None
    assert not loop.callbacks
    loader.close()


def test_without_a_suite_the_case_says_why(tmp_path: Path, run: RunDouble) -> None:
    controller, *_ = make(tmp_path, run)
    controller.use_suite(RunSuite(run.manifest, None, "it is not here"))
    shown = controller.case.for_drawing(controller.views)
    assert shown is not None
    assert shown.case.why == "the suite cannot be opened: it is not here"
    assert shown.report() == "the suite cannot be opened: it is not here"


def test_the_list_of_a_growing_run_waits_longer_when_it_takes_longer() -> None:
    now = [10.0]
    pace = ListPace(clock=lambda: now[0])
    assert not pace.is_due
    pace.note_news()
    assert pace.is_due
    pace.begin()
    now[0] += 0.2
    pace.note_news()
    assert not pace.is_due
    pace.end()
    pace.note_news()
    now[0] += 1.3
    assert not pace.is_due
    now[0] += 0.2
    assert pace.is_due


def test_a_long_run_is_listed_beside_the_loop(tmp_path: Path, run: RunDouble) -> None:
    controller, _, loop = make(tmp_path, run, at_once=0)
    assert controller.is_listing
    assert not controller.triage.order
    assert "reading" in empty_text(controller).plain
    loop.turn()
    assert not controller.is_listing
    assert listed(controller) == ["a", "c", "b"]
    assert current(controller) == "a"


def test_a_list_that_takes_time_says_so_until_it_is_whole(tmp_path: Path, run: RunDouble) -> None:
    controller, _, loop = make(tmp_path, run, at_once=0)
    loop.turn()
    controller.pop_stale()
    controller.regroup(GroupBy.CATEGORY)
    assert Stale.FIGURES in controller.pop_stale()
    assert list_titles(controller, run.manifest, is_searching=False)[0].plain.startswith("listing … ")
    while controller.is_listing:
        loop.turn()
    assert list_titles(controller, run.manifest, is_searching=False)[0].plain.startswith("3 ")


def test_of_two_filters_typed_in_a_row_only_the_last_is_listed(tmp_path: Path, run: RunDouble) -> None:
    controller, _, loop = make(tmp_path, run, at_once=0)
    loop.turn()
    controller.narrow("id:a", done=False)
    controller.relist()
    controller.narrow("id:b", done=False)
    controller.relist()
    while controller.is_listing:
        loop.turn()
    assert listed(controller) == ["b"]
    assert current(controller) == "b"


def test_news_while_a_list_is_made_are_listed_after_it(tmp_path: Path, run: RunDouble) -> None:
    controller, _, loop = make(tmp_path, run, at_once=0)
    run.end("e")
    controller.relist()
    while controller.is_listing:
        loop.turn()
    assert listed(controller) == ["a", "c", "e", "b"]


def test_a_slow_filter_shows_what_it_has_so_far_and_leaves_the_cursor_alone(run: RunDouble) -> None:
    for number in range(3 * SLICE):
        run.end(f"n{number}", reason="type_error:simple")
    triage, times = Triage(), iter(range(0, 1000, 10))  # seconds: each portion is long due
    portions = list(listings(triage.request(), run.overview.rollouts.all(), clock=lambda: next(times)))
    assert [portion.is_whole for portion in portions] == [False, False, False, False, True]
    counts = [len(portion.order) for portion in portions]
    assert counts == sorted(counts)
    assert counts[-1] == 3 * SLICE + 3
    rollouts = run.overview.rollouts
    for portion in portions:
        for place in (1, len(portion.order) // 2, len(portion.order)):
            assert portion.place_of(portion.order[place - 1]) == place
    triage.use_listing(portions[-1])
    triage.open_group_of(rollouts["n7", 0])
    rows = triage.rows(rollouts)
    assert [rows.place_of(rows[place]) for place in range(0, len(rows), 97)] == list(range(0, len(rows), 97))
    assert rows.place_of("0/nobody") is None


def test_portions_of_a_slow_list_become_rarer(run: RunDouble) -> None:
    for number in range(40 * SLICE):
        run.end(f"n{number}")
    times = iter(step * 0.1 for step in range(1000))
    portions = list(listings(Triage().request(), run.overview.rollouts.all(), clock=lambda: next(times)))
    assert 3 <= len(portions) <= 6


def test_the_first_portion_of_a_long_list_comes_before_any_time_is_up(
    run: RunDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9 * SLICE):
        run.end(f"n{number}")
    monkeypatch.setattr(listing, "FIRST_PORTION", 2 * SLICE)
    portions = listings(Triage().request(), run.overview.rollouts.all(), clock=lambda: 0.0)
    assert [round(len(portion.order) / SLICE) for portion in portions] == [3, 9]


def test_a_thread_that_computes_rests_as_long_but_never_for_long() -> None:
    computed, rests = iter([0.0, 0.004, 0.004, 0.005, 0.005, 2.0, 2.0]), list[float]()
    throttle = Throttle(lambda: next(computed), rests.append)
    for _ in range(3):
        throttle()
    assert rests == pytest.approx([0.004, 0.001, 0.01])


def test_a_list_that_nobody_wants_any_more_ends(run: RunDouble) -> None:
    assert not list(listings(Triage().request(), run.overview.rollouts.all(), lambda: True))


def test_cases_with_repeats_are_sorted_by_the_value_that_they_show() -> None:
    """A case stands at the place of its slowest repeat, even if an earlier list had another order."""
    seconds = {"a": (1.0, 2.0), "b": (3.0, 0.5), "c": (0.1, 2.5)}
    rollouts = [
        Rollout(Key(case, rollout), 2 * place + rollout, outcome=Outcome.FAILED, reason="wrong", seconds=value)
        for place, (case, values) in enumerate(seconds.items())
        for rollout, value in enumerate(values)
    ]
    triage = Triage()
    triage.repeats = 2
    for column, order in ((None, "abc"), ("time", "bca"), ("id", "abc"), (None, "abc")):
        triage.sorting = Sorting(column) if column else None
        for each in listings(triage.request(), RolloutList.of(rollouts)):
            triage.use_listing(each)
        assert "".join(leaf.rollouts[0].key.case for leaf in triage.leaves) == order
        if column == "time":
            assert [triage.sorted_by(leaf.rollouts[0]) for leaf in triage.leaves] == ["3.0 s", "2.5 s", "2.0 s"]
