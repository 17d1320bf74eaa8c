"""Live's action groups: the grid of conversations, the engine of the run, its replay, and the runs beside it."""

import time
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from console.core.case import Key
from console.core.fault import UsageError
from console.core.live import Command, Status
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.catalog_items import RunLine
from console.tui.data.engine_states import EngineStates
from console.tui.data.replay_feed import Replay
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.help import TextScreen
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render.progress import worker_lines
from console.tui.sanitize import literal, one_line
from console.tui.screens.live.controller import LiveController
from console.tui.screens.live.conversation_grid import ConversationGrid, Shape, shapes_for
from console.tui.screens.live.progress_pane import TrendPane
from console.tui.services import Services


@dataclass(frozen=True, slots=True)
class GridRoom:
    """How much room list and grid have together."""

    width: int
    height: int
    is_wide: bool
    """Whether the grid stands beside the list and not below it."""

    @property
    def beside_list(self) -> tuple[int, int]:
        """Columns and lines that are left for the grid while the list is shown."""
        return (self.width * 9 // 19, self.height) if self.is_wide else (self.width, self.height * 7 // 18)


class GridActions:
    """Act on the tile that has the focus, else on the one that follows the cursor of the list."""

    def __init__(
        self,
        services: Services,
        controller: LiveController,
        grid: ConversationGrid,
        trend: TrendPane,
        *,
        focused: Callable[[], Widget | None],
        room: Callable[[], GridRoom],
        laid_out: Callable[[bool], None],
        redraw: Callable[[], None],
    ) -> None:
        """Act on the conversations of a grid.

        Args:
            services: what the app does for screens.
            controller: the rules of the screen.
            grid: the tiles.
            trend: shows where the scores of the active conversation stand.
            focused: returns the pane that has the focus.
            room: returns how much room there is.
            laid_out: called with whether the list stays beside the grid, after it has got another shape.
            redraw: called when tiles may have to show other conversations.
        """
        self._services = services
        self._controller = controller
        self._grid = grid
        self._trend = trend
        self._focused = focused
        self._room = room
        self._laid_out = laid_out
        self._redraw = redraw

    @property
    def active_tile(self) -> int:
        """Which tile keys act on."""
        place = self._grid.place_of(self._focused())
        return self._controller.watched.cursor_place if place is None else place

    @property
    def rollout(self) -> Rollout | None:
        """The rollout whose conversation keys act on."""
        return self._controller.rollout(self._controller.watched.tiles[self.active_tile].slot)

    # Drawing ---------------------------------------------------------------------------------------------------------

    def draw(self, changed: Collection[Key] = (), *, rewound: bool = False) -> None:
        """Draw what is new of the conversations that the controller gives to the tiles.

        Args:
            changed: conversations with new text or facts.
            rewound: whether what was drawn does not hold any more.
        """
        rollouts = [self._controller.rollout(tile.slot) for tile in self._controller.watched.tiles]
        compact = not self._room().is_wide
        if self._grid.draw(rollouts, open_conversation=self._open, changed=changed, rewound=rewound, compact=compact):
            self.draw_titles()

    def draw_titles(self) -> None:
        """Say of each tile what it shows, and of the active conversation where its scores stand."""
        self._grid.draw_titles(self._controller.tile_states(self._grid.follows))
        rollout = self.rollout
        is_live = self._controller.is_live and rollout is not None and rollout.is_running
        self._trend.show_rollout(rollout, live=is_live)

    def _open(self, key: Key) -> Conversation | None:
        if self._controller.run is None:
            return None
        try:
            return self._controller.run.conversation(key)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return None

    # The shape of the grid -------------------------------------------------------------------------------------------

    async def action_wall(self) -> None:
        """Show more conversations at once: two, four, nine, as many as fit, then one again."""
        shapes = [shape for shape, _ in self._shapes()]
        await self.lay_out((shapes.index(self._grid.shape) + 1) % len(shapes) if self._grid.shape in shapes else 0)

    async def lay_out(self, number: int) -> None:
        """Take one of the shapes that fit, counted from 0, which is one conversation."""
        shapes = self._shapes()
        shape, with_list = shapes[min(number, len(shapes) - 1)]
        await self._grid.lay_out(shape)
        self._controller.watched.resize(len(self._grid.tiles))
        self._laid_out(with_list)
        self._redraw()

    def _shapes(self) -> list[tuple[Shape, bool]]:
        """Return the shapes that fit, and whether the list stays beside each."""
        room = self._room()
        return shapes_for(room.width, room.height, beside=room.beside_list)

    # One conversation ------------------------------------------------------------------------------------------------

    def focus(self) -> None:
        """Give the focus to the tile that follows the cursor."""
        self._grid.tiles[self._controller.watched.cursor_place].transcript.focus()

    def find(self, text: str) -> None:
        """Find a text in the conversation."""
        self._grid.tiles[self.active_tile].transcript.find(text)

    def action_follow(self) -> None:
        """Pin the conversation, or follow the run from one to the next."""
        place = self.active_tile
        transcript = self._grid.tiles[place].transcript
        at_end = self._controller.toggle_follow(place, at_end=transcript.follow)
        if at_end is not transcript.follow:
            transcript.set_follow(at_end)
        self._redraw()

    def take_scroll(self) -> None:
        """The reader has moved in a text."""
        for place, tile in enumerate(self._grid.tiles):
            self._controller.take_scroll(place, at_end=tile.transcript.follow)
        self.draw_titles()

    def action_fold(self) -> None:
        """Unfold or fold what stands at the top of the text."""
        self._grid.tiles[self.active_tile].toggle_fold()

    def action_pin(self) -> None:
        """Keep this conversation shown, whatever ends or begins, or not any more."""
        if self._controller.toggle_pin(self.active_tile) and len(self._grid.tiles) == 1:
            self._services.notify(Content("Pinned; w shows more conversations beside it."))
        self._redraw()

    def action_copy_id(self) -> None:
        if (rollout := self.rollout) is not None:
            self._services.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered last."""
        conversation = self._grid.tiles[self.active_tile].conversation
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self._services.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")


ASKED_FOR_S = 2.0
"""How long the last number asked for counts as the present one, though the engine has not said so yet."""
NO_ENGINE = Content("No engine plays this run; r at Home resumes it.")
_NEEDS_ENGINE = frozenset({"run.pause", "run.faster", "run.slower", "run.stop", "case.stop", "case.retry"})


class RunControls:
    """Pause, concurrency, stop and retry, sent over the feed's connection to the engine."""

    def __init__(
        self,
        services: Services,
        *,
        feed: Callable[[], RunFeed | None],
        rollout: Callable[[], Rollout | None],
        in_worker: Callable[[Coroutine[None, None, None]], object],
    ) -> None:
        """Control a run.

        Args:
            services: what the app does for screens.
            feed: returns what is shown now.
            rollout: returns the rollout whose conversation keys act on.
            in_worker: runs what waits for an answer of the reader.
        """
        self._services = services
        self._feed = feed
        self._rollout = rollout
        self._in_worker = in_worker
        self._concurrency_asked, self._asked_at = 0, -ASKED_FOR_S

    def key_words(self) -> dict[str, str]:
        """Name the keys by what they do now; hide those that need an engine."""
        feed = self._feed()
        words = {"run.pause": "go on" if self._is_paused(feed) else "pause"}
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(("run.stop", "case.stop", "case.retry"), "")
        return words

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None when nothing is known that speaks against it."""
        feed, rollout = self._feed(), self._rollout()
        if action.id in _NEEDS_ENGINE and (feed is None or not feed.is_attached):
            return "no engine plays this run"
        if action.id == "case.stop" and (rollout is None or not rollout.is_running):
            return "this conversation has ended"
        if action.id == "case.retry" and (rollout is None or rollout.is_running):
            return "this conversation has not ended"
        return None

    def action_run_pause(self) -> None:
        """Start nothing new, or go on."""
        self._send(Command("resume" if self._is_paused(self._feed()) else "pause"))

    def action_run_faster(self) -> None:
        self._change_concurrency(1)

    def action_run_slower(self) -> None:
        self._change_concurrency(-1)

    def action_run_stop(self) -> None:
        """Stop the run, after asking how."""
        feed = self._feed()
        if feed is None or not feed.is_attached:
            self._services.notify(NO_ENGINE)
        else:
            self._in_worker(self._ask_how_to_stop(feed))

    def action_workers(self) -> None:
        """List who plays the run, with what each is at."""
        feed = self._feed()

        def read() -> list[Content]:
            status = feed.overview.status if feed is not None else None
            return worker_lines(status.workers if status is not None else (), now=time.time())

        has_engine = feed is not None and feed.overview.status is not None
        empty = "The engine of this run plays it itself." if has_engine else NO_ENGINE.plain
        self._in_worker(self._show_workers(read, empty))

    async def _show_workers(self, read: Callable[[], Sequence[Content]], empty: str) -> None:
        await self._services.ask(TextScreen("Workers", read, empty))

    def action_case_stop(self) -> None:
        rollout = self._rollout()
        if rollout is not None and rollout.is_running:
            self._send(Command("stop_case", key=rollout.key))

    def action_case_retry(self) -> None:
        """Ask the watched conversation again, as a new attempt."""
        rollout = self._rollout()
        if rollout is not None and not rollout.is_running:
            self._send(Command("retry_case", key=rollout.key), "It will be asked again as a new attempt.")

    async def _ask_how_to_stop(self, feed: RunFeed) -> None:
        running = len(feed.overview.running)
        text = Content.assemble("Stop ", one_line(feed.folder.name, 50, "bold"), "? It can be resumed later.")
        answers = [
            Answer("f", f"finish the {running} that are running, start nothing new"),
            Answer("s", "stop now, give up what is in flight"),
        ]
        answer = await self._services.ask(Question(text, answers))
        if answer:
            self._send(Command("stop" if answer == "f" else "kill"))

    def _change_concurrency(self, by: int) -> None:
        feed, now = self._feed(), time.monotonic()
        status = feed.overview.status if feed else None
        present = status.concurrency if status else 0
        if now - self._asked_at < ASKED_FOR_S:
            present = self._concurrency_asked
        self._concurrency_asked, self._asked_at = max(1, present + by), now
        self._send(Command("concurrency", value=self._concurrency_asked))

    def _send(self, command: Command, words: str = "") -> None:
        feed = self._feed()
        if feed is None or not feed.send(command):
            self._services.notify(NO_ENGINE)
        elif words:
            self._services.notify(Content(words))

    def _is_paused(self, feed: RunFeed | None) -> bool:
        status = feed.overview.status if feed else None
        return status is not None and status.state in ("pausing", "paused")


_CLOCK = frozenset({"run.pause", "run.faster", "run.slower"})
"""Actions on a live run that act on the clock of a replay."""
_SEEK = frozenset({"replay.back", "replay.forward", "replay.first", "replay.last"})
_ENGINE = frozenset({"run.stop", "case.stop", "case.retry"})
"""Actions that need an engine, which a replay has not."""


class ReplayControls:
    """Starts, moves and ends the replay of a run."""

    def __init__(
        self,
        services: Services,
        run: RunFolder,
        *,
        run_feed: Callable[[], RunFeed | None],
        show_feed: Callable[[RunFeed | None], None],
        clock_changed: Callable[[], None],
        moved: Callable[[], None],
    ) -> None:
        """Replay a run.

        Args:
            services: what the app does for screens.
            run: the run.
            run_feed: returns the run's own feed.
            show_feed: shows a replay, or with None the run's own feed again.
            clock_changed: called when the clock was stopped, started, or got another speed.
            moved: called when the replay has to go to another time at once.
        """
        self.replay: Replay | None = None
        """The replay that is shown, if it is one."""
        self._services = services
        self._run = run
        self._run_feed = run_feed
        self._show_feed = show_feed
        self._clock_changed = clock_changed
        self._moved = moved

    @property
    def can_start(self) -> bool:
        """Whether the run has ended with something to show."""
        feed = self._run_feed()
        return feed is not None and feed.is_read and not feed.is_live and bool(feed.overview.rollouts)

    @property
    def takes_over(self) -> bool:
        """Whether the keys of a live run act on a replay now."""
        return self.replay is not None or self.can_start

    def start(self) -> None:
        """Play the run again from its beginning."""
        try:
            replay = Replay(self._run)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return
        replay.start()
        self.replay = replay
        self._show_feed(replay)

    def leave(self) -> bool:
        """Show the run as it ended again; say whether a replay was shown."""
        if self.replay is None:
            return False
        self.close()
        self._show_feed(None)
        return True

    def close(self) -> None:
        """End the replay."""
        if self.replay is not None:
            self.replay.close()
            self.replay = None

    def key_words(self) -> dict[str, str]:
        """Name keys by what they do with the clock; hide those that have no use now."""
        feed = self._run_feed()
        if self.replay is not None:
            words = {"run.pause": "pause" if self.replay.is_playing else "play", "run.faster": "speed"}
            return words | dict.fromkeys(_ENGINE, "") | {"replay.back": "back/forward", "replay.first": "start/end"}
        words = dict.fromkeys(_SEEK, "")
        if feed is None or not feed.is_live:
            words |= dict.fromkeys(_CLOCK, "") | ({"run.pause": "replay"} if self.can_start else {})
        return words

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now, nothing when it can; None for one that is no business of a replay."""
        if action.id in _SEEK and self.replay is None:
            return "p replays this run first" if self.can_start else "only a finished run is replayed"
        if action.id in _CLOCK and (self.replay is not None or (action.id == "run.pause" and self.can_start)):
            return ""
        return "this is a replay" if self.replay is not None and action.id in _ENGINE else None

    def action_run_pause(self) -> None:
        """Stop the clock of the replay or let it run; begin one where the run has ended."""
        if self.replay is None:
            self.start()
        else:
            self.replay.toggle()
            self._clock_changed()

    def action_run_faster(self) -> None:
        self._change_speed(1)

    def action_run_slower(self) -> None:
        self._change_speed(-1)

    def action_replay_back(self) -> None:
        self._seek(-1.0)

    def action_replay_forward(self) -> None:
        self._seek(1.0)

    def action_replay_first(self) -> None:
        self._seek(-1e9)

    def action_replay_last(self) -> None:
        self._seek(1e9)

    def _change_speed(self, step: int) -> None:
        if self.replay is None:
            self._services.notify(NO_ENGINE)
        else:
            self.replay.change_speed(step)
            self._clock_changed()

    def _seek(self, steps: float) -> None:
        if self.replay is None:
            self._services.notify(Content("p replays a finished run; then < > { } move in it."))
            return
        self.replay.seek(self.replay.time_s + steps * self.replay.step_s)
        self._moved()


class LiveRuns:
    """The runs beside the watched one. Counts come from the journals, what only an engine knows from its connection."""

    def __init__(self, services: Services, watched: RunFolder) -> None:
        self._services = services
        self._watched = watched.path
        self._engines = EngineStates()
        self.lines: list[RunLine] = []
        """The watched run and those beside it, by name; none when it is alone."""

    @property
    def statuses(self) -> Mapping[Path, Status]:
        """What the engines say of themselves."""
        return self._engines.statuses

    def update(self) -> None:
        """List the watched run and what is live, waits, or was started from here, and ask their engines."""
        started = {run.path for run in self._services.navigator.launched}
        lines = [
            line for line in self._services.workspace.runs or () if self._belongs(line) or line.folder.path in started
        ]
        self.lines = sorted(lines, key=lambda line: line.name) if len(lines) > 1 else []
        self._engines.ask([line.folder.path for line in self.lines if line.is_live])

    def _belongs(self, line: RunLine) -> bool:
        return line.is_begun_or_waits or line.folder.path == self._watched

    def pause(self) -> None:
        """Ask the engines nothing while nobody looks."""
        self._engines.ask(())

    def open(self, line: RunLine) -> None:
        """Watch a run, unless it is the watched one or nothing of it can be watched yet."""
        if line.state == "queued":
            self._services.notify(Content("This run waits in the queue; it can be watched once it runs."))
        elif line.folder.path != self._watched:
            self._services.navigator.switch_live(line.folder)

    def action_run_next(self) -> None:
        self._step(1)

    def action_run_prev(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        lines = [line for line in self.lines if line.state != "queued"]
        places = [place for place, line in enumerate(lines) if line.folder.path == self._watched]
        if len(lines) < 2 or not places:
            self._services.notify(Content("No other run is live. L starts one."))
        else:
            self.open(lines[(places[0] + by) % len(lines)])

    def key_words(self) -> dict[str, str]:
        """Name the keys of the list only where there is one."""
        return {} if self.lines else {"run.next": ""}

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None for one that is no business of this list."""
        return "no other run is live" if action.id in ("run.next", "run.prev") and not self.lines else None
