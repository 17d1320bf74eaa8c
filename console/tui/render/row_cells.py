"""Cells of the rows of models, suites and runs."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from textual.content import Content

from console.core.price import dollars
from console.core.run import SIMULATED, Summary, Tally, reroll_words
from console.core.wait import slowed_by
from console.insight import number_format, run_number
from console.insight.reasons import counts_in_words
from console.tui.data.models import ModelLine
from console.tui.data.runs import RunLine, SortedFigure
from console.tui.data.suites import SuiteLine
from console.tui.render import lines
from console.tui.render.columns import GAP, Column, Face
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted, outcome_counts, state_word

_DAY_S = 86_400

# Runs ----------------------------------------------------------------------------------------------------------------

RUNS_NARROW = (
    Column("", 1),
    Column("model", 12, 1, is_name=True),
    Column("suite", 16, 4, is_name=True),
    Column("score", 14),
    Column("result", 20),
    Column("cost", 9, right=True, from_width=74),
    Column("when", 8, right=True, from_width=50),
)
_MOST_MODEL = 14
"""Maximum width of the model column in a narrow list."""
_USUAL_SUITE, _LEAST_SUITE = 18, 10
"""Widths reached by the suite column when setup and long words, or score intervals, are dropped."""
_MOST_SUITE = 30
"""Maximum width of a suite column fitted to its contents when setup and long words are dropped for it."""
_BRANCH_SIGN = 5
"""Width of the sign before a run with branches."""
_MOST_ID = 14
"""Maximum width of the ids by which a narrow list is sorted."""
_MOST_FITTED = 200
"""Number of runs up to which columns are fitted to their contents."""


def score_words(summary: Summary) -> str:
    """Return the score of a run in a list."""
    return run_number.headline(summary, brief=True)


@dataclass(frozen=True, slots=True)
class RunColumns:
    """Layout of a list of runs."""

    columns: tuple[Column, ...] = RUNS_NARROW
    figure: SortedFigure | None = None
    has_setup: bool = True
    """False if there is too little room to show setup rollouts with the results."""
    is_brief: bool = False
    """True if there is no room for the number of rollouts left, nor for `simulated` in full."""
    has_words: bool = True
    """False if `not run` stands only as its sign before the count."""


def runs_wide(runs: Sequence[RunLine], figure: SortedFigure | None = None) -> RunColumns:
    """Return the columns of a wide list; the suite gets the room that models do not need."""
    mark, at, model, *more = RUNS_WIDE
    columns = (mark, at, _model_column(model, runs), *more)
    return RunColumns((*columns[:-1], _figure_column(figure)) if figure else columns, figure)


def _model_column(column: Column, runs: Iterable[RunLine]) -> Column:
    """Return the column of models fitted to their names, up to a width."""
    longest = max([5, *(len(line.summary.model) for line in runs if line.summary is not None)])
    return msgspec.structs.replace(column, width=min(longest, _MOST_MODEL), share=int(longest > _MOST_MODEL))


def _figure_column(figure: SortedFigure) -> Column:
    """Return the column of the number by which the list is sorted, which replaces the cost."""
    return Column(figure.name, 20, 2, is_name=True) if figure.is_text else Column(figure.name, 9, right=True)


def runs_narrow(runs: Sequence[RunLine], room: int, now: float, figure: SortedFigure | None = None) -> RunColumns:
    """Return the columns fitted to their contents; setup and intervals are dropped to widen the suite."""
    mark, model, suite, score, result, cost, at = RUNS_NARROW
    cost = _figure_column(figure) if figure else cost
    scores = [score_words(line.summary) for line in runs if line.summary is not None]
    fitted = [mark, _model_column(model, runs), suite, _wide(score, max([5, *map(len, scores)])), result, cost, at]
    readable = [line for line in runs if line.summary is not None] if len(runs) <= _MOST_FITTED else []
    if readable:
        cells = ((_result(line), _cost(line, figure), _when(line, now, wide=False)) for line in readable)
        widths = zip(*((cell.cell_length for cell in row) for row in cells), strict=True)
        for place, longest_cells in enumerate(widths, 4):
            longest = max(len(fitted[place].name), *longest_cells, 0)
            fitted[place] = _wide(fitted[place], min(longest, _MOST_ID) if fitted[place].is_name else longest)
    given = [column.width for column in fitted if room >= column.from_width]
    rest = room - sum(given) + suite.width - len(GAP) * (len(given) - 1)
    suites = (suite_and_name(line).cell_length for line in readable)
    has_branches = any(line.is_branch for line in readable)
    wanted = min(max([_USUAL_SUITE, *suites]) + _BRANCH_SIGN * has_branches, _MOST_SUITE)
    if rest >= wanted:
        return RunColumns(tuple(fitted), figure)
    if readable:
        shorter = _fitted(result, (_result(line, with_setup=False) for line in readable))
        rest, fitted[4] = rest + fitted[4].width - shorter.width, shorter
    if rest >= wanted:
        return RunColumns(tuple(fitted), figure, has_setup=False)
    if readable:
        cheaper = fitted[5] if figure else _fitted(cost, (_cost(line, is_brief=True) for line in readable))
        rest += fitted[5].width - cheaper.width
        fitted[5] = cheaper
    if rest >= _LEAST_SUITE:
        return RunColumns(tuple(fitted), figure, has_setup=False, is_brief=True)
    if readable:
        terse = _fitted(result, (_result(line, with_setup=False, with_words=False) for line in readable))
        rest, fitted[4] = rest + fitted[4].width - terse.width, terse
    if figure is not None and figure.is_text and room >= at.from_width:  # an id begins with the time
        rest += fitted.pop().width + len(GAP)
    fitted[3] = _wide(score, _score_width(scores, fitted[3].width + rest - _LEAST_SUITE))
    return RunColumns(tuple(fitted), figure, has_setup=False, is_brief=True, has_words=False)


def _score_width(scores: Sequence[str], room: int) -> int:
    """Return the width for scores, which all lose their intervals if one of those has no room."""
    room = 0 if room < max([0, *(len(each) for each in scores if "[" in each)]) else room
    return max([5, *(len(each) if len(each) <= room else len(bare_score(each)) for each in scores)])


def _fitted(column: Column, cells: Iterable[Content]) -> Column:
    with_sort_sign = len(column.name) + 2
    return _wide(column, max(with_sort_sign, *(cell.cell_length for cell in cells)))


def _wide(column: Column, width: int) -> Column:
    return msgspec.structs.replace(column, width=width)


def bare_score(score: str) -> str:
    """Return a score without its interval, and with `…` instead of its basis."""
    number, basis, _ = score.partition(" [")[0].partition(" (")
    return f"{number} …" if basis else number


RUNS_WIDE = (
    Column("", 1),
    Column("when", 12),
    Column("model", 14, 2, is_name=True),
    Column("suite", 20, 3, is_name=True),
    Column("pass", 6, right=True),
    Column("fail", 6, right=True),
    Column("broken", 6, right=True),
    Column("left", 8, right=True),
    Column("score", 16),
    Column("cost", 9, right=True),
)


@dataclass(frozen=True, slots=True)
class Kin:
    """The branches of a run in the list, and the run it branched from."""

    parent: RunLine | None = None
    """The run it branched from, if listed."""
    branches: int = 0
    """Number of branches listed under it."""
    is_unfolded: bool = False


def run_narrow(line: RunLine, kin: Kin, now: float, layout: RunColumns) -> Face:
    """Return a run's cells for the narrow layout, `RUNS_NARROW`."""
    if line.summary is None:
        return _damage(line)
    words = "" if line.is_queued else score_words(line.summary)
    score = Content(words if len(words) <= layout.columns[3].width else bare_score(words))
    model, suite = _model_and_suite(line, kin, now)
    result = _result(line, with_setup=layout.has_setup, with_words=layout.has_words)
    cost = _cost(line, layout.figure, is_brief=layout.is_brief)
    return _state_mark(line), model, suite, score, result, cost, _when(line, now, wide=False)


