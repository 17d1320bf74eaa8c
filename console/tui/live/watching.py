"""The watched conversation of Live: it follows the cursor, and until the reader chooses, whatever is being said."""

import time
from enum import StrEnum

from textual import on
from textual.content import Content
from textual.widgets import Static

from console.core.case import Key
from console.core.fault import UsageError
from console.insight.rollout import Rollout, Slot
from console.store.runs import RunFolder
from console.tui.feed import Changes, RunFeed
from console.tui.live.caption import Caption, tell
from console.tui.live.loop_pane import LoopTalk
from console.tui.live.progress import watched_words
from console.tui.live.rows import row_key, slot_of
from console.tui.live.steering import Steering
from console.tui.live.talk import Talk
from console.tui.live.trend import trend_lines
from console.tui.safe import literal
from console.tui.widgets.rows import Rows
from console.tui.widgets.transcript import Transcript

LINGER_S = 1.5
"""How long an ended conversation stays in view before the next one is watched."""


class Order(StrEnum):
    """What the list shows, and how it is sorted."""

    RUNNING = "running now"
    RUN = "all, in the order of the run"
    CLOSEST = "closest to stopping"
    WORST = "worst first"


class Watching(Steering):
    """Keeps `#watched` in step with the cursor of `#running`."""

    def __init__(self, run: RunFolder) -> None:
        """Watch nothing yet."""
        super().__init__(run)
        self.order = Order.RUNNING
        self._talk: Talk | LoopTalk | None = None
        self.loops = False
        """Whether the run is one of loops."""
        self._watched: Slot | None = None
        self._pinned = False

    @property
    def running_list(self) -> Rows:
        """The list of conversations."""
        return self.query_one("#running", Rows)

    @property
    def transcript(self) -> Transcript:
        """The text of the watched conversation."""
        return self.query_one("#watched", Transcript)

    def find_rollout(self, slot: Slot) -> Rollout | None:
        """Return a rollout of the run."""
        return self.feed.overview.rollouts.get(slot) if self.feed is not None else None

    def watched_rollout(self) -> Rollout | None:
        """Return the rollout whose conversation is shown."""
        return self.find_rollout(self._watched) if self._watched is not None else None

    # Watching --------------------------------------------------------------------------------------------------------

    def awaits(self, key: Key) -> bool:
        """Wait for what is watched whatever the line costs."""
        rollout = self.watched_rollout()
        return super().awaits(key) or (self.is_current and rollout is not None and rollout.key == key)

    def draw_watched(self, feed: RunFeed, changes: Changes) -> None:
        """Take over what is new in the watched conversation."""
        rollout = self.watched_rollout()
        if rollout is None:
            cursor = self.running_list.cursor
            if cursor is not None:
                self._watch(slot_of(cursor))
            return
        shown = self._talk.conversation if self._talk else None
        if self._talk is None or shown is None or shown.key != rollout.key or self._is_misshapen():
            self._watch(rollout.slot)
        elif rollout.key in changes.keys:
            self._talk.update()
        if not self._pinned and feed.is_live and rollout.ended_at and time.time() - rollout.ended_at > LINGER_S:
            self._move_on(feed)

    def _move_on(self, feed: RunFeed) -> None:
        """Watch another conversation after one has ended, until the reader chooses one."""
        following = next((it for it in feed.overview.running.values() if it.says), None)
        if following is not None and self.order is Order.RUNNING:
            self._watch(following.slot)
            self.running_list.move_to(row_key(following.slot))

    def _watch(self, slot: Slot) -> None:
        self._watched = slot
        rollout = self.watched_rollout()
        if self.feed is None or rollout is None:
            return
        try:
            conversation = self.feed.conversation(rollout.key)
        except UsageError as error:
            self.console_app.say(literal(str(error)), severity="error")
            return
        if self._talk is None or self._is_misshapen():
            self._talk = LoopTalk(self.transcript) if self.loops else Talk(self.transcript)
        self._talk.compact = self.has_class("-narrow")
        self._talk.show(conversation, follow=True)
        self.draw_caption()

    def _is_misshapen(self) -> bool:
        """Whether the text is drawn as another kind of conversation than it has turned out to be."""
        return isinstance(self._talk, LoopTalk) != self.loops

    @on(Rows.RowHighlighted, "#running, #failures")
    def _highlighted(self, event: Rows.RowHighlighted) -> None:
        """Follow the cursor of the list that has the focus."""
        if event.rows.has_focus or event.rows.id == "running":
            slot = slot_of(event.key)
            if slot != self._watched:
                self._pinned = self._watched is not None
                self._watch(slot)
                self.refresh_keys()

    @on(Rows.RowChosen, "#running")
    def _chosen(self, event: Rows.RowChosen) -> None:
        self._pinned = True
        self.transcript.focus()
        self.draw_caption()

    @on(Transcript.FollowChanged)
    def _follow_changed(self) -> None:
        self.draw_caption()

    def draw_caption(self) -> None:
        """Say what is watched, and whether it is followed."""
        rollout = self.watched_rollout()
        run_is_live = self.feed is not None and self.feed.is_live
        live = run_is_live and rollout is not None and rollout.is_running
        words = "following" if self._pinned else "following the run"
        if not self.transcript.follow:
            words = "frozen, space follows"
        shown = live or (run_is_live and not self._pinned)
        caption = self.query_one("#watched-caption", Caption)
        caption.tell(watched_words(rollout, loops=self.loops), Content.styled(words if shown else "", "$muted"))
        if self.loops:
            tell(self.query_one("#trend", Static), trend_lines(rollout, live=live))

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """Freeze the text, or follow it; once a conversation has ended, go on with the others."""
        rollout = self.watched_rollout()
        if self.transcript.follow and self._pinned and rollout is not None and not rollout.is_running:
            self._pinned = False
        else:
            self._pinned = self.transcript.follow
            self.transcript.set_follow(not self.transcript.follow)
        self.draw_caption()

    def action_fold(self) -> None:
        """Expand or fold the block at the top of the text; in loops, prompts and the judge's words."""
        if isinstance(self._talk, LoopTalk):
            self._talk.toggle()
            return
        block = self.transcript.block_at_top()
        if block is not None:
            self.transcript.toggle_fold(block.key)

    def action_copy_id(self) -> None:
        """Copy the case id."""
        if (rollout := self.watched_rollout()) is not None:
            self.console_app.copy(rollout.key.case, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered last."""
        conversation = self._talk.conversation if self._talk else None
        if conversation is not None and conversation.exchanges:
            reply = conversation.exchanges[-1].asked.reply
            calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
            self.console_app.copy("\n".join([reply.content or "", *calls]).strip(), "the last answer")
