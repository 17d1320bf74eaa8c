"""`CaseList`: the list of cases in groups, its rows, counters and messages."""

from collections.abc import Callable
from operator import attrgetter

import msgspec
from rich.cells import cell_len
from textual.content import Content

from console.core.outcome import Outcome
from console.core.run import Manifest
from console.insight import number_format
from console.insight.failures import GroupBy
from console.insight.reasons import sentence
from console.insight.rollout import Rollout
from console.tui.render import lines
from console.tui.render.columns import GAP, Column, Face, lay_out
from console.tui.render.rollout_rows import repeat_words, slot_of, state_mark
from console.tui.sanitize import one_line
from console.tui.screens.review.case_pane import annotation_letter
from console.tui.screens.review.controller import NOT_REVIEWED, ReviewController
from console.tui.screens.review.triage import Head, Rows, Triage
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, bar
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import PaneTitle

COLUMNS = (
    Column("", 3, right=True),
    Column("case", 24, 3, is_name=True),
    Column("tag", 1),
    Column("function", 10, 2, worth=16, is_name=True),
)
"""Columns of the list, filled by `case_cells`."""
_BAR, _SHORT_BAR, _ROOM_FOR_BAR = 8, 3, 44
"""Width of a group's bar, its width in a narrow list, and the list width from which the wide one is used."""
_LEAST_REASON = 12
"""Maximum width of a reason, in cells, before its subject is cut, which distinguishes such groups."""
_LEAST_TITLE = 40
"""Minimum room for a title that does not fit, since the first words of a question do not tell it from others."""


def row_content(controller: ReviewController, key: str, width: int, *, live: bool) -> Content | tuple[Content, ...]:
    """Return the cells of a case, or the line of a group."""
    head = controller.triage.heads.get(key)
    if head is not None:
        if head.group.is_case:
            return case_line(controller, head, width)
        largest = max((group.size for group in controller.triage.groups), default=1)
        return group_line(head, largest, width)
    run = controller.run
    rollout = run.overview.rollouts.get(slot_of(key)) if run is not None else None
    return case_cells(controller, rollout, width, live=live) if rollout is not None else ()


def case_cells(controller: ReviewController, rollout: Rollout, width: int, *, live: bool) -> tuple[Content, ...]:
    """Return the cells of a case in a list of `width` cells."""
    annotation = controller.triage.annotation(rollout.slot)
    triage = controller.triage
    group = triage.group_of(rollout)
    is_below_case = group is not None and group.is_case  # whose line has the name and the title
    name = repeat_words(rollout.key) if is_below_case else controller.views.suite_view.case_name(rollout)
    title = "" if is_below_case else _title(rollout, width)
    detail = controller.views.suite_view.case_detail(rollout) or _detail(rollout, triage, title)
    value = triage.sorted_by(rollout)
    return (
        state_mark(rollout, live=live),
        one_line(name, lines.LONGEST_ID, MUTED if annotation.is_seen else ""),
        annotation_letter(annotation),
        Content.styled(value, "bold") if value else one_line(detail, 120, MUTED),
    )


def _title(rollout: Rollout, width: int) -> str:
    """Return the title of a case; empty if only its first words would fit."""
    *_, (place, _, room) = lay_out(COLUMNS, width)
    is_shown = place == len(COLUMNS) - 1 and (room >= _LEAST_TITLE or cell_len(rollout.title) <= room)
    return rollout.title if is_shown else ""


def _detail(rollout: Rollout, triage: Triage, title: str) -> str:
    """Return the detail that distinguishes the cases of a group; `title` if there is no better one."""
    group = triage.section_of(rollout)
    is_shared = group is None or rollout.subject in (group.subject, group.label)
    subject = "" if is_shared else rollout.subject
    if rollout.is_failure and rollout.reason and triage.by not in _BY_REASON:
        return sentence(rollout.reason, subject, rollout.outcome)
    return subject or rollout.function or title


_BY_REASON = (GroupBy.REASON, GroupBy.ERROR)
"""Groupings whose groups name the reason."""


def group_line(head: Head, largest: int, width: int) -> Content:
    """Return the line of a group, with a bar of its size relative to the largest group."""
    count = head.group.size
    cells = _BAR if width >= _ROOM_FOR_BAR else _SHORT_BAR
    share = bar(count / largest, cells).ljust(cells)
    fold = "" if head.is_top and not head.folds else SYMBOLS.opened if head.is_open else SYMBOLS.folded
    indent = "  " * head.depth
    left = Content.assemble(f"  {indent}" if head.is_open else indent, (f"{fold} " if fold else "", MUTED))
    number = Content.assemble(
        (f" {number_format.count(count):>{len(number_format.count(largest))}} ", "bold" if not head.is_top else MUTED)
    )
    first = next(iter(head.group.rollouts), None)
    style = OUTCOME_STYLES.get(first.outcome, MUTED) if first is not None and first.outcome is not None else MUTED
    right = number.append_text(share, MUTED if head.is_top else style)
    room = width - (0 if head.is_open else 2)
    label = _group_label(head, lines.room_beside(right, room) - left.cell_length)
    return lines.spread(left.append(label), right, room)


