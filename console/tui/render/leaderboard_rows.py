"""Lines of the leaderboard: a suite's heading, a model's row, and what is known of the model under the cursor. Pure.

Name and ranking number stay where they are; the other columns are moved sideways, so that every official one can be
reached at any width.
"""

import time

from textual.content import Content

from console.insight import number_format
from console.insight.leaderboard import BFCL_COLUMNS, BFCL_GROUPS, BFCL_TABLES, Board, BoardRow, Cell
from console.suites.bfcl.aggregate import INCOMPLETE
from console.suites.bfcl.categories import ALL
from console.tui.render import lines, row_cells
from console.tui.sanitize import one_line

MUTED = "$muted"
_CELL = 12
_WORDS = {
    "aidanbench_score": "answers",
    "all_irrelevance": "irrelevance",
    "irrelevance": "non-live irrelevance",
    "format_reward": "format",
    "avg_coherence": "coherence",
    "avg_embedding_novelty": "novelty",
    "sum_embedding_novelty": "novelty sum",
    "avg_llm_novelty": "LLM novelty",
    "cost_usd": "cost in USD",
    "latency_mean_s": "latency mean s",
    "latency_stdev_s": "latency stdev s",
    "latency_p95_s": "latency 95 % s",
    "format_max_delta": "format max delta",
    "format_stdev": "format stdev",
}
_WIDE = 116
"""From this width on, names have more room."""


def columns_of(board: Board) -> list[str]:
    """Return the columns that can be moved, sums first; of other suites than BFCL those that were ever played."""
    if board.columns == BFCL_COLUMNS:
        return [*BFCL_GROUPS[1:], *(name for name in board.columns if name not in BFCL_GROUPS)]
    return [name for name in board.columns[1:] if any(row.cells[name].value is not None for row in board.rows)]


def shown(board: Board, left: int, width: int) -> list[str]:
    """Return the columns that fit from the one at `left` on."""
    room = width - _name_width(width) - _CELL - 3
    fitting: list[str] = []
    for name in columns_of(board)[left:]:
        room -= _width(name) + 1
        if room < 0:
            break
        fitting.append(name)
    return fitting


def last_left(board: Board, width: int) -> int:
    """Return how far the columns can be moved: the last one is in sight then."""
    every = columns_of(board)
    return next((left for left in range(len(every)) if len(shown(board, left, width)) == len(every) - left), 0)


def heading(board: Board, left: int, width: int) -> Content:
    """Return the line with the suite, the columns, and which of all they are."""
    room = _name_width(width)
    names, count = shown(board, left, width), len(columns_of(board))
    place = f"{left + 1}-{left + len(names)} of {count}" if len(names) < count else ""
    name = lines.spread(one_line(f"  {board.suite}", room + 1, "bold"), Content.styled(place, MUTED), room + 1)
    cells = [lines.fit_text(_words(board.columns[0]), _CELL + 4, right=True)]
    cells += [lines.fit_text(_words(it), _width(it), right=True) for it in names]
    return lines.fit(name.append_text(" ".join(cells), MUTED), width + 2)


def line(board: Board, place: int, left: int, width: int, *, marked: bool) -> Content:
    """Return a model's row."""
    row, room = board.rows[place], _name_width(width)
    mark = "simulated" if row.simulated else "" if row.mode == "prompt" else row.mode
    if row.simulated and row.mode != "prompt":
        mark = f"{row.mode} simulated"
    name = one_line(row.model, max(room - 5 - len(mark), 8)).append_text(f" {mark}" if mark else "", MUTED)
    rank = Content.styled("  A" if marked else f"{place + 1:>3}", "bold $live" if marked else MUTED)
    cells = [lines.fit(_cell(row.headline(board)), _CELL + 1, right=True)]
    cells += [lines.fit(_cell(row.cells[it]), _width(it), right=True) for it in shown(board, left, width)]
    return lines.fit(rank.append(" ").append(lines.fit(name, room - 2)).append(Content(" ").join(cells)), width)


def _name_width(width: int) -> int:
    return 38 if width >= _WIDE else 24


def _width(name: str) -> int:
    return max(_CELL, len(_words(name)))


