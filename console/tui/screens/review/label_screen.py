"""Blind labels: one answer at a time beside what it is graded by, its verdict hidden."""

import asyncio
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.core.annotation import FAILED, PASSED, UNCLEAR, ReaderLabel
from console.core.case import Slot
from console.core.fault import UsageError
from console.exchange.reader_labels import LabelQueue
from console.insight.reader_labels import progress_words
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.dialogs.small_dialogs import CommentScreen
from console.tui.sanitize import literal, one_line
from console.tui.services import Services
from console.tui.symbols import MUTED

_VERDICTS = {"p": PASSED, "f": FAILED, "u": UNCLEAR}
_PASSES_FROM = 4
_LONGEST = 100_000
_KEYS = "p passes   f fails   u cannot tell   1-5 grade   c remark   ⌫ one back   s settle   esc closes"


class LabelScreen(ModalScreen[None]):
    """The queue of one reader; labels are saved at once and change no score."""

    DEFAULT_CSS = """
    LabelScreen { background: $background; }
    LabelScreen > #progress { height: 1; padding: 0 1; background: $panel; }
    LabelScreen > #keys { height: 1; padding: 0 1; dock: bottom; color: $muted; }
    LabelScreen VerticalScroll { border: round $line; border-title-color: $muted; padding: 0 1; }
    LabelScreen #question { width: 2fr; } LabelScreen #answer { width: 3fr; }
    """
    AUTO_FOCUS: ClassVar[str | None] = "#answer"

    def __init__(self, services: Services, run: RunFolder) -> None:
        super().__init__()
        self._services, self._run = services, run
        self._queue: LabelQueue | None = None
        self._current: Rollout | None = None
        self._done: list[Slot] = []
        self._remark = ""
        self._settles = False

    def compose(self) -> ComposeResult:
        yield Static(Content(" reading the run …"), id="progress")
        with Horizontal():
            with VerticalScroll(id="question") as question:
                question.border_title = "graded by"
                yield Static(id="question-text")
            with VerticalScroll(id="answer") as answer:
                answer.border_title = "answer"
                yield Static(id="answer-text")
        yield Static(Content(_KEYS), id="keys")

    def on_mount(self) -> None:
        self._open()

    @work(exclusive=True)
    async def _open(self) -> None:
        try:
            data = self._services.paths.data
            self._queue = await asyncio.to_thread(LabelQueue, self._run, settles=self._settles, data=data)
        except UsageError as error:
            self._services.refuse(error)
            self.dismiss(None)
            return
        self._show(self._queue.next())

    def _show(self, rollout: Rollout | None) -> None:
        """Show an answer, or that none is left."""
        queue, self._current = self._queue, rollout
        if queue is None:
            return
        nothing = "Readers agree everywhere." if self._settles else "Nothing is left to label."
        question, answer = queue.read(rollout) if rollout is not None else ("", nothing)
        for name, text in (("#question-text", question), ("#answer-text", answer)):
            self.query_one(name, Static).update(literal(text, _LONGEST))
        for scroll in self.query(VerticalScroll):
            scroll.scroll_home(animate=False)
        head = "Settle" if self._settles else "Label"
        words = Content.assemble((f"{head}  ", "bold"), one_line(queue.reader, 24), (" · judge hidden   ", MUTED))
        words = words.append(progress_words(queue.score()))
        if self._remark:
            words = words.append_text("   with a remark", "$undecided")
        self.query_one("#progress", Static).update(words)

    def on_key(self, event: events.Key) -> None:
        if self._queue is None and event.key != "escape":
            return
        key = event.character or event.key
        if event.key == "escape":
            self.dismiss(None)
        elif key in _VERDICTS:
            self._label(_VERDICTS[key], None)
        elif key in "12345":
            self._label(PASSED if int(key) >= _PASSES_FROM else FAILED, int(key))
        elif key == "c":
            self._ask_remark()
        elif event.key == "backspace":
            self._go_back()
        elif key == "s":
            self._settles = not self._settles
            self._open()
        else:
            return
        event.stop()
        event.prevent_default()

    def _label(self, word: str, grade: int | None) -> None:
        queue, rollout = self._queue, self._current
        if queue is None or rollout is None:
            return
        try:
            queue.label(rollout, word, ReaderLabel(blind=True, grade=grade, remark=self._remark))
        except UsageError as error:
            self._services.refuse(error)
            return
        self._remark = ""
        self._done.append(rollout.slot)
        self._show(queue.next())

    def _go_back(self) -> None:
        if self._queue is None or not self._done:
            return
        try:
            self._show(self._queue.take_back(self._done.pop()))
        except UsageError as error:
            self._services.refuse(error)

    @work(exclusive=True)
    async def _ask_remark(self) -> None:
        title = Content.styled("Remark on this answer", "bold")
        written = await self._services.ask(CommentScreen(title, self._remark))
        if written is not None:
            self._remark = written
            self._show(self._current)