def run_wide(line: RunLine, kin: Kin, now: float, figure: SortedFigure | None = None) -> Face:
    """Return a run's cells for the wide layout, `RUNS_WIDE`."""
    if line.summary is None:
        return _damage(line)
    tally = line.tally
    return (
        _state_mark(line),
        _when(line, now, wide=True),
        *_model_and_suite(line, kin, now),
        Content.styled(number_format.count(tally.passed), "$pass"),
        Content.styled(number_format.count(tally.failed), "$fail" if tally.failed else MUTED),
        _broken_and_undecided(tally),
        _left_and_not_run(line),
        Content.styled(f"queued {line.place}", "$live") if line.is_queued else Content(score_words(line.summary)),
        _cost(line, figure),
    )


def _broken_and_undecided(tally: Tally) -> Content:
    """Return the number of broken rollouts, preceded by `? 2` if two are undecided."""
    undecided = [Content.styled(f"{SYMBOLS.undecided} {number_format.count(tally.undecided)}", "$undecided")]
    broken = Content.styled(number_format.count(tally.broken), "$broken" if tally.broken else MUTED)
    return Content(" ").join([*undecided * bool(tally.undecided), broken])


def _left_and_not_run(line: RunLine) -> Content:
    """Return the number of rollouts left, preceded by `· 7` if seven were given up."""
    given_up = [muted(f"{SYMBOLS.not_run} {number_format.count(line.tally.not_run)}")]
    left = Content.styled(number_format.count(line.left), "$live" if line.is_live else MUTED)
    return Content(" ").join([*given_up * bool(line.tally.not_run), left])