def _group_label(head: Head, room: int) -> Content:
    """Return the reason and its subject."""
    style = f"bold {MUTED}" if head.is_top else "bold" if head.is_open else ""
    text = f"{head.group.label}: {head.group.subject}" if head.group.subject else head.group.label
    label = one_line(text, 100, style)
    place = label.plain.find(": ")
    if place < _LEAST_REASON or label.cell_length <= room:
        return label
    reason, subject = label[:place], label[place:]
    kept = min(max(room - subject.cell_length, _LEAST_REASON), reason.cell_length)
    return lines.fit(reason, kept).append(subject)


def case_line(controller: ReviewController, head: Head, width: int) -> Content:
    """Return the line of a case with the outcome of each of its rollouts, or the id of the only listed one.

    If these are not all of its rollouts, the detail that distinguishes it within its group stands between, if it fits.
    """
    rollouts, triage = head.group.rollouts, controller.triage
    outcomes = rollouts.count_by(attrgetter("outcome"))
    annotation = triage.annotation(head.group.lead.slot)
    indent = ("  " if head.is_open else "") + "  " * head.depth
    fold = SYMBOLS.opened if head.is_open else SYMBOLS.folded if len(rollouts) > 1 else " "
    style = "bold" if head.is_open else MUTED if annotation.is_seen else ""
    label = one_line(head.group.label, lines.LONGEST_ID, style)
    ended = len(rollouts) - outcomes[None]
    share = f" ({ended} of {head.repeats})" if ended < head.repeats else ""
    if share and not triage.lists_whole_cases:
        right = state_mark(rollouts[0], live=rollouts[0].is_running).append_text(share, MUTED)
    elif len(rollouts) < width // 2:
        in_run_order = sorted(rollouts, key=lambda rollout: rollout.key.rollout)
        marks = [state_mark(rollout, live=rollout.is_running) for rollout in in_run_order]
        right = Content.assemble(*marks, (share, MUTED))
    else:
        right = Content.assemble(f"{outcomes[Outcome.PASSED]}/{ended}", (" so far" if share else "", MUTED))
    value = Content.styled(triage.sorted_by(rollouts[0]), "bold")
    right = Content("  ").join([part for part in (value, annotation_letter(annotation), right) if part.plain.strip()])
    room = width - (0 if head.is_open else 2)
    left = Content.assemble(indent, (f"{fold} ", MUTED))
    most = lines.room_beside(right, room) - left.cell_length
    repeat = ""
    if head.repeats > 1 and len(rollouts) == 1:
        words = repeat_words(rollouts[0].key)
        repeat = f" · {words}"
        if label.cell_length + len(repeat) > most:
            repeat = f" {words.replace('repeat ', 'r', 1)}"
    name = lines.fit_name(label, min(label.cell_length, max(most - len(repeat), 8)))
    left = left.append(name).append_text(repeat, style)
    if not triage.lists_whole_cases:
        detail = one_line(_detail(head.group.lead, triage, ""), 120, MUTED)
        has_room = 0 < detail.cell_length <= most - name.cell_length - len(repeat) - len(GAP)
        left = left.append(GAP).append(detail) if has_room else left
    return lines.spread(left, right, room)


def empty_text(controller: ReviewController) -> Content:
    """Return the reason that nothing is listed, and the remedy."""
    run, narrow = controller.run, controller.triage.narrow
    if run is None:
        return Content.empty()
    if not run.is_read or controller.is_listing:
        count = number_format.count(len(run.overview.rollouts))
        word = "rollout" if run.manifest.rollouts > 1 else "case"
        return Content(f"reading {number_format.plural(run.manifest.cases, word)}, {count} so far")
    if narrow.text == NOT_REVIEWED:
        return Content("Everything has been reviewed. F lists it again, E exports it.")
    if narrow.text:
        return Content.assemble("Nothing matches ", one_line(narrow.text, 100, "bold"), ". F clears the filter.")
    tally = run.overview.fold.tally
    graded = tally.done - tally.not_run
    if not graded:
        setup = f"; {tally.setup} setup done" if tally.setup else ""
        then = "2 watches the run" if run.is_live else "2 shows why, and resumes the run"
        return Content(f"Nothing has been graded yet{setup}. {then}.")
    if failures := number_format.failures(tally):
        return Content(f"None of {failures} is listed. f lists others.")
    return Content(f"No failures. {tally.passed} of {graded} passed; f then a shows the passes.")


