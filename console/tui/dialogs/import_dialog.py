"""`ImportDialog`: asks for paths of logs and shows the progress and result of each file."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from console.core.fault import UsageError
from console.exchange.imports.importing import ImportReport, partial_words, total_sign
from console.insight import number_format
from console.tui.data.import_session import ImportSession
from console.tui.dialogs.small_dialogs import Dialog
from console.tui.sanitize import literal, one_line
from console.tui.symbols import MUTED, SYMBOLS, muted

_DRAWN_EVERY_S = 0.1
_SHOWN_PROBLEMS = 5


class ImportDialog(Dialog[str]):
    """Returns the name of the run to open, or an empty string."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("pagedown", "scroll_lines(1)", show=False),
        Binding("pageup", "scroll_lines(-1)", show=False),
    ]
    DEFAULT_CSS = """
    ImportDialog { align: center middle; background: $background 50%; }
    ImportDialog > Vertical { width: 96%; max-width: 110; height: auto; max-height: 90%; background: $panel;
                              border: round $focus; padding: 0 1; }
    ImportDialog Input { height: 1; border: none; padding: 0; background: $panel; }
    ImportDialog VerticalScroll { height: auto; max-height: 60vh; }
    ImportDialog #progress { height: auto; }
    """

    def __init__(self, new_session: Callable[[], ImportSession]) -> None:
        """Initialize the dialog; `new_session` creates an import."""
        super().__init__()
        self._new_session = new_session
        self._session: ImportSession | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("Import logs of other tools", "bold"))
            yield Static(muted("files or folders, separated by spaces; the format is detected"))
            yield Input(placeholder="logs/run.eval results/", compact=True)
            with VerticalScroll(can_focus=False):
                yield Static(id="lines")
            yield Static(id="progress")
            yield Static(id="keys")

    def on_mount(self) -> None:
        self.set_interval(_DRAWN_EVERY_S, self._draw)
        self._draw()

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        session = self._session
        if session is not None and not event.value.strip() and session.reports:
            self.dismiss(session.reports[0].run)
        elif session is None or not session.is_running:
            self._begin(event.value)

    def _begin(self, text: str) -> None:
        session = self._new_session()
        try:
            session.start(text)
        except UsageError as error:
            self._session = None
            self._show(literal(str(error), 600, "$broken"))
            return
        self._session = session
        self.query_one(Input).clear()
        self._draw()

    def action_leave(self) -> None:
        """Stop the running import, or close the dialog."""
        if self._session is not None and self._session.is_running:
            self._session.stop()
        else:
            self.dismiss("")

    def action_scroll_lines(self, pages: int) -> None:
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_page_down() if pages > 0 else scroll.scroll_page_up()

    def on_unmount(self) -> None:
        if self._session is not None:
            self._session.stop()

    def _draw(self) -> None:
        session = self._session
        if session is None:
            self.query_one("#keys", Static).update(muted("enter imports   esc leaves"))
            return
        lines = [line for report in session.reports for line in _report_lines(report)]
        lines += [literal(mistake, 600, "$broken") for mistake in session.mistakes]
        self._show(Content("\n").join(lines))
        self.query_one("#progress", Static).update(_progress_line(session))
        words = "esc stops; importing the file again resumes" if session.is_running else "esc leaves"
        if session.reports and not session.is_running:
            words = "enter reviews the first   type a path for more   esc leaves"
        self.query_one("#keys", Static).update(muted(words))

    def _show(self, content: Content) -> None:
        self.query_one("#lines", Static).update(content)


def _progress_line(session: ImportSession) -> Content:
    """Return the current file and its progress, kept visible below the results."""
    item = session.current
    if item is None:
        return Content.empty()
    planned = f" of {number_format.count(session.planned)}" if session.planned else ""
    place = f"   file {session.items.index(item) + 1} of {len(session.items)}" if len(session.items) > 1 else ""
    counted = muted(f"  {number_format.count(session.done)}{planned} samples{place}")
    return one_line(item.path.name, 50, "$live").append(counted)


def _report_lines(report: ImportReport) -> list[Content]:
    counts = ", ".join(f"{number} {word}" for word, number in report.outcomes.items()) or "no sample"
    lines = [
        Content.styled(f"{SYMBOLS.passed} ", "$pass")
        .append(one_line(f"{report.suite}  {report.model}", 60, "bold"))
        .append(f"  {counts}")
    ]
    for total in report.totals:
        ours = "" if total.ours is None else f", {total.ours:.6g} here"
        style = {True: "$pass", False: "$broken", None: MUTED}[total.agrees]
        lines.append(
            one_line(f"    {total.score} {total.metric}: {total.reported:.6g} in the log{ours} ", 100).append(
                Content.styled(total_sign(total), style)
            )
        )
    lines += [one_line(f"    {words}", 200, "$undecided") for words in partial_words(report)]
    if report.missing:
        words = f"    {report.missing} more are declared in the log but missing"
        lines.append(Content.styled(words, "$undecided"))
    lines += [
        one_line(f"    {problem.where}: {problem.why}", 200, "$undecided")
        for problem in report.problems[:_SHOWN_PROBLEMS]
    ]
    if len(report.problems) > _SHOWN_PROBLEMS:
        lines.append(Content.styled(f"    and {len(report.problems) - _SHOWN_PROBLEMS} more", "$undecided"))
    if report.unplaced:
        lines.append(one_line(f"    under Raw: {', '.join(report.unplaced)}", 100, MUTED))
    return lines
