"""Live: is the run healthy, and what are they saying? The same screen shows a run from disk.

Two shapes, chosen by what the run records: *cases* (running conversations, last failures) and *loops* (one row per
loop, with its scores against their thresholds). The detail follows the cursor; nothing that arrives moves the cursor.
"""

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.insight import number_format
from console.insight.loops import NOVELTY
from console.insight.rollout import Slot
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.keymap import bindings_for
from console.tui.render.loop_facts import ending_lines, length_lines
from console.tui.render.progress import facts_lines, is_starting, notice_words, progress_line, state_words, title_words
from console.tui.render.rollout_rows import (
    CASES,
    FAILURES,
    LOOPS,
    PROBLEMS,
    case_cells,
    failure_cells,
    loop_cells,
    problem_cells,
    row_key,
    slot_of,
)
from console.tui.sanitize import literal
from console.tui.screens.live.conversation_grid import ConversationGrid
from console.tui.screens.live.live_runs_panel import LiveRunList, LiveRuns
from console.tui.screens.live.sort_orders import SORT, Order
from console.tui.screens.live.stable_rows import StableRows
from console.tui.services import Services
from console.tui.widgets.pane_title import PaneTitle, same, tell
from console.tui.widgets.row_list import RowList

SHOWN_FAILURES = 200
LOADING_LIST_S = 0.3
"""While a large run is read, its growing list is drawn this often."""
ROWS_EVERY_S = 0.18
"""Rows tell where things stand, the watched text flows: rows are drawn half as often, which halves the bytes."""
FIGURES_EVERY_S = 0.45
"""Figures that change all the time are drawn about twice a second, not with every token."""


