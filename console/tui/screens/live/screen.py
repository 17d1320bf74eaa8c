"""`LiveScreen`: conversations, progress and problems of a run, live, from disk or replayed.

A list of running rollouts (or all of them, in a suite's own view), the last failures and problems, and the watched
conversations, one of which follows the cursor. The action groups in `responders` handle the keys; `LiveController`
decides what is listed, watched and drawn when.
"""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from console.core.case import Key
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.render.progress import state_words, title_words
from console.tui.render.rollout_rows import row_key, slot_of
from console.tui.sanitize import literal
from console.tui.screens.base import WIDE
from console.tui.screens.live.controller import RUNNING, LiveController
from console.tui.screens.live.conversation_grid import ConversationGrid
from console.tui.screens.live.grid_actions import GridActions, GridRoom
from console.tui.screens.live.lists import LiveRunsPanel, RunLists
from console.tui.screens.live.progress_pane import ProgressPane, TrendPane
from console.tui.screens.live.run_controls import ReplayControls, RunControls
from console.tui.screens.live.several_runs import SeveralRuns
from console.tui.screens.live.standard_view import STANDARD, live_view
from console.tui.screens.run_screen import RunScreen
from console.tui.screens.trial_report import TrialReports
from console.tui.services import Services
from console.tui.shell_commands import command, run_words
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import same
from console.tui.widgets.transcript import Transcript

TOAST_MARGIN = 2
"""Lines that toasts leave free above and below them on every screen (`console.tcss`)."""


