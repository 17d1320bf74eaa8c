"""Blind labels: one answer at a time beside what it is graded by, its verdict hidden."""

import asyncio
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.core.fault import UsageError
from console.exchange.reader_labels import LabelQueue, ShownAnswer
from console.insight.reader_labels import progress_words
from console.store.runs import RunFolder
from console.tui.dialogs.small_dialogs import CommentScreen
from console.tui.sanitize import literal, one_line
from console.tui.services import Services
from console.tui.symbols import MUTED

_LONGEST = 100_000
_KEYS = "p passes  f fails  u cannot tell  1-5 grade  c remark  ⌫ back  s settle  esc"


class LabelScreen(ModalScreen[None]):
    """The queue of one reader; labels are saved at once and change no score."""

    DEFAULT_CSS = """
    LabelScreen { background: $background; }
    LabelScreen > #progress { height: auto; max-height: 2; padding: 0 1; background: $panel; }
    LabelScreen > #keys { height: 1; padding: 0 1; dock: bottom; color: $muted; }
    LabelScreen VerticalScroll { border: round $line; border-title-color: $muted; padding: 0 1;
        border-subtitle-color: $foreground; }
    LabelScreen VerticalScroll:focus { border: round $focus; }
    LabelScreen #question { width: 2fr; } LabelScreen #answer { width: 3fr; }
    """
    AUTO_FOCUS: ClassVar[str | None] = "#answer"

    def __init__(self, services: Services, run: RunFolder) -> None:
        super().__init__()
        self._services, self._run = services, run
        self._queue: LabelQueue | None = None

    def compose(self) -> ComposeResult:
        yield Static(Content(" reading the run …"), id="progress")
        with Horizontal():
            with VerticalScroll(id="question") as question:
                question.border_title = "graded by"
                yield Static(id="question-text")
            with VerticalScroll(id="answer"):
                yield Static(id="answer-text")
        yield Static(Content(_KEYS), id="keys")

    def on_mount(self) -> None:
        self._open()

    @work(exclusive=True)
    async def _open(self) -> None:
        try:
            self._queue = await asyncio.to_thread(LabelQueue, self._run, data=self._services.paths.data)
        except UsageError as error:
            self._services.refuse(error)
            self.dismiss(None)
            return
        self._show()

    def _show(self) -> None:
        """Show the current answer, or that none is left, and the progress."""
        queue = self._queue
        if queue is None:
            return
        nothing = "Readers agree everywhere." if queue.settles else "Nothing is left to label."
        shown = queue.read() or ShownAnswer("", "", nothing)
        answer = Content("\n\n").join(literal(text, _LONGEST, style) for text, style in
                                      ((shown.title, "bold"), (shown.answer, "")) if text)  # fmt: skip
        self.query_one("#question-text", Static).update(literal(shown.question, _LONGEST))
        self.query_one("#answer-text", Static).update(answer)
        place = "answer" if shown.round is None else f"answer of round {shown.round + 1}"
        self.query_one("#answer", VerticalScroll).border_title = place
        self.query_one("#answer", VerticalScroll).border_subtitle = one_line(queue.readers_words, 60)
        for scroll in self.query(VerticalScroll):
            scroll.scroll_home(animate=False)
        words = Content.assemble(
            ("Settle  " if queue.settles else "Label  ", "bold"),
            one_line(queue.reader, 24),
            (" · judge hidden   ", MUTED),
            progress_words(queue.score()),
        )
        if queue.remark:
            words = words.append_text("   with a remark", "$undecided")
        self.query_one("#progress", Static).update(words)
        self._show_grades()

    def _show_grades(self) -> None:
        """Show the grades given so far, and the criterion that the next one is for."""
        queue = self._queue
        if queue is None:
            return
        given = [f"{name} {queue.grades.get(name, '?' if name == queue.criterion else '–')}" for name in queue.criteria]
        self.query_one("#question", VerticalScroll).border_subtitle = one_line("  ".join(given), 200)

    def on_key(self, event: events.Key) -> None:
        queue, key = self._queue, event.character or event.key
        if event.key == "escape":
            self.dismiss(None)
        elif queue is None:
            return
        elif key == "c" and queue.current is not None:
            self._ask_remark()
        elif key == "s":
            queue.turn_to(settles=not queue.settles)
            self._show()
        elif not self._label(queue, key, is_back=event.key == "backspace"):
            return
        event.stop()
        event.prevent_default()

    def _label(self, queue: LabelQueue, key: str, *, is_back: bool) -> bool:
        """Give a verdict or a grade, or take the last one back; return False if the key does neither."""
        answer = queue.current
        try:
            if not (queue.go_back() if is_back else queue.press(key)):
                return False
        except UsageError as error:
            self._services.refuse(error)
            return True
        if queue.current is answer:
            self._show_grades()
        else:
            self._show()
        return True

    @work(exclusive=True)
    async def _ask_remark(self) -> None:
        if (queue := self._queue) is None:
            return
        title = Content.styled("Remark on this answer", "bold")
        written = await self._services.ask(CommentScreen(title, queue.remark))
        if written is not None:
            queue.remark = written
            self._show()