class LiveScreen(LiveRuns):
    """Watches one run; see the module."""

    where: ClassVar[str] = "live"
    heading: ClassVar[str] = "Live"
    AUTO_FOCUS: ClassVar[str | None] = "#running"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("live")
    DEFAULT_CSS = """
    LiveScreen {
        #live { height: 1fr; layout: vertical; }
        #left, #right { width: 1fr; }
        #progress, #replay { height: 1; }
        #replay { display: none; }
        &.-replay #replay { display: block; }
        #notice { height: auto; max-height: 3; padding: 0 1; display: none; }
        #left { height: 11fr; } #right { height: 7fr; }
        #running { height: 7fr; } #failures { height: 3fr; } #problems { height: 5fr; display: none; }
        #problems-caption, #beside-caption, #beside { display: none; }
        #beside { max-height: 5; }
        &.-among #beside, &.-among.-narrow #beside-caption { display: block; }
        &.-tall #beside { max-height: 12; }
        #facts { display: none; height: auto; max-height: 9; }
        #trend { display: none; height: auto; max-height: 5; text-wrap: nowrap; text-overflow: ellipsis; }
        &.-loops #facts { max-height: 16; }
        &.-loops.-wide #trend { display: block; }
        &.-problems { #problems { display: block; } #failures, #failures-caption { display: none; } }
        &.-problems.-narrow #problems-caption { display: block; }
        &.-loops { #failures, #failures-caption { display: none; } #left { height: 16fr; } #right { height: 4fr; } }
        &.-wide {
            #live { layout: horizontal; }
            #left { width: 10fr; height: 1fr; } #right { width: 9fr; height: 1fr; }
            #failures { height: 8; } #running { height: 1fr; } #problems { height: 8; }
            &.-problems #failures { display: block; }
            &.-loops #failures { display: none; }
        }
        &.-wide.-tall #facts { display: block; }
        &.-wall { #left { display: none; } #right { width: 1fr; height: 1fr; } #trend { display: none; } }
        &.-wide.-tall #failures { height: 12; }
    }
    """

    def __init__(self, services: Services, run: RunFolder) -> None:
        """Watch a run."""
        super().__init__(services, run)
        self._lanes = StableRows()
        self._shown_failures: list[Slot] = []
        self._was_live = False
        self._figures_at = 0.0
        self._status = Content.empty()
        self._rows_at = self._listed_at = 0.0
        self._stale: set[Slot] = set()
        self._second = 0

    # Composition -----------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out progress, lists and the watched conversation."""
        yield Static(id="replay")
        yield Static(id="progress")
        yield Static(id="notice")
        with Container(id="live"):
            with Vertical(id="left"):
                yield PaneTitle("beside", id="beside-caption")
                yield LiveRunList()
                yield PaneTitle("running", id="running-caption")
                yield RowList(CASES, id="running", classes="pane", empty=Content("reading the run …"))
                yield Static(id="facts", classes="pane")
                yield PaneTitle("failures", id="failures-caption")
                yield RowList(
                    FAILURES,
                    id="failures",
                    classes="pane",
                    quiet=True,
                    newest_first=True,
                    empty=Content("No failure so far."),
                )
                yield PaneTitle("problems", id="problems-caption")
                yield RowList(
                    PROBLEMS,
                    id="problems",
                    classes="pane",
                    quiet=True,
                    newest_first=True,
                    empty=Content("No waits, retries or errors."),
                )
            with Vertical(id="right"):
                yield ConversationGrid()
                yield Static(id="trend", classes="pane")

    def on_mount(self) -> None:
        """Show where one is before anything is read."""
        self.top_line.tell(title=literal(self.run_folder.name))
        for facts in self.query("#facts"):
            facts.border_title = Content("This run")
        for trend in self.query("#trend"):
            trend.border_title = Content("Against the thresholds")

    # What is new -----------------------------------------------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Draw what changed, and only that."""
        super().fed(changes)
        feed = self.feed
        if feed is None:
            self.running_list.show([], empty=self.problem)
            return
        if changes.rewound:
            self._lanes, self._shown_failures = StableRows(), []
            self.query_one("#failures", RowList).show([])
            self.running_list.touch()
        self._choose_shape(feed)
        now = time.monotonic()
        if feed.is_read or now - self._listed_at > LOADING_LIST_S:
            self._listed_at = now
            self._draw_lists(feed, changes)
        self.draw_watched(feed, changes)
        if not feed.is_live or (self.replay is not None and not self.replay.is_playing):
            self._draw_figures(feed)
        if changes.status or changes.settled or self._was_live != feed.is_live:
            self._was_live = feed.is_live
            self.refresh_keys()

    def ticked(self) -> None:
        """Draw the figures of a live run, which change with time too."""
        self.draw_replay()
        now = time.monotonic()
        if self._stale and now - self._rows_at > ROWS_EVERY_S:
            self._rows_at = now
            self.running_list.touch(*map(row_key, self._stale))
            self._stale.clear()
        if self.feed is not None and self.feed.is_live and now - self._figures_at > FIGURES_EVERY_S:
            self._figures_at = now
            self._draw_figures(self.feed)
            if int(now) != self._second:
                self._second = int(now)
                waiting = (it.slot for it in self.feed.overview.running.values() if not it.says or it.why)
                self.running_list.touch(*map(row_key, waiting))
                self.draw_watched(self.feed, Changes())  # what has ended gives way after a while, news or none

    def _choose_shape(self, feed: RunFeed) -> None:
        loops = NOVELTY in feed.overview.track_names or "embedding" in feed.manifest.roles
        if loops and not self.loops:
            self.loops = True
            self.add_class("-loops")
            self.running_list.set_columns(LOOPS, names=True)

    def _draw_lists(self, feed: RunFeed, changes: Changes) -> None:
        running = self.running_list
        before = list(running.keys)
        keys = self._listed(feed, running)
        if keys != before or not keys:
            running.show(keys, draw=self._draw_row, empty=self._empty_words(feed))
        self._stale |= changes.slots
        if changes.begun and feed.is_live:
            self.running_list.touch(*map(row_key, changes.begun))
            self._stale -= changes.begun
        if not self.loops and (changes.records or changes.settled):
            self._draw_failures(feed)
        if self.has_class("-problems") and (changes.records or changes.status):
            self._draw_problems(feed)

    def _orders(self) -> list[Order]:
        """Return the orders that make sense now, the usual one first."""
        if self.loops:
            return [Order.RUN, Order.CLOSEST, Order.WORST]
        live = self.feed is not None and self.feed.is_live
        return [Order.RUNNING, Order.RUN, Order.WORST] if live else [Order.RUN, Order.WORST]

    def _listed(self, feed: RunFeed, running: RowList) -> list[str]:
        overview = feed.overview
        orders = self._orders()
        self.order = self.order if self.order in orders else orders[0]
        if self.order is Order.RUNNING:
            held = slot_of(running.cursor) if running.cursor else None
            status = overview.status
            spare = max((status.concurrency if status else 0) - len(overview.running), 0)
            self._lanes.update(overview.running, held=held, spare=spare)
            return [row_key(slot) for slot in self._lanes.slots if slot in overview.rollouts]
        return [row_key(it.slot) for it in sorted(overview.rollouts.values(), key=SORT[self.order])]

    def _draw_row(self, key: str) -> tuple[Content, ...]:
        rollout = self.find_rollout(slot_of(key))
        if rollout is None:
            return ()
        live = self.feed is not None and self.feed.is_live
        now = self.feed.now() if self.feed is not None else 0.0
        return loop_cells(rollout, now, live=live) if self.loops else case_cells(rollout, now, live=live)

    def _draw_failures(self, feed: RunFeed) -> None:
        latest = [rollout for rollout in reversed(feed.overview.failures) if rollout.is_failure]
        shown = list(dict.fromkeys(rollout.slot for rollout in latest))[:SHOWN_FAILURES]
        if shown != self._shown_failures:
            self._shown_failures = shown
            self.query_one("#failures", RowList).show([row_key(slot) for slot in shown], draw=self._draw_failure)

    def _draw_failure(self, key: str) -> tuple[Content, ...]:
        rollout = self.find_rollout(slot_of(key))
        return failure_cells(rollout) if rollout is not None and rollout.outcome is not None else ()

    def _draw_problems(self, feed: RunFeed) -> None:
        problems = list(feed.overview.problems)
        first = feed.overview.problem_count - len(problems)
        keys = [str(first + place) for place in range(len(problems))][::-1]
        self.query_one("#problems", RowList).show(keys, draw=lambda key: problem_cells(problems[int(key) - first]))

    def _empty_words(self, feed: RunFeed) -> Content:
        if not feed.is_read:
            cases, read = number_format.plural(feed.manifest.cases, "rollout"), len(feed.overview.rollouts)
            return Content(f"reading {cases}, {number_format.count(read)} so far")
        if not feed.is_live and is_starting(feed.overview, feed.manifest):
            return Content("The engine is starting …")
        return Content("Nothing has begun yet." if feed.is_live else "Nothing was played in this run.")

    @on(RowList.RowChosen, "#failures")
    def _failure_chosen(self, event: RowList.RowChosen) -> None:
        self.services.navigator.open_review(self.run_folder, slot_of(event.key)[0])

    # Figures ---------------------------------------------------------------------------------------------------------

    def _draw_figures(self, feed: RunFeed) -> None:
        width = self.size.width
        line = progress_line(feed.overview, feed.manifest, live=feed.is_live, width=width, loops=self.loops)
        if feed.damages:
            line = line.append_text(f"   {number_format.plural(feed.damages, 'unreadable line')}", "$broken")
        tell(self.query_one("#progress", Static), line)
        self._draw_notice(notice_words(feed.overview, live=feed.is_live))
        status = state_words(feed.overview, feed.manifest, live=feed.is_live, now=feed.now())
        if self.replay is not None:
            status = Content.styled("  replay", "bold $undecided").append(status)
        if not same(status, self._status):
            self._status = status
            self.top_line.tell(title=title_words(feed.manifest, self.size.width), status=status)
        self._draw_captions(feed)
        facts = self.query_one("#facts", Static)
        if facts.display:
            shown = facts_lines(feed.overview, feed.manifest, live=feed.is_live)
            if self.loops:
                rollouts = list(feed.overview.rollouts.values())
                endings = ending_lines(rollouts, facts.size.width or self.size.width)
                shown = [*endings[:5], *length_lines(rollouts), *shown[:7]]
            tell(facts, Content("\n").join(shown))

    def _draw_notice(self, words: Content) -> None:
        """Say why the run stands still, where there is a reason."""
        notice = self.query_one("#notice", Static)
        if bool(words) != notice.display:
            notice.display = bool(words)
        tell(notice, words)

    def _draw_captions(self, feed: RunFeed) -> None:
        overview = feed.overview
        names = "Loops" if self.loops else "Running" if self.order is Order.RUNNING else "Rollouts"
        count = len(overview.running) if names == "Running" else len(overview.rollouts)
        running = f"{number_format.count(count)}" + (f", {len(overview.running)} running" if names != "Running" else "")
        self.query_one("#running-caption", PaneTitle).tell(
            Content.assemble(names, (f"  {running}", "$muted")), Content.styled(f"o {self.order.value}", "$muted")
        )
        tally = overview.fold.tally
        failed = tally.failed + tally.broken + tally.undecided
        self.query_one("#failures-caption", PaneTitle).tell(
            Content.assemble("Failures", (f"  {number_format.count(failed)}, latest first", "$muted")),
            Content.styled("enter reviews" if failed else "", "$muted"),
        )
        self.query_one("#problems-caption", PaneTitle).tell(
            Content.assemble("Problems", (f"  {number_format.count(overview.problem_count)}", "$muted")),
            Content.styled("i hides", "$muted"),
        )
        self.draw_caption()

    # Keys ------------------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        """Name keys by what they do at this moment."""
        status = self.feed.overview.status if self.feed else None
        paused = status is not None and status.state in ("pausing", "paused")
        failures = self.focused is not None and self.focused.id == "failures"
        words = {"open": "review" if failures else "watch", "run.pause": "go on" if paused else "pause"}
        if self.feed is None or not self.feed.is_live:
            words["follow"] = ""
        if self.feed is None or not self.feed.is_live or self.replay is not None:
            words |= dict.fromkeys(("run.stop", "case.stop", "case.retry"), "") | self.replay_words()
        else:
            words |= dict.fromkeys(("replay.back", "replay.first"), "")
        return words | self.run_words()

    def why_not(self, action: Action) -> str:
        """Say why a key cannot act now."""
        return self.why_not_steer(action)

    def action_order(self) -> None:
        """Change to the next order of the list; nothing moves without being asked.

        Who asks which loop is closest to stopping wants to watch that one: the cursor goes there.
        """
        orders = self._orders()
        place = orders.index(self.order) if self.order in orders else -1
        self.order = orders[(place + 1) % len(orders)]
        self.fed(Changes())
        if self.order is Order.CLOSEST:
            self.running_list.move_to_first()

    def action_problems(self) -> None:
        """Show or hide waits, retries and errors."""
        self.toggle_class("-problems")
        if self.feed is not None and self.has_class("-problems"):
            self._draw_problems(self.feed)
            self.query_one("#problems", RowList).focus()
        elif self.focused is None or not self.focused.display:
            self.running_list.focus()

    def action_run_review(self) -> None:
        """Look at the failures so far."""
        self.services.navigator.open_review(self.run_folder)

    def go_back(self) -> bool:
        """Close the problems first."""
        if super().go_back():
            return True
        if self.has_class("-problems"):
            self.action_problems()
            return True
        if self.has_class("-wall"):
            self.run_worker(self.set_wall(0))
            return True
        if self.wall.tile_of(self.focused) is not None:
            self.running_list.focus()
            return True
        return False

    def find_changed(self, text: str, *, done: bool) -> None:
        """Find in the watched conversation."""
        self.transcript.find(text)

    def action_copy_command(self) -> None:
        """Copy the shell command that watches this run."""
        self.services.copy(f"eval-console watch {self.run_folder.name}", "the command")