class LiveScreen(RunScreen):
    """Shows one run, live, from disk or replayed."""

    where: ClassVar[str] = "live"
    heading: ClassVar[str] = "Live"
    find_hint: ClassVar[str] = "words to find in the text, enter keeps, esc clears"
    AUTO_FOCUS: ClassVar[str | None] = "#running"
    DEFAULT_CSS = """
    LiveScreen {
        #live { height: 1fr; layout: vertical; }
        #left, #right { width: 1fr; }
        #left { height: 11fr; } #right { height: 7fr; }
        #running { height: 7fr; } #failures { height: 3fr; } #problems { height: 5fr; display: none; }
        #problems-caption, #beside { display: none; }
        #beside { max-height: 5; }
        &.-several-runs #beside { display: block; }
        &.-several-runs.-narrow.-short #progress { display: none; }
        &.-several-runs.-narrow.-short #notice { max-height: 0; }
        &.-tall #beside { max-height: 12; }
        &.-wide #beside { padding: 0 0 0 1; }
        #facts { display: none; height: auto; max-height: 9; }
        #trend { display: none; height: auto; max-height: 5; text-wrap: nowrap; text-overflow: ellipsis; }
        &.-suite-view #facts { max-height: 16; }
        &.-suite-view.-wide #trend { display: block; }
        &.-problems { #problems { display: block; } #failures, #failures-caption { display: none; } }
        &.-problems.-narrow #problems-caption { display: block; }
        &.-suite-view #failures, &.-suite-view #failures-caption { display: none; }
        &.-suite-view #left { height: 16fr; }
        &.-suite-view #right { height: 4fr; }
        &.-streams.-narrow {
            #left { height: auto; } #right { height: 1fr; }
            #running { height: 3; } #failures { height: 1; } #problems { height: 5; }
        }
        &.-streams.-narrow.-tall { #running { height: 10; } #failures { height: 4; } #problems { height: 10; } }
        &.-streams.-narrow.-suite-view #running { height: 8; }
        &.-streams.-narrow.-suite-view.-tall #running { height: 18; }
        &.-wide {
            #live { layout: horizontal; }
            #left { width: 10fr; height: 1fr; min-width: 34; } #right { width: 9fr; height: 1fr; min-width: 76; }
            &.-suite-view #right { min-width: 0; }
            #failures { height: 8; } #running { height: 1fr; } #problems { height: 8; }
            &.-problems #failures { display: block; }
            &.-suite-view #failures { display: none; }
        }
        &.-wide.-tall #facts { display: block; }
        &.-only-grid { #left { display: none; } #right { width: 1fr; height: 1fr; } #trend { display: none; } }
        &.-wide.-tall #failures { height: 12; }
        &.-wide.-tall #facts { max-height: 16; }
    }
    """

    def __init__(self, services: Services, run: RunFolder) -> None:
        super().__init__(services, run)
        self.controller = LiveController()
        self.progress = ProgressPane(STANDARD)
        self.live_runs_panel = LiveRunsPanel()
        self.lists, self.trend = RunLists(STANDARD), TrendPane(STANDARD)
        self.conversations = self.lists.conversations
        self.grid = ConversationGrid(STANDARD)
        self.several_runs = SeveralRuns(
            services,
            run,
            self.controller,
            self.live_runs_panel,
            feed=lambda: self.pump.whole_feed,
            wall_in_sight=lambda: self.is_current and len(self.grid.tiles) > 1 and self.replay_controls.replay is None,
            wall_fed=self._wall_fed,
            wall_changed=self._redraw_watched,
        )
        self.run_controls = RunControls(
            services,
            feed=lambda: self.feed,
            rollout=lambda: self.grid_actions.rollout,
            rollout_feed=lambda: self.several_runs.find_feed(self.grid_actions.run),
            in_worker=lambda question: self.run_worker(question, exclusive=True, group="stop"),
            line=lambda: self.several_runs.line_to_resume,
        )
        self.first_keys = self.run_controls.first_keys
        self.replay_controls = ReplayControls(
            services,
            run,
            run_feed=lambda: self.pump.whole_feed,
            show_feed=self._show_feed,
            clock_changed=self._draw_replay,
            moved=lambda: self.pump.wake(),
        )
        self.grid_actions = GridActions(
            services,
            self.controller,
            self.grid,
            self.trend,
            focused=lambda: self.focused,
            room=self._grid_room,
            laid_out=self._set_list_shown,
            redraw=self._redraw_watched,
        )
        self.trials = TrialReports(services, run, start=lambda report: self.run_worker(report, group="trial"))
        self._status = Content.empty()
        self._was_live = self._is_restored = False

    def compose_body(self) -> ComposeResult:
        yield self.live_runs_panel
        yield self.progress
        with Container(id="live"):
            yield self.lists
            with Vertical(id="right"):
                yield self.grid
                yield self.trend

    def on_mount(self) -> None:
        """Show the run's name before anything is read, and subscribe to the workspace."""
        self.top_line.tell(title=literal(self.run_folder.name))
        self.services.workspace.changed.subscribe(self, self._draw_live_runs)

    def on_unmount(self) -> None:
        self.replay_controls.close()
        self.several_runs.suspend()

    def on_screen_resume(self) -> None:
        self._draw_live_runs("runs")

    def on_screen_suspend(self) -> None:
        """Save the position in the list and disconnect from other engines."""
        self.several_runs.suspend()
        if self._is_restored and self.conversations.cursor is not None and not self.controller.is_following:
            self.services.feeds.places[self.run_folder.path] = self.controller.order.name, self.conversations.cursor

    # Updates ----------------------------------------------------------------------------------------------------------

    def awaits(self, key: Key) -> bool:
        """Poll early for watched conversations even if polling is slow."""
        return super().awaits(key) or (self.is_current and self.controller.is_watched(key))

    def fed(self, changes: Changes) -> None:
        feed = self.controller.run = self.feed
        if feed is None:
            self.conversations.show([], empty=self.problem)
            return
        if changes.rewound:
            self.controller.restart()
            self.conversations.touch()
        self._choose_view(feed)
        if self.controller.is_list_due(time.monotonic()):
            self._draw_lists(feed, changes)
        self._draw_watched(feed, changes)
        replay = self.replay_controls.replay
        if not feed.is_live or (replay is not None and not replay.is_playing):
            self._draw_figures(feed)
        self.trials.follow(feed, is_current=self.is_current)
        if changes.status or changes.settled or self._was_live != feed.is_live:
            if self._was_live and not feed.is_live:
                self.services.workspace.look()  # so that the number of live runs is true at once
            self._was_live = feed.is_live
            self.set_class(feed.is_live, "-streams")
            self.refresh_keys()

    def ticked(self) -> None:
        """Redraw the figures of a live run, some of which change with time."""
        now, feed = time.monotonic(), self.feed
        self.progress.show_replay(self.replay_controls.replay, self.size.width)
        self.conversations.touch_rollouts(self.controller.stale_rows(now))
        if feed is None or not self.controller.are_figures_due(now):
            return
        self._draw_figures(feed)
        if self.controller.is_sort_due(now):
            self._draw_lists(feed, Changes())
        rows_with_clock = self.controller.rows_with_clock(now)
        if rows_with_clock is not None:
            self.conversations.touch_rollouts(rows_with_clock)
            self._draw_watched(feed, Changes())  # ended conversations are replaced after a while, even without changes

    def on_resize(self, event: events.Resize) -> None:
        """Redraw the figures for the new size; those of an ended run are not redrawn otherwise."""
        if self.feed is not None:
            self.call_after_refresh(self._draw_figures, self.feed)

    def _choose_view(self, feed: RunFeed) -> None:
        """Switch to the suite's own view, if it has one."""
        if self.has_own_view:
            return
        view = live_view(feed.manifest)
        if view is not STANDARD:
            self.add_class("-suite-view")
            self.controller.view_orders = view.sort_orders
            self.lists.use_view(view)
            for pane in (self.progress, self.grid, self.trend):
                pane.view = view

    @property
    def has_own_view(self) -> bool:
        """True if the run is shown in its suite's own view."""
        return self.controller.view_orders is not None

    def _show_feed(self, replay: RunFeed | None) -> None:
        """Show a replay, or the run itself again."""
        self.pump.release()
        if replay is not None:
            self.controller.restore_order("")
        feed = replay or self.pump.whole_feed
        if feed is not None:
            self.pump.follow(feed)
        self._draw_replay()

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _draw_lists(self, feed: RunFeed, changes: Changes) -> None:
        slots = self.controller.list_rollouts(self.conversations.slot, time.monotonic())
        self.lists.show_run(feed, slots, changes, with_problems=self.has_class("-problems"))
        self.conversations.touch_rollouts(self.controller.rows_to_draw_at_once(changes.slots, changes.begun))

    def _draw_watched(self, feed: RunFeed, changes: Changes) -> None:
        if feed.is_read and not self._is_restored:
            self._is_restored = True
            self._restore_place()
        next_slot = self.controller.advance(self.conversations.slot)
        self.grid_actions.draw(changes.keys, rewound=changes.rewound)
        if next_slot is not None:
            self.conversations.move_to(row_key(next_slot))

    def _redraw_watched(self) -> None:
        if self.feed is not None:
            self._draw_watched(self.feed, Changes())
        self.grid_actions.draw_titles()

    def _draw_figures(self, feed: RunFeed) -> None:
        width, overview, controller = self.size.width, feed.overview, self.controller
        if feed is self.pump.whole_feed:
            self.several_runs.show_watched(feed)
        self.progress.show_run(feed, width, self.controller.speeds, nothing_live=self._is_nothing_live(feed))
        is_wide = width >= WIDE
        status = state_words(overview, feed.manifest, live=feed.is_live, now=feed.now(), is_wide=is_wide)
        if not is_wide:  # the badge shows it in a wide layout
            status = status.append(self.several_runs.words)
        if self.replay_controls.replay is not None:
            status = Content.styled("  replay", "bold $undecided").append(status)
        if not same(status, self._status):
            self._status = status
            self.top_line.tell(title=title_words(feed.manifest, width), status=status)
        order = controller.order
        self.lists.draw_figures(feed, order=order.name, only_running=order is RUNNING, screen_width=width)
        self.grid_actions.draw_titles()

    def _is_nothing_live(self, feed: RunFeed) -> bool:
        """Return whether a user who expects a live run sees an ended one because none is live."""
        is_over = feed.is_read and not feed.is_live and not feed.is_starting
        workspace = self.services.workspace
        return is_over and self.replay_controls.replay is None and workspace.runs_complete and not workspace.live

    def _draw_replay(self) -> None:
        self.progress.show_replay(self.replay_controls.replay, self.size.width)
        self.refresh_keys()

    def _draw_live_runs(self, topic: str) -> None:
        """Update the list of other runs after the workspace has read them."""
        if topic != "runs" or not self.is_mounted or not self.is_current:
            return
        has_others = self.several_runs.update()
        self._keep_toasts_below(self.live_runs_panel.strips if has_others else 0)
        if self.has_class("-several-runs") is not has_others:
            self.set_class(has_others, "-several-runs")
            self.refresh_keys()
        if self.feed is not None:  # the list has its newest figures; the number of live runs changes, and what r does
            self._draw_figures(self.feed)
            self.refresh_keys()

    def _keep_toasts_below(self, strips: int) -> None:
        """Keep toasts below the list of runs; in a wide layout they are at the bottom."""
        for rack in self.query("ToastRack"):
            rack.styles.margin = (TOAST_MARGIN + strips, 0, TOAST_MARGIN, 0)

    # The wall ---------------------------------------------------------------------------------------------------------

    def _wall_fed(self, feed: RunFeed, changes: Changes) -> None:
        """Draw changes of another run in the grid."""
        if self.feed is not None and feed in self.controller.beside:
            self._draw_watched(self.feed, Changes())
            self.grid_actions.draw(changes.keys, of=feed)

    # Watching --------------------------------------------------------------------------------------------------------

    def _restore_place(self) -> None:
        """Return to the saved position in the list."""
        order, cursor = self.services.feeds.places.get(self.run_folder.path, ("", ""))
        if cursor:
            self.controller.restore_order(order)
            self.fed(Changes())
            self.conversations.move_to(cursor)

    @on(RowList.RowHighlighted, "#running, #failures")
    def _watch_highlighted(self, event: RowList.RowHighlighted) -> None:
        """Show the conversation under the cursor of the focused list or of the conversations."""
        is_meant = event.rows.has_focus or event.rows is self.conversations
        if event.key != event.rows.cursor:
            return  # the cursor has moved on, as when the list was sorted after a key
        if not event.is_moved and self.controller.is_following:
            return  # the row under the cursor was removed; the cursor will follow the tile
        if is_meant and self.controller.move_cursor(slot_of(event.key)):
            self.grid_actions.draw()
            self.refresh_keys()

    @on(RowList.RowChosen, "#running")
    def _watch_chosen(self) -> None:
        self.controller.follows_run = False
        self.grid_actions.focus()
        self.grid_actions.draw_titles()

    @on(RowList.RowChosen, "#failures")
    def _review_failure(self, event: RowList.RowChosen) -> None:
        self.services.navigator.open_review(self.run_folder, slot_of(event.key))

    @on(LiveRunsPanel.RunChosen)
    def _watch_run(self, event: LiveRunsPanel.RunChosen) -> None:
        self.several_runs.runs.open(event.line)

    @on(Transcript.FollowChanged)
    def _follow_changed(self) -> None:
        self.grid_actions.note_scroll()

    # Keys ------------------------------------------------------------------------------------------------------------

    @property
    def responders(self) -> Sequence[object]:
        """Action groups; if the run can be replayed, the replay comes before the engine."""
        controls = (self.run_controls, self.replay_controls)
        return (
            *(reversed(controls) if self.replay_controls.takes_over else controls),
            self.several_runs.runs,
            self.grid_actions,
        )

    def key_words(self) -> Mapping[str, str]:
        words = {"open": "review" if self.focused is self.lists.failures else "watch"}
        if not self.controller.is_live:
            words["follow"] = ""
        return (
            words
            | self.run_controls.key_words()
            | self.replay_controls.key_words()
            | self.several_runs.runs.key_words()
        )

    def why_not(self, action: Action) -> str:
        groups = (self.several_runs.runs, self.replay_controls, self.run_controls)
        return next((reason for group in groups if (reason := group.why_not(action)) is not None), "")

    def find_changed(self, text: str, *, done: bool) -> None:
        self.grid_actions.find(text)

    def go_back(self) -> bool:
        """Leave the replay, then the problems, then the full grid, then the conversation."""
        if super().go_back() or self.replay_controls.leave():
            return True
        if self.has_class("-problems"):
            self.action_problems()
        elif self.has_class("-only-grid"):
            self.run_worker(self.grid_actions.lay_out(0))
        elif self.grid.place_of(self.focused) is not None:
            self.conversations.focus()
        else:
            return False
        return True

    def action_order(self) -> None:
        order = self.controller.next_order()
        self.fed(Changes())
        if order.goes_to_first:
            self.controller.watch_first()
            self.conversations.move_to_first()

    def action_runs_ended(self) -> None:
        self.live_runs_panel.toggle_ended()

    def action_problems(self) -> None:
        self.toggle_class("-problems")
        if self.feed is not None and self.has_class("-problems"):
            self.lists.problems.show_problems(self.feed.overview)
            self.lists.problems.focus()
        elif self.focused is None or not self.focused.display:
            self.conversations.focus()

    def action_run_review(self) -> None:
        self.services.navigator.open_review(self.run_folder)

    def action_copy_command(self) -> None:
        words = command("watch", *run_words([self.run_folder]), places=self.services.paths)
        self.services.copy(words, "the shell command")

    # Room ------------------------------------------------------------------------------------------------------------

    def _grid_room(self) -> GridRoom:
        width, height = self.query_one("#live", Container).size
        return GridRoom(width, height, is_wide=self.has_class("-wide"))

    def _set_list_shown(self, shown: bool) -> None:
        """Show or hide the list, and focus what remains visible."""
        self.several_runs.follow_wall()
        if shown is self.has_class("-only-grid"):
            self.set_class(not shown, "-only-grid")
            (self.conversations if shown else self.grid_actions).focus()
