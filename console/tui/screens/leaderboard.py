"""The leaderboard: all models on each suite, ranked by what the suite measures, an interval beside every rate.

Made from the summaries of all runs; only the spread of means needs their journals, which a thread reads.
"""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.exchange.reading import RunReader
from console.insight import figures
from console.insight.leaderboard import (
    BFCL_COLUMNS,
    BFCL_GROUPS,
    BFCL_TABLES,
    Board,
    BoardRow,
    Cell,
    leaderboards,
    with_interval,
)
from console.insight.trends import KnownRun
from console.store.runs import RunFolder
from console.tui import faces, lines
from console.tui.keys import bindings_for
from console.tui.safe import one_line
from console.tui.screens.place import Place
from console.tui.stock import RunLine
from console.tui.widgets.rows import Face, Rows
from console.tui.widgets.rule import Rule

MUTED = "$muted"
_JOINT = "\x1f"
_CELL = 13
_WORDS = {
    "aidanbench_score": "answers",
    "all_irrelevance": "irrelevance",
    "format_reward": "format",
    "avg_coherence": "coherence",
    "avg_embedding_novelty": "novelty",
    "sum_embedding_novelty": "novelty sum",
    "avg_llm_novelty": "LLM novelty",
}


class LeaderboardScreen(Place):
    """All boards; see the module."""

    where: ClassVar[str] = "board"
    heading: ClassVar[str] = "Leaderboard"
    AUTO_FOCUS: ClassVar[str | None] = "#board"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("board")
    DEFAULT_CSS = """
    LeaderboardScreen {
        #boards { height: 1fr; } #board { height: 1fr; }
        #row { height: 6; padding: 0 1; }
        &.-wide #row { height: 9; border: round $line; border-title-color: $muted; }
    }
    """

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self.boards: list[Board] = []
        self._rows: dict[str, tuple[Board, int]] = {}
        self._marked: RunFolder | None = None

    # Layout and reading ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out the list and what is known of the row under the cursor."""
        with Container(id="boards"):
            yield Rows(id="board", classes="pane", empty=Content("reading all runs …"))
        yield Rule()
        yield Static(id="row")

    def on_mount(self) -> None:
        """Read once the frame is painted, and again whenever runs or suites change."""
        self.query_one("#row", Static).border_title = Content("This model")
        self.console_app.shelf.changed.subscribe(self, self._take_news)
        self.call_after_refresh(self._reread)

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._reread()

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit."""
        self.call_after_refresh(self._draw)

    def _take_news(self, what: str) -> None:
        if what in ("runs", "suites") and self.is_current:
            self._reread()

    def action_reload(self) -> None:
        """Read all runs again."""
        self.console_app.shelf.read_runs()

    def _reread(self) -> None:
        shelf = self.console_app.shelf
        if not shelf.runs_complete or shelf.suites is None:
            return
        entries = {
            line.name: {category.name: category.cases for category in line.categories} for line in shelf.suites.lines
        }
        self._read(list(shelf.runs or []), entries)

    @work(thread=True, exclusive=True, group="board")
    def _read(self, runs: Sequence[RunLine], entries: Mapping[str, Mapping[str, int]]) -> None:
        known: list[KnownRun] = []
        folders = {line.name: line.folder for line in runs}
        for line in runs:
            try:
                if line.summary is not None:
                    known.append(KnownRun(line.summary, line.folder.manifest()))
            except UsageError:  # a run that was deleted meanwhile
                continue
        boards = [_with_intervals(board, folders) for board in leaderboards(known, entries)]
        if self.is_running:
            self.console_app.call_from_thread(self._take, boards)

    def _take(self, boards: list[Board]) -> None:
        self.boards = boards
        self._draw()

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """The list of all boards."""
        return self.query_one("#board", Rows)

    def _draw(self) -> None:
        if not self.is_mounted or not self.console_app.shelf.runs_complete:
            return
        self._rows = {}
        keys: list[str] = []
        fixed: set[str] = set()
        for board in self.boards:
            head = f"suite{_JOINT}{board.suite}"
            self._rows[head] = board, -1
            keys.append(head)
            fixed.add(head)
            for place in range(len(board.rows)):
                key = f"row{_JOINT}{board.suite}{_JOINT}{place}"
                self._rows[key] = board, place
                keys.append(key)
        models = {row.model for board in self.boards for row in board.rows}
        words = f"{figures.plural(len(models), 'model')}, {figures.plural(len(self.boards), 'suite')}"
        self.top_line.tell(title=Content(words), status=Content.styled("finished runs", MUTED))
        empty = Content("No run has finished yet. L starts one; enter on Try the demo at Home needs no key.")
        self.rows.show(keys, draw=self._face, fixed=fixed, empty=empty)
        self._show_row()

    def _face(self, key: str) -> Face:
        board, place = self._rows[key]
        width = self.rows.scrollable_content_region.width - 2
        return _heading(board, width) if place < 0 else _line(board, place, width, marked=self._is_marked(board, place))

    def _is_marked(self, board: Board, place: int) -> bool:
        return self._marked is not None and self._marked.name in board.rows[place].runs[:1]

    @on(Rows.RowHighlighted, "#board")
    def _show_row(self) -> None:
        about = self.query_one("#row", Static)
        board, place = self._rows.get(self.rows.cursor or "", (None, -1))
        width = max(about.content_size.width or self.size.width - 2, 40)
        if board is None or place < 0:
            about.update(Content.empty())
            return
        about.update(Content("\n").join(_about(board, board.rows[place], width, about.content_size.height or 6)))

    # Acting ----------------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        """Name enter by where it leads."""
        return {"open": "open its run in Review"}

    def _folder(self) -> RunFolder | None:
        board, place = self._rows.get(self.rows.cursor or "", (None, -1))
        if board is None or place < 0:
            return None
        wanted = board.rows[place].runs[0]
        return next((line.folder for line in self.console_app.shelf.runs or () if line.name == wanted), None)

    @on(Rows.RowChosen, "#board")
    def _chosen(self) -> None:
        if (folder := self._folder()) is not None:
            self.console_app.open_review(folder)

    def action_mark(self) -> None:
        """Mark the run of the row for Compare; the second mark opens it."""
        folder, before = self._folder(), self._marked
        if folder is None:
            return
        self._marked = None
        if before is None:
            self._marked = folder
            self.console_app.say(Content("Marked as A; m on another row compares it with this one."))
        elif before.path != folder.path:
            self.console_app.open_compare(before, folder)
        self.rows.touch()

    def action_group_next(self) -> None:
        """Go to the next suite."""
        self._step(1)

    def action_group_prev(self) -> None:
        """Go to the previous suite."""
        self._step(-1)

    def _step(self, by: int) -> None:
        board, _ = self._rows.get(self.rows.cursor or "", (None, -1))
        if board is not None and 0 <= (place := self.boards.index(board) + by) < len(self.boards):
            self.rows.move_to(f"row{_JOINT}{self.boards[place].suite}{_JOINT}0")


def _with_intervals(board: Board, folders: Mapping[str, RunFolder]) -> Board:
    """Fill in the intervals of means, whose spread only the journals hold."""
    name = board.columns[0]
    for row in board.rows:
        folder = folders.get(row.runs[0])
        if row.headline(board).unit != "mean" or folder is None:
            continue
        try:
            found = RunReader(folder).side.rollouts.values()
        except (UsageError, OSError):
            continue
        board = with_interval(board, row.runs[0], [it.scores[name] for it in found if name in it.scores])
    return board


def _shown(board: Board, width: int) -> list[str]:
    """Return the columns that fit besides the first."""
    chosen = BFCL_GROUPS if board.columns == BFCL_COLUMNS else board.columns
    known = [name for name in chosen[1:] if any(row.cells[name].value is not None for row in board.rows)]
    return known[: max((width - _name_width(width) - 2 * _CELL - 3) // (_CELL + 1), 0)]


def _name_width(width: int) -> int:
    return 36 if width >= 116 else 24


def _heading(board: Board, width: int) -> Content:
    room = _name_width(width)
    first = _WORDS.get(board.columns[0], board.columns[0].replace("_", " "))
    name = lines.fit(Content("  ").append(one_line(board.suite, room + 1, "bold")), room + 5)
    others = [_WORDS.get(it, it.replace("_", " ")) for it in _shown(board, width)]
    cells = [lines.fit_text(first, _CELL + 4, right=True), *(lines.fit_text(it, _CELL, right=True) for it in others)]
    return lines.fit(name.append_text(" ".join(cells), MUTED), width + 2)


def _line(board: Board, place: int, width: int, *, marked: bool) -> Content:
    row, room = board.rows[place], _name_width(width)
    mark = "simulated" if row.simulated else "" if row.mode == "prompt" else row.mode
    name = one_line(row.model, room - 4 - (len(mark) + 1 if mark else 0)).append_text(f" {mark}" if mark else "", MUTED)
    rank = Content.styled("  A" if marked else f"{place + 1:>3}", "bold $live" if marked else MUTED)
    cells = [lines.fit(_cell(row.headline(board)), _CELL + 4, right=True)]
    cells += [lines.fit(_cell(row.cells[it]), _CELL, right=True) for it in _shown(board, width)]
    return lines.fit(rank.append(" ").append(lines.fit(name, room - 1)).append(Content(" ").join(cells)), width)


def _cell(cell: Cell) -> Content:
    """Return a value with half of its interval; what rests on too little is marked by `*`."""
    if cell.value is None:
        return Content.styled("N/A", MUTED)
    show = figures.rate if cell.unit == "rate" else figures.number
    half = "" if cell.low is None or cell.high is None else f" ±{show((cell.high - cell.low) / 2)}"
    return Content.assemble((show(cell.value), "bold"), ("*" if cell.note else "", "$undecided"), (half, MUTED))


def _about(board: Board, row: BoardRow, width: int, height: int) -> list[Content]:
    """Return what is known of a row: its runs, when, cost, and what is incomplete."""
    cost = "simulated" if row.simulated else figures.money(row.cost_usd, at_least=bool(row.cost_unknown))
    when = faces.when(row.at, time.time(), wide=True)
    runs = Content.styled(", ", MUTED).join([one_line(name, 60) for name in row.runs])
    made = [
        Content.assemble(one_line(row.model, 40, "bold"), (f"  {row.mode}  {when}  {cost}", MUTED)),
        Content.assemble((f"{figures.plural(len(row.runs), 'run')}  ", MUTED), runs),
    ]
    if board.columns == BFCL_COLUMNS:
        made += _official(row)
        return [lines.fit(line, width) for line in made[:height]]
    cells = [row.cells[name] for name in board.columns if row.cells[name].value is not None]
    missing = [name for name in board.columns if row.cells[name].value is None]
    if len(cells) > 1 and cells[0].low is not None and cells[0].high is not None:
        show = figures.rate if cells[0].unit == "rate" else figures.number
        made.append(Content.styled(f"95 % of {board.columns[0]}: {show(cells[0].low)} to {show(cells[0].high)}", MUTED))
    notes = [
        f"{name}: {row.cells[name].note}"
        for name in board.columns
        if row.cells[name].value is not None and row.cells[name].note
    ]
    made += [Content.styled(f"* {note}", "$undecided") for note in notes[: max(height - len(made) - bool(missing), 1)]]
    if missing:
        made.append(Content.styled(f"N/A: {', '.join(missing)}", MUTED))
    return [lines.fit(line, width) for line in made[:height]]


def _official(row: BoardRow) -> list[Content]:
    """Return what the first number lacks, and every category as the official tables have them."""
    note = row.cells["overall"].note
    made = [Content.styled(f"* overall: {note}; missing ones count as 0", "$undecided")] if note else []
    judged = sum("failed inferences" in cell.note for cell in row.cells.values())
    if judged:
        said = f"* {figures.plural(judged, 'number')} with failed inferences, judged as answers"
        made.append(Content.styled(said, "$undecided"))
    for family, columns in BFCL_TABLES.items():
        cells = [Content.styled(f"{_short(name, family)} ", MUTED).append(_cell(row.cells[name])) for name in columns]
        made.append(Content.styled(lines.fit_text(family, 11), "bold").append(Content("  ").join(cells)))
    return made


def _short(column: str, family: str) -> str:
    """Return a column without what the name of its table says already."""
    said = {"non live": "simple_", "live": "live_", "multi turn": "multi_turn_"}.get(family, "")
    if family == "agentic":
        said = "web_search_" if column.startswith("web_search_") else "memory_"
    return column.removeprefix(said).replace("parallel_multiple", "par. multiple").replace("_", " ")
