"""The watched conversations of Live: the first follows the cursor, and until the reader chooses, whatever is said.

The other tiles of the wall show what runs besides; a pinned one stays as it is.
"""

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.core.case import Key
from console.core.fault import UsageError
from console.insight.rollout import Rollout, Slot
from console.store.runs import RunFolder
from console.tui.data.run_feed import Changes, RunFeed
from console.tui.render.loop import LoopBlocks
from console.tui.render.loop_trend import trend_lines
from console.tui.render.progress import watched_words
from console.tui.render.rollout_rows import row_key, slot_of
from console.tui.sanitize import literal
from console.tui.screens.live.conversation_grid import ConversationGrid, Shape, Tile, shapes_for
from console.tui.screens.live.run_controls import RunControls
from console.tui.screens.live.sort_orders import Order
from console.tui.services import Services
from console.tui.widgets.pane_title import tell
from console.tui.widgets.row_list import RowList
from console.tui.widgets.transcript import Transcript

LINGER_S = 1.5
"""How long an ended conversation stays in view before the next one is watched."""


class Watching(RunControls):
    """Keeps the wall in step with the cursor of `#running` and with what runs."""

    def __init__(self, services: Services, run: RunFolder) -> None:
        """Watch nothing yet."""
        super().__init__(services, run)
        self.order = Order.RUNNING
        self.loops = False
        """Whether the run is one of loops."""
        self._is_back = False
        """Whether the place in the list, if the run was watched before, was found again."""
        self._held = False
        """Whether the reader has chosen what the first tile shows."""

    @property
    def running_list(self) -> RowList:
        """The list of conversations."""
        return self.query_one("#running", RowList)

    @property
    def wall(self) -> ConversationGrid:
        """The watched conversations."""
        return self.query_one(ConversationGrid)

    @property
    def tile(self) -> Tile:
        """The tile that keys act on: the one with the focus, else the one that follows the cursor."""
        return self.wall.tile_of(self.focused) or self.wall.lead

    @property
    def transcript(self) -> Transcript:
        """The text that keys act on."""
        return self.tile.transcript

    def find_rollout(self, slot: Slot) -> Rollout | None:
        """Return a rollout of the run."""
        return self.feed.overview.rollouts.get(slot) if self.feed is not None else None

    def rollout_of(self, tile: Tile) -> Rollout | None:
        """Return the rollout that a tile shows."""
        return self.find_rollout(tile.slot) if tile.slot is not None else None

    def watched_rollout(self) -> Rollout | None:
        """Return the rollout whose conversation keys act on."""
        return self.rollout_of(self.tile)

    # Watching --------------------------------------------------------------------------------------------------------

    def awaits(self, key: Key) -> bool:
        """Wait for what is watched whatever the line costs."""
        shown = any(tile.slot == (key.case, key.rollout) for tile in self.wall.tiles)
        return super().awaits(key) or (self.is_current and shown)

    def draw_watched(self, feed: RunFeed, changes: Changes) -> None:
        """Take over what is new in the watched conversations."""
        if feed.is_read and not self._is_back:
            self._is_back = True
            self._come_back()
        lead = self.wall.lead
        if self.rollout_of(lead) is None:
            lead.slot = self._first_to_watch(feed)
        if len(self.wall.tiles) > 1:
            self._fill(feed)
        for tile in self.wall.tiles:
            self._draw_tile(feed, tile, changes)
        rollout = self.rollout_of(lead)
        if rollout is not None and not self._held and feed.is_live and self._has_lingered(feed, rollout):
            self._move_on(feed)

    def on_screen_suspend(self) -> None:
        """Remember the place in the list."""
        if self._is_back and self.running_list.cursor is not None:
            self.services.feeds.places[self.run_folder.path] = self.order.value, self.running_list.cursor

    def _come_back(self) -> None:
        """Go to the place in the list where the reader left this run."""
        order, cursor = self.services.feeds.places.get(self.run_folder.path, ("", ""))
        if cursor:
            self.order = Order(order)
            self.fed(Changes())
            self.running_list.move_to(cursor)

    def _first_to_watch(self, feed: RunFeed) -> Slot | None:
        """Return what the cursor is on, or where that is shown already, what else runs."""
        cursor, shown = self.running_list.cursor, {tile.slot for tile in self.wall.tiles}
        wanted = [*([slot_of(cursor)] if cursor is not None else []), *feed.overview.running]
        return next((slot for slot in wanted if slot not in shown), wanted[0] if wanted else None)

    def _fill(self, feed: RunFeed) -> None:
        overview = feed.overview
        lingering = {
            tile.slot
            for tile in self.wall.tiles
            if (rollout := self.rollout_of(tile)) is not None and not self._has_lingered(feed, rollout)
        }
        keys = self.running_list.keys
        cursor = self.running_list.cursor
        start = list(keys).index(cursor) if cursor is not None and not feed.is_live else 0
        ahead = [slot_of(key) for key in [*keys[start : start + 9], *keys[:9]]]
        self.wall.fill(overview.running, ahead, lingering=[slot for slot in lingering if slot is not None])

    def _has_lingered(self, feed: RunFeed, rollout: Rollout) -> bool:
        return bool(rollout.ended_at) and feed.now() - rollout.ended_at > LINGER_S

    def _draw_tile(self, feed: RunFeed, tile: Tile, changes: Changes) -> None:
        rollout = self.rollout_of(tile)
        if rollout is None:
            if changes.rewound and tile.talk is not None:
                tile.talk.show(None, follow=True)
                tile.talk = None
            return
        shown = tile.conversation
        misshapen = isinstance(tile.talk, LoopBlocks) != self.loops
        if tile.talk is None or shown is None or shown.key != rollout.key or misshapen or changes.rewound:
            self._show(feed, tile, rollout)
        elif rollout.key in changes.keys:
            tile.talk.update()

    def _show(self, feed: RunFeed, tile: Tile, rollout: Rollout) -> None:
        try:
            conversation = feed.conversation(rollout.key)
        except UsageError as error:
            self.services.notify(literal(str(error)), severity="error")
            return
        compact = self.has_class("-narrow") or len(self.wall.tiles) > 2
        tile.show(conversation, loops=self.loops, compact=compact)
        self._draw_tile_caption(tile)

    def _move_on(self, feed: RunFeed) -> None:
        """Watch another conversation after one has ended, until the reader chooses one."""
        shown = {tile.slot for tile in self.wall.tiles}
        following = next((it for it in feed.overview.running.values() if it.says and it.slot not in shown), None)
        if following is not None and self.order is Order.RUNNING:
            self._watch(following.slot)
            self.running_list.move_to(row_key(following.slot))

    def _watch(self, slot: Slot) -> None:
        lead = self.wall.lead
        lead.slot = slot
        if self.feed is not None and (rollout := self.rollout_of(lead)) is not None:
            self._show(self.feed, lead, rollout)
            self.draw_caption()

    @on(RowList.RowHighlighted, "#running, #failures")
    def _highlighted(self, event: RowList.RowHighlighted) -> None:
        """Follow the cursor of the list that has the focus."""
        if event.rows.has_focus or event.rows.id == "running":
            slot = slot_of(event.key)
            if slot != self.wall.lead.slot:
                self._held = self.wall.lead.slot is not None
                self._watch(slot)
                self.refresh_keys()

    @on(RowList.RowChosen, "#running")
    def _chosen(self, event: RowList.RowChosen) -> None:
        self._held = True
        self.wall.lead.transcript.focus()
        self.draw_caption()

    @on(Transcript.FollowChanged)
    def _follow_changed(self) -> None:
        self.draw_caption()

    def draw_caption(self) -> None:
        """Say what is watched, and whether it is followed."""
        for tile in self.wall.tiles:
            self._draw_tile_caption(tile)
        if self.loops:
            rollout = self.watched_rollout()
            live = self.feed is not None and self.feed.is_live and rollout is not None and rollout.is_running
            tell(self.query_one("#trend", Static), trend_lines(rollout, live=live))

    def _draw_tile_caption(self, tile: Tile) -> None:
        rollout = self.rollout_of(tile)
        run_is_live = self.feed is not None and self.feed.is_live
        live = run_is_live and rollout is not None and rollout.is_running
        chosen = self._held or tile is not self.wall.lead
        words = "following" if chosen else "following the run"
        if not tile.transcript.follow:
            words = "frozen, space follows"
        words = words if live or (run_is_live and not chosen) else ""
        if tile.is_pinned:
            words = f"pinned  {words}".strip()
        if tile.is_mounted:
            shown = watched_words(rollout, loops=self.loops)
            tile.caption.tell(shown, Content.styled(words, "$live" if tile.is_pinned else "$muted"))

    # The wall --------------------------------------------------------------------------------------------------------

    def shapes(self) -> list[tuple[Shape, bool]]:
        """Return the shapes of the wall that fit this terminal, and whether the list stays beside each."""
        body = self.query_one("#live", Widget).size
        beside = (body.width * 9 // 19, body.height) if self.has_class("-wide") else (body.width, body.height * 7 // 18)
        return shapes_for(body.width, body.height, beside=beside)

    async def action_wall(self) -> None:
        """Show more conversations at once: two, four, nine, as many as fit, then one again."""
        shapes = self.shapes()
        places = [place for place, (shape, _) in enumerate(shapes) if shape == self.wall.shape]
        await self.set_wall((places[0] + 1) % len(shapes) if places else 0)

    async def set_wall(self, place: int) -> None:
        """Take one of the shapes that fit."""
        shapes = self.shapes()
        shape, beside = shapes[min(place, len(shapes) - 1)]
        was_alone = self.has_class("-wall")
        await self.wall.lay_out(shape)
        self.set_class(not beside, "-wall")
        if was_alone is beside:
            (self.running_list if beside else self.wall.lead.transcript).focus()
        if self.feed is not None:
            for tile in self.wall.tiles:
                tile.talk = None
            self.draw_watched(self.feed, Changes())
        self.draw_caption()
        self.refresh_keys()

    def action_pin(self) -> None:
        """Keep this conversation shown, whatever ends or begins, or let it go again."""
        tile = self.tile
        if tile.slot is None:
            return
        tile.is_pinned = not tile.is_pinned
        if tile.is_pinned and len(self.wall.tiles) == 1:
            self.services.notify(Content("Pinned; w shows more conversations beside it."))
        self.draw_caption()
        if self.feed is not None:
            self.draw_watched(self.feed, Changes())

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """Freeze the text, or follow it; once a conversation has ended, go on with the others."""
        rollout, text = self.watched_rollout(), self.transcript
        if text.follow and self._held and rollout is not None and not rollout.is_running:
            self._held = False
        else:
            self._held = text.follow
            text.set_follow(not text.follow)
        self.draw_caption()

    def action_fold(self) -> None:
        """Expand or fold the block at the top of the text; in loops, prompts and the judge's words."""
        tile = self.tile
        if isinstance(tile.talk, LoopBlocks):
            tile.talk.toggle()
            return
        block = tile.transcript.block_at_top()
        if block is not None:
            tile.transcript.toggle_fold(block.key)

    def action_copy_id(self) -> None:
        """Copy the case id."""
        if (rollout := self.watched_rollout()) is not None:
            self.services.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered last."""
        conversation = self.tile.conversation
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self.services.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")