def _model_and_suite(line: RunLine, kin: Kin, now: float) -> tuple[Content, Content]:
    """Return the model, the suite (after a pin, a branch's parent's time or a fold sign), and the run's given name."""
    assert line.summary is not None
    origin, parent = Content.empty(), kin.parent
    if kin.branches:
        origin = muted(f"{SYMBOLS.opened if kin.is_unfolded else SYMBOLS.folded}{SYMBOLS.branch}{kin.branches} ")
    if line.summary.parent:
        at = when(parent.summary.at, now, wide=False) if parent is not None and parent.summary is not None else ""
        origin = origin.append_text(f"{SYMBOLS.branch}{at} ", "$undecided")
    if line.summary.pinned:
        origin = Content.styled(f"{SYMBOLS.pinned} ", "$focus").append(origin)
    return one_line(line.summary.model, 60), origin.append(suite_and_name(line))


def suite_and_name(line: RunLine) -> Content:
    """Return the suite of a run, preceded by the run's given name."""
    name = line.summary.name if line.summary is not None else ""
    label = one_line(line.label, 60, MUTED if name else "")
    return one_line(name, 30).append("  ").append(label) if name else label


def _when(line: RunLine, now: float, *, wide: bool) -> Content:
    assert line.summary is not None
    return Content.styled(when(line.summary.at, now, wide=wide), "" if line.is_live else MUTED)


def when(at: float, now: float, *, wide: bool) -> str:
    """Format a local time briefly: `14:20` today, `16 Jan` within 300 days, else `Jan 2025`; longer if `wide`."""
    then, today = time.localtime(at), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("today %H:%M" if wide else "%H:%M", then)
    if abs(now - at) < 300 * _DAY_S:
        return time.strftime("%d %b %H:%M" if wide else "%d %b", then).lstrip("0")
    return time.strftime("%d %b %Y" if wide else "%b %Y", then).lstrip("0")


def _state_mark(line: RunLine) -> Content:
    if line.is_live:
        return Content.styled(SYMBOLS.running, "bold $live")
    if line.state == "completed":
        return Content(" ")
    if line.is_queued:
        return Content.styled(SYMBOLS.not_ready, "$live")
    is_faulty = line.state in ("halted", "damaged")
    return Content.styled(*((SYMBOLS.broken, "$broken") if is_faulty else (SYMBOLS.stopped, MUTED)))


def _damage(line: RunLine) -> Content:
    why = line.mistake.split(": ", 1)[-1].split("\n", 1)[0]
    return Content.assemble(_state_mark(line), "  ", one_line(line.name, 60), "  ", one_line(why, 200, "$broken"))


def _result(line: RunLine, *, with_setup: bool = True, with_words: bool = True) -> Content:
    tally = line.tally
    if line.is_queued:
        return Content.styled(f"queued, place {line.place}", "$live")
    cells = [
        Content.styled(f"{mark} {number_format.count(count)}", style)
        for place, (mark, count, style) in enumerate(outcome_counts(tally))
        if count or not place
    ]
    cells += not_run_words(tally) if with_words else [words[: -len(" not run")] for words in not_run_words(tally)]
    if line.left:
        cells.append(Content.styled(f"{number_format.count(line.left)} left", "$live" if line.is_live else MUTED))
    if tally.setup_done and with_setup:
        cells.append(muted(f"{SYMBOLS.setup} {number_format.setup_words(tally)}"))
    return Content(" ").join(cells)


def not_run_words(tally: Tally) -> list[Content]:
    """Return `· 7 not run` for cases given up before they were played; empty if there are none."""
    return [muted(f"{SYMBOLS.not_run} {number_format.count(tally.not_run)} not run")] * bool(tally.not_run)


def _cost(line: RunLine, figure: SortedFigure | None = None, *, is_brief: bool = False) -> Content:
    """Return the cost of a run, or the number shown in its place."""
    if line.summary is None or line.is_queued:
        return Content.empty()
    if figure is not None:
        return one_line(figure.write(line), lines.LONGEST_ID)
    if number_format.is_free(line.tally, line.summary.simulated_note):
        return Content.styled("sim." if is_brief else SIMULATED, f"italic {MUTED}")
    return Content(number_format.spent_amount(line.tally))


