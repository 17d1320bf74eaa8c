"""Blind labels: one answer at a time next to its grading criteria, with its verdict hidden."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.exchange.reader_labels import LabelQueue, ShownAnswer
from console.store.runs import RunFolder
from console.tui.dialogs.small_dialogs import CommentScreen, Dialog
from console.tui.keymap import actions_at, bindings_for
from console.tui.sanitize import literal, one_line
from console.tui.services import Services
from console.tui.symbols import MUTED

_LONGEST = 100_000


class LabelScreen(Dialog[None]):
    """The queue of one reader; labels are saved at once and change no score."""

    DEFAULT_CSS = """
    LabelScreen { background: $background; }
    LabelScreen > #progress { height: auto; max-height: 2; padding: 0 1; }
    LabelScreen > #keys { height: 2; padding: 0 1; dock: bottom; color: $muted; border-top: solid $line; }
    LabelScreen VerticalScroll { border: round $line; border-title-color: $foreground; border-title-style: bold;
        border-subtitle-color: $foreground; padding: 0 1; scrollbar-size-vertical: 1; }
    LabelScreen VerticalScroll:focus { border: heavy $focus; border-title-color: $focus; }
    LabelScreen #question { width: 2fr; } LabelScreen #answer { width: 3fr; }
    """
    AUTO_FOCUS: ClassVar[str | None] = "#answer"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("label")

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
        keys = self._services.key_map
        words = [Content.assemble((keys.shown(action), "bold $focus"), f" {action.footer}")
                 for action in actions_at("label") if action.footer]  # fmt: skip
        yield Static(Content("  ").join(words), id="keys")

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
        """Show the current answer, or a message if none is left, and the progress."""
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
            ("Settle  " if queue.settles else "Label  ", "bold $focus"),
            one_line(queue.reader, 24),
            (" · judge hidden   ", MUTED),
            queue.progress_words,
        )
        if queue.remark:
            words = words.append_text("   with a remark", "$undecided")
        self.query_one("#progress", Static).update(words)
        self._show_grades()

    def _show_grades(self) -> None:
        """Show the grades so far, and the criterion of the next one."""
        queue = self._queue
        if queue is None:
            return
        given = [f"{name} {queue.grades.get(name, '?' if name == queue.criterion else '–')}" for name in queue.criteria]
        self.query_one("#question", VerticalScroll).border_subtitle = one_line("  ".join(given), 200)

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_answer_end(self) -> None:
        self.dismiss(None)

    def action_answer_passes(self) -> None:
        self._press("p")

    def action_answer_fails(self) -> None:
        self._press("f")

    def action_answer_unclear(self) -> None:
        self._press("u")

    def action_answer_grade1(self) -> None:
        self._press("1")

    def action_answer_grade2(self) -> None:
        self._press("2")

    def action_answer_grade3(self) -> None:
        self._press("3")

    def action_answer_grade4(self) -> None:
        self._press("4")

    def action_answer_grade5(self) -> None:
        self._press("5")

    def action_answer_remark(self) -> None:
        if self._queue is not None and self._queue.current is not None:
            self._ask_remark()

    def action_answer_settle(self) -> None:
        """Show only answers on which readers disagree, or all answers again."""
        if self._queue is not None:
            self._queue.turn_to(settles=not self._queue.settles)
            self._show()

    def action_answer_back(self) -> None:
        if self._queue is not None:
            self._change(self._queue.go_back)

    def _press(self, key: str) -> None:
        if self._queue is not None:
            self._change(partial(self._queue.press, key))

    def _change(self, change: Callable[[], bool]) -> None:
        """Record or undo a verdict or a grade, and show the next answer."""
        answer = self._queue.current if self._queue is not None else None
        try:
            change()
        except UsageError as error:
            self._services.refuse(error)
            return
        if self._queue is not None and self._queue.current is answer:
            self._show_grades()
        else:
            self._show()

    @work(exclusive=True)
    async def _ask_remark(self) -> None:
        if (queue := self._queue) is None:
            return
        title = Content.styled("Remark on this answer", "bold")
        written = await self._services.ask(CommentScreen(title, queue.remark))
        if written is not None:
            queue.remark = written
            self._show()