def _words(name: str) -> str:
    return _WORDS.get(name, name.replace("parallel_multiple", "par. multiple").replace("_", " "))


def _cell(cell: Cell) -> Content:
    """Return a value with half of its interval; what rests on too little is marked by `*`."""
    if cell.value is None:
        return Content.styled("N/A", MUTED)
    if cell.unit == "plain":
        return Content.assemble((f"{cell.value:.2f}", "bold"), ("*" if cell.note else "", "$undecided"))
    show = number_format.rate if cell.unit == "rate" else number_format.number
    half = "" if cell.low is None or cell.high is None else f" ±{show((cell.high - cell.low) / 2)}"
    return Content.assemble((show(cell.value), "bold"), ("*" if cell.note else "", "$undecided"), (half, MUTED))


def about(board: Board, row: BoardRow, width: int, height: int) -> list[Content]:
    """Return what is known of a row: its runs, when, cost, and what is incomplete."""
    cost = "simulated" if row.simulated else number_format.money(row.cost_usd, at_least=bool(row.cost_unknown))
    when = row_cells.when(row.at, time.time(), wide=True)
    runs = Content.styled(", ", MUTED).join([one_line(name, 60) for name in row.runs])
    made = [
        Content.assemble(one_line(row.model, 40, "bold"), (f"  {row.mode}  {when}  {cost}", MUTED)),
        Content.assemble((f"{number_format.plural(len(row.runs), 'run')}  ", MUTED), runs),
    ]
    if board.columns == BFCL_COLUMNS:
        made += _official(row, width)
        return [lines.fit(line, width) for line in made[:height]]
    cells = [row.cells[name] for name in board.columns if row.cells[name].value is not None]
    missing = [name for name in board.columns if row.cells[name].value is None]
    if len(cells) > 1 and cells[0].low is not None and cells[0].high is not None:
        show = number_format.rate if cells[0].unit == "rate" else number_format.number
        span = f"95 % of {board.columns[0]}: {show(cells[0].low)} to {show(cells[0].high)}"
        made.append(one_line(span, style=MUTED))
    notes = [
        f"{name}: {row.cells[name].note}"
        for name in board.columns
        if row.cells[name].value is not None and row.cells[name].note
    ]
    made += [one_line(f"* {note}", style="$undecided") for note in notes[: max(height - len(made) - bool(missing), 1)]]
    if missing:
        made.append(one_line(f"N/A: {', '.join(missing)}", style=MUTED))
    return [lines.fit(line, width) for line in made[:height]]


def _official(row: BoardRow, width: int) -> list[Content]:
    """Return what the first number lacks, and every category as the official tables have them."""
    missing, _, failed = row.cells["overall"].note.partition("; ")
    if missing and not missing.startswith(INCOMPLETE):
        missing, failed = "", missing
    made = [Content.styled(f"* overall: {missing}; missing ones count as 0", "$undecided")] if missing else []
    judged = [_words(name) for name in row.cells if name in ALL and "failed inference" in row.cells[name].note]
    if failed or judged:
        said = f"* {failed or 'failed inferences judged as answers'}: {', '.join(judged)}"
        made.append(Content.styled(said, "$undecided"))
    for family, columns in BFCL_TABLES.items():
        known = [name for name in columns if row.cells[name].value is not None]
        cells = [Content.styled(f"{_short(name, family)} ", MUTED).append(_cell(row.cells[name])) for name in columns]
        if not known:
            cells = [Content.styled("N/A", MUTED)]
        table = Content.styled(lines.fit_text(family, 12), "bold").append(Content("  ").join(cells))
        made += table.wrap(width)
    return made


def _short(column: str, family: str) -> str:
    """Return a column without what the name of its table says already."""
    said = {"non live": "simple_", "live": "live_", "multi turn": "multi_turn_", "formats": "format_"}.get(family, "")
    if family == "agentic":
        said = "web_search_" if column.startswith("web_search_") else "memory_"
    if family == "spent":
        return _words(column)
    return column.removeprefix(said).replace("parallel_multiple", "par. multiple").replace("_", " ")
