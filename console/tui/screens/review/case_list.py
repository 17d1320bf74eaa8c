"""The list side of Review: rows, the cursor, stepping from failure to failure, and what to say without rows."""

from textual import on
from textual.content import Content

from console.insight import number_format
from console.insight.rollout import Rollout
from console.tui.render import lines
from console.tui.render.bars import bar
from console.tui.render.loop_facts import accepted
from console.tui.render.progress import outcome_counts, title_words
from console.tui.render.rollout_rows import row_key, slot_of, state_mark
from console.tui.render.symbols import OUTCOME_STYLES, SYMBOLS
from console.tui.sanitize import one_line
from console.tui.screens.review.case_header import counters, remark_sign
from console.tui.screens.review.filters import UNSEEN, Choosing
from console.tui.screens.review.triage import Head
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import Column, RowList

MUTED = "$muted"
ROWS = (Column("", 3, right=True), Column("case", 24, 3), Column("tag", 1), Column("function", 10, 2, from_width=44))


class Listing(Choosing):
    """Keeps `#list` in step with what is listed and with the current case."""

    moved = False
    """Whether the cursor belongs to the reader already."""

    @property
    def case_list(self) -> RowList:
        """The list of cases."""
        return self.query_one("#list", RowList)

    # Listing ---------------------------------------------------------------------------------------------------------

    def relist(self) -> None:
        """Group and draw the list again; the cursor stays on its case, or goes to the first nobody has dealt with."""
        if self.feed is None:
            return
        self.triage.refresh(self.feed.overview.rollouts.values())
        wanted = self._wanted() if self.current is None or not self.moved else None
        if wanted is not None:
            self.go(wanted)
        elif self.current is None or not self.triage.place_of(self.current):
            self._leave_unlisted()
        self._draw_list()
        self.draw_figures()

    def _wanted(self) -> Rollout | None:
        """Return where the cursor belongs before the reader has moved it."""
        assert self.feed is not None
        if self.wanted_case:
            found = self.feed.overview.rollouts.get((self.wanted_case, 0))
            if found is not None and not self.triage.place_of(found.slot) and self.feed.is_read:
                self.triage.scope = self.triage.narrow
                self.triage.refresh(self.feed.overview.rollouts.values())
            return found
        return self.triage.first_unseen()

    def _leave_unlisted(self) -> None:
        """The current case is not listed any more: go to the first that is, unless nothing is."""
        first = self.triage.first_unseen()
        if first is not None:
            self.go(first)
            return
        self.current = None
        self._draw_list()
        self.show_case()

    def _draw_list(self) -> None:
        if self.current is not None:
            self.triage.open_group_of(self.current)
        keys, fixed = self.triage.rows(with_tops=self.has_class("-wide"))
        if not self.triage.order:
            keys = []
        self.case_list.show(keys, draw=self._draw_row, fixed=fixed, empty=self._empty_words())
        if self.current is not None:
            self.case_list.move_to(row_key(self.current))

    # The cursor ------------------------------------------------------------------------------------------------------

    def go(self, rollout: Rollout | None) -> None:
        """Make a case the current one, unfold its group and show it."""
        if rollout is None:
            return
        self.current = rollout.slot
        if self.triage.open_group_of(rollout.slot):
            self._draw_list()
        self.case_list.move_to(row_key(rollout.slot))
        self.show_case()

    @on(RowList.RowHighlighted, "#list")
    def _highlighted(self, event: RowList.RowHighlighted) -> None:
        """Follow the cursor; a folded group opens when the cursor comes onto its line."""
        if event.key != self.case_list.cursor:
            return
        head = self.triage.heads.get(event.key)
        if head is not None:
            self.moved = True
            members = head.group.rollouts
            going_up = self.triage.place_of(members[0].slot) < self.triage.place_of(self.current)
            self.go(members[-1] if going_up else members[0])
        elif slot_of(event.key) != self.current and self.feed is not None:
            self.moved = True
            self.go(self.feed.overview.rollouts.get(slot_of(event.key)))

    def action_fail_next(self) -> None:
        """Go to the next failure, or to the next place found."""
        self._step(1)

    def action_fail_prev(self) -> None:
        """Go to the previous failure, or to the previous place found."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if self.step_found(by):
            return
        self.moved = True
        rollout = self.triage.step(self.current, by)
        if rollout is None:
            left = len(self.triage.order) - self.triage.seen
            words = "That was the last one" if by > 0 else "This is the first one"
            self.services.notify(Content(f"{words}; {left} of {len(self.triage.order)} not reviewed yet."))
        self.go(rollout)

    def action_group_next(self) -> None:
        """Go to the first case of the next reason."""
        self._step_group(1)

    def action_group_prev(self) -> None:
        """Go to the first case of the previous reason."""
        self._step_group(-1)

    def _step_group(self, by: int) -> None:
        self.moved = True
        leaves = [leaf for found in self.triage.groups for leaf in found.leaves]
        places = {leaf.path: place for place, leaf in enumerate(leaves)}
        target = places.get(self.triage.open_path, -by) + by
        if 0 <= target < len(leaves):
            self.go(leaves[target].rollouts[0])

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _draw_row(self, key: str) -> Content | tuple[Content, ...]:
        head = self.triage.heads.get(key)
        if head is not None:
            return self._draw_head(head)
        rollout = self.feed.overview.rollouts.get(slot_of(key)) if self.feed else None
        if rollout is None:
            return ()
        annotation = self.triage.annotation(rollout.slot)
        return (
            state_mark(rollout, live=self.feed is not None and self.feed.is_live),
            one_line(self._called(rollout), 120, MUTED if annotation.is_seen else ""),
            remark_sign(annotation),
            one_line(self._aside(rollout), 120, MUTED),
        )

    def _called(self, rollout: Rollout) -> str:
        """Return what a case is called; a loop by its question."""
        if not self.loops or not rollout.title:
            return str(rollout.key)
        return f"{rollout.title} #{rollout.key.rollout + 1}" if rollout.key.rollout else rollout.title

    def _aside(self, rollout: Rollout) -> str:
        """Return what tells the members of a group apart."""
        if self.loops:
            return number_format.plural(accepted(rollout), "answer")
        group = self.triage.group_of(rollout.slot)
        shared = group is None or group.subject or (len(group.path) > 1 and group.path[-1])
        return rollout.function or rollout.title if shared else rollout.subject or rollout.function or rollout.title

    def _draw_head(self, head: Head) -> Content:
        width = self.case_list.scrollable_content_region.width - (0 if head.is_open else 2)
        largest = max((found.count for found in self.triage.groups), default=1)
        drawn = bar(head.group.count / largest, 8).ljust(8)
        style = f"bold {MUTED}" if head.is_top else "bold" if head.is_open else ""
        label = one_line(head.group.label, 100, style)
        if (head.top_label and not head.depth) or head.group.subject:
            label = one_line(
                f"{head.top_label or head.group.label}: {head.group.subject or head.group.label}", 100, style
            )
        fold = " " if head.is_top else SYMBOLS.opened if head.is_open else SYMBOLS.folded
        indent = "  " * head.depth
        left = Content.assemble(f"  {indent}" if head.is_open else indent, (f"{fold} ", MUTED), label)
        count = Content.assemble((f"{number_format.count(head.group.count):>5} ", "bold" if not head.is_top else MUTED))
        first = next(iter(head.group.rollouts), None)
        style = OUTCOME_STYLES.get(first.outcome, MUTED) if first is not None and first.outcome is not None else MUTED
        return lines.spread(left, count.append_text(drawn, MUTED if head.is_top else style), width)

    def _empty_words(self) -> Content:
        feed = self.feed
        if feed is None:
            return Content.empty()
        if not feed.is_read:
            read = len(feed.overview.rollouts)
            return Content(
                f"reading {number_format.plural(feed.manifest.cases, 'rollout')}, {number_format.count(read)} so far"
            )
        if self.triage.narrow.text == UNSEEN:
            return Content("Everything has been reviewed. F lists it again, E exports it.")
        if self.triage.narrow.text:
            words = one_line(self.triage.narrow.text, 100, "bold")
            return Content.assemble("Nothing matches ", words, ". F clears the filter.")
        tally = feed.overview.fold.tally
        if not tally.finished:
            return Content("Nothing has been graded yet. 2 watches the run.")
        return Content(f"No failures. {tally.passed} of {tally.finished} passed; f then a shows the passes.")

    def draw_figures(self) -> None:
        """Draw counters, scores and what is listed."""
        feed = self.feed
        if feed is None:
            return
        tally, triage = feed.overview.fold.tally, self.triage
        rollout = self.rollout
        place = counters(
            triage.place_of(self.current), len(triage.order), triage.seen, rollout.outcome if rollout else None
        )
        if self.size.width >= 120:
            rate = f"   {number_format.score(tally.passed, tally.graded)}   "
            score = Content.styled("   " if self.loops else rate, "bold")
            cost = "simulated" if feed.manifest.simulated and not tally.cost_usd else number_format.spent(tally)
            place = (
                Content("  ")
                .append(outcome_counts(tally))
                .append(score)
                .append(Content.styled(f"{cost}   ", MUTED))
                .append(place)
            )
        self.top_line.tell(title=title_words(feed.manifest, self.size.width), status=place)
        chosen = one_line(self.filter_mistake, 200, "$broken") if self.filter_mistake else None
        name = chosen or Content.assemble((f"{len(triage.order)}  ", "bold"), one_line(self.chosen_words(), 60, MUTED))
        name = name.append_text("  searching all texts …", "$live") if self.is_searching else name
        origin = "edited prompt, " if feed.manifest.setting.edit else ""
        origin += f"branch of {feed.manifest.parent}" if feed.manifest.parent else ""
        name = name.append("  ").append(one_line(origin, 60, "$undecided")) if origin else name
        damaged = f"{number_format.plural(feed.damages, 'unreadable line')}  " if feed.damages else ""
        self.query_one("#list-caption", PaneTitle).tell(
            name, Content.assemble((damaged, "$broken"), ("f filter  o group", MUTED))
        )