def about_run(line: RunLine, width: int) -> list[Content]:
    """Return a few lines about one run, for the pane below the list."""
    name = one_line(line.name, width)
    if line.summary is None:
        return [Content.styled(name.plain, "bold"), one_line(line.mistake, width, "$broken")]
    summary, tally = line.summary, line.tally
    head = Content.assemble((name.plain, "bold"), "  ", state_word(summary.state))
    counts = Content.assemble(
        _result(line, with_setup=False), (f" of {_planned(summary)}   score ", MUTED),
        score_words(summary), (f"  {run_number.headline_gap(summary)}", "$undecided"),
    )  # fmt: skip
    spent = Content.assemble(
        (number_format.count(tally.input_tokens), ""),
        (" tokens in  ", MUTED),
        (number_format.count(tally.output_tokens), ""),
        (" out  ", MUTED),
        (number_format.count(tally.calls), ""),
        (" call  " if tally.calls == 1 else " calls  ", MUTED),
        (number_format.count(tally.retries), ""),
        (f" {'retry' if tally.retries == 1 else 'retries'}{slowed_by(tally.rate_limits)}  ", MUTED),
        (number_format.duration(summary.seconds), ""),
    )
    shown = [head, counts, _reasons(summary), spent]
    if summary.note:
        shown.append(Content.assemble(("note  ", MUTED), one_line(summary.note, width)))
    if words := reroll_words(summary.rerolled):
        shown.append(one_line(words, width, "$undecided"))
    if summary.message:
        shown.append(one_line(summary.message, width, "$broken"))
    if summary.batches:
        shown.append(Content.styled(f"waits for {summary.batches}", MUTED))
    if summary.damaged:
        damage = f"{number_format.plural(summary.damaged, 'line')} of the journal cannot be read"
        shown.append(Content.styled(damage, "$broken"))
    if summary.altered:
        shown.append(one_line(summary.altered, width, "$broken"))
    return shown


def _planned(summary: Summary) -> str:
    return number_format.with_setup(number_format.count(summary.planned_cases), summary.setup)


def _reasons(summary: Summary) -> Content:
    if not summary.reasons:
        return muted("nothing failed" if summary.tally.finished else "nothing finished yet")
    shown = list(counts_in_words(summary.reasons).items())[:4]
    rest = sum(summary.reasons.values()) - sum(count for _, count in shown)
    parts = [Content.assemble(one_line(reason, 40), f" {count}") for reason, count in shown]
    return Content(", ").join([*parts, Content(f"other {rest}")] if rest else parts)


# Models --------------------------------------------------------------------------------------------------------------

MODELS = (
    Column("", 1),
    Column("model", 12, 3, is_name=True),
    Column("key", 16, 4, worth=16),
    Column("price", 15, right=True, from_width=50),
)


def model_cells(line: ModelLine) -> tuple[Content, ...]:
    """Return a model's cells for the columns `MODELS`."""
    mark = Content.styled(SYMBOLS.passed, "$pass") if line.ready else muted(SYMBOLS.not_ready)
    state = Content.styled("simulated", f"italic {MUTED}") if line.simulated else one_line(model_state(line), 80, MUTED)
    return mark, one_line(line.name, 60, "" if line.ready else MUTED), state, _price(line)


def model_state(line: ModelLine) -> str:
    """Return a model's state, or the variable to set to make it usable."""
    if not line.ready and line.state.endswith(" is not set"):
        return f"set {line.state.removesuffix(' is not set')}"
    return line.state


def _price(line: ModelLine) -> Content:
    if line.simulated:
        return muted("free")
    if line.price_in is None:
        return muted("price unknown")
    if not line.price_in and not line.price_out:
        return muted("free")
    if line.price_out is None:  # an embedding model
        return muted(f"{dollars(line.price_in)} in")
    return muted(f"{dollars(line.price_in)} / {dollars(line.price_out)}")


# Suites --------------------------------------------------------------------------------------------------------------

SUITES = (Column("suite", 16, 1, is_name=True), Column("cases", 13, right=True), Column("what", 20, 4, worth=20))


def suite_columns(lines: Iterable[SuiteLine]) -> tuple[Column, ...]:
    """Return SUITES with the numbers of cases fitted, so that a narrow list cuts names rather than numbers."""
    name, cases, what = SUITES
    return name, _wide(cases, max([0, *(suite_cells(line)[1].cell_length for line in lines)])), what


def suite_cells(line: SuiteLine) -> tuple[Content, ...]:
    """Return a suite's cells for the columns `SUITES`."""
    name = one_line(line.name, 60)
    if line.mistake:
        obstacle = Content.styled(f"{SYMBOLS.broken} {line.obstacle}", "$broken")
        return name, obstacle, one_line(line.mistake if line.may_run else line.entry.title, 300, MUTED)
    count = len(line.categories)
    title = Content.assemble(one_line(line.entry.title, 200), f", {count} categories" if count > 1 else "")
    return name, Content(number_format.plural(line.cases, "case")), title.stylize_before(MUTED)