def list_titles(
    controller: ReviewController, manifest: Manifest, *, is_searching: bool, is_live: bool = False
) -> list[Content]:
    """Return the number and kind of listed cases, activities in progress, and the run's origin, then shorter forms."""
    labels = controller.list_labels()
    return [_list_title(controller, label, manifest, is_searching=is_searching, is_live=is_live) for label in labels]


def _list_title(
    controller: ReviewController, label: str, manifest: Manifest, *, is_searching: bool, is_live: bool
) -> Content:
    listed = controller.triage.listed
    count = f"{number_format.count(listed)} "
    outcomes = controller.triage.outcomes
    if label.startswith("failures") and outcomes.get(Outcome.FAILED, 0) < sum(outcomes.values()):
        count, label = number_format.failures_by(outcomes), label.removeprefix("failures")
    elif listed == 1 and label.startswith(("failures", "cases", "loops")):
        label = label.replace("s ", " ", 1)
    is_counting = controller.is_listing and not is_live
    number = ("listing … ", "$live") if is_counting else (count, "bold")
    title = Content.assemble(number, one_line(label, 60, MUTED))
    if is_searching:
        title = title.append_text("  searching all texts …", "$live")
    origin = f"{manifest.experiment.words}, " if manifest.experiment is not None else ""
    origin += f"branch of {manifest.parent}" if manifest.parent else ""
    origin += f"regraded from {manifest.regraded}" if manifest.regraded else ""
    origin += f"shard {manifest.shard}" if manifest.shard else ""
    origin += f"merged from {len(manifest.merged)} runs" if manifest.merged else ""
    return title.append("  ").append(one_line(origin, 60, "$undecided")) if origin else title


def list_hint(damages: int, order: str, *, is_narrowed: bool, has_repeats: bool) -> Content:
    """Return the number of unreadable journal lines, the chosen order, and the keys of the list."""
    keys = "→ repeats  " if has_repeats else ""
    keys += "F shows all  o group" if is_narrowed else "f filter  o group"
    damaged = f"{number_format.plural(damages, 'unreadable line')}  " if damages else ""
    return Content.assemble((damaged, "$broken"), (f"{order}  " if order else "", "bold"), (keys, MUTED))


def end_of_list_text(controller: ReviewController, by: int) -> Content:
    """Return a message that there is no next case, with the number of cases not reviewed yet."""
    count = controller.triage.items
    if not count:
        return Content("Nothing is listed.")
    words = "This is the last one" if by > 0 else "This is the first one"
    return Content(f"{words}; {count - controller.triage.seen} of {count} not reviewed yet.")


class CaseList(RowList):
    """The list widget, independent of cases."""

    def __init__(self, go_to_end: Callable[[int], object]) -> None:
        """Create an empty list; `go_to_end` selects the case at a place in reading order, 0 or -1."""
        super().__init__(COLUMNS, id="list", classes="pane", empty=Content("reading the run …"))
        self._go_to_end = go_to_end
        self.pane_title = PaneTitle("list", id="list-caption")

    def show_rows(
        self,
        rows: Rows | None,
        draw: Callable[[str, int], Face],
        *,
        cursor: str | None,
        empty: Content,
        value_width: int = 0,
    ) -> None:
        """Show rows, drawn by `draw` for a width in cells, with the cursor on a key; None keeps the cursor.

        Values, unlike descriptions, are never omitted; `value_width` is that of their column, 0 without values.
        """
        mark, case, tag, description = COLUMNS
        indent = 2 * rows.depth if rows else 0
        last = Column("value", value_width, right=True) if value_width else description
        case = Column(case.name, rows.longest_repeat) if rows and rows.longest_repeat else case
        self.columns = (msgspec.structs.replace(mark, width=mark.width + indent), case, tag, last)
        self.show(
            rows or (),
            draw=lambda key: draw(key, self.room),
            fixed=rows.fixed if rows else frozenset[str](),
            empty=empty,
            place_of=rows.place_of if rows else None,
        )
        if cursor is not None:
            self.move_to(cursor)

    def move_to_first(self) -> None:
        """Go to the first case of all groups; its group unfolds."""
        self._go_to_end(0)
        self.go_to(0)

    def move_to_last(self) -> None:
        """Go to the last case of all groups; its group unfolds."""
        self._go_to_end(-1)
        self.go_to(len(self.keys))
