"""Blocks of facts about a suite, a category, a model or a case."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.content import Content

from console.core.case import Case
from console.core.price import dollars
from console.core.run import SIMULATED
from console.insight import number_format, run_number
from console.insight.passage import show_json, show_json_lines
from console.tui.data.entry_checks import Checksum, Ping
from console.tui.data.models import ModelLine
from console.tui.data.runs import RunLine
from console.tui.data.suites import SuiteLine
from console.tui.render import lines, row_cells
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted

if TYPE_CHECKING:
    from console.suites.benchmark import OfficialData


def display_path(path: Path | str) -> str:
    """Return a path relative to the current folder, else to `~`, else in full."""
    full = Path(path)
    for base, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if full.is_absolute() and full.is_relative_to(base):
            return f"{prefix}{full.relative_to(base)}"
    return str(full)


_NAME = 12
_ORIGINS = {"bundled": "bundled with the program", "pulled": "official data that you pulled", "user": "your own folder"}
_PARTS = (("question", "QUESTION"), ("conversation", "CONVERSATION"), ("function", "TOOLS"),
          ("ground_truth", "GROUND TRUTH"))  # fmt: skip
"""Parts of a case shown first, with their headings; other parts follow under their own names."""


def fact(name: str, *values: Content | str) -> Content:
    """Return one line with a label and its value."""
    return Content.assemble((lines.fit_text(name, _NAME), MUTED), " ", *values)


def suite_blocks(line: SuiteLine, checksum: Checksum | None) -> list[Block]:
    """Describe a suite: origin, file integrity, and categories."""
    entry = line.entry
    about = [
        fact("title", one_line(entry.title, 300)),
        fact("from", _origin(line)),
        fact("license", one_line(entry.source.get("licence", "not stated"), 120)),
        fact("results", "comparable with published ones" if entry.comparable else "not comparable with published ones"),
        fact("files", one_line(display_path(entry.folder), 400)),
        fact("sha256", *_checksum(checksum)),
    ]
    blocks = [Block("suite", one_line(line.name, 200, "bold"), body=about, hang=_NAME + 1)]
    if line.mistake:
        words = "NOT USABLE" if line.may_run else "NOT ALLOWED TO RUN: enter shows its code"
        return [*blocks, Block("mistake", Content.styled(words, "bold $broken"), text=line.mistake)]
    if checksum is not None and checksum.is_changed:
        blocks.append(_next(f"eval-console pull {entry.format}", "restores the original files"))
    rows = [_category(part.name, part.cases, " ".join(part.modes), part.scored) for part in line.categories]
    title = Content.assemble(("CATEGORIES", "bold"), f"  {len(rows)} · {number_format.plural(line.cases, 'case')}")
    return [*blocks, Block("categories", title, body=rows)]


def _category(name: str, cases: int, modes: str, scored: bool) -> Content:
    note = one_line(f"  {modes}" if scored else f"  {modes}  run, not in the total", 80, MUTED)
    return Content.assemble(
        lines.fit(one_line(name, 60), 26), lines.fit_text(number_format.count(cases), 7, right=True), note
    )


def _origin(line: SuiteLine) -> Content:
    source = line.entry.source
    named = " ".join(source[key] for key in ("name", "version") if source.get(key))
    words = _ORIGINS.get(line.entry.origin, "")
    return Content.assemble(words, ", " if words and named else "", one_line(named, 120))


def _checksum(checksum: Checksum | None) -> list[Content]:
    if checksum is None or not checksum.digest:
        return [muted("computing …")]
    short = one_line(checksum.digest, 13).append("  ")
    if checksum.is_changed:
        return [short, Content.styled(f"{SYMBOLS.changed} changed since it was pulled", "bold $fail")]
    if checksum.expected:
        return [short, Content.styled(f"{SYMBOLS.passed} as pulled", "$pass")]
    return [short, muted("no pinned checksum")]


def category_blocks(line: SuiteLine, category: str) -> list[Block]:
    """Describe a category."""
    part = next((part for part in line.categories if part.name == category), None)
    if part is None:
        return []
    title = Content.assemble(one_line(line.name, 100), " / ", one_line(category, 100)).stylize_before("bold")
    body = [
        fact("cases", number_format.count(part.cases)),
        fact("modes", one_line(" ".join(part.modes), 100)),
        fact("group", one_line(part.group or "none", 100)),
        fact("score", "in the total" if part.scored else "run, not in the total"),
    ]
    return [Block("category", title, body=body, hang=_NAME + 1), _hint("enter shows its cases; L runs it")]


def pull_blocks(suite: "OfficialData") -> list[Block]:
    """Describe official data that can be pulled, with the command to do so."""
    about = [fact("what", suite.title), fact("state", "not installed")]
    return [
        Block("pull", Content.styled(suite.name, "bold"), body=about, hang=_NAME + 1),
        _next(f"eval-console pull {suite.name}", "installs it into the data folder; ctrl+r then refreshes"),
    ]


def note_blocks(note: str) -> list[Block]:
    """Show the full text of an error or warning."""
    return [Block("note", Content.styled("NEEDS ATTENTION", "bold $broken"), text=note), _hint("e edits models.toml")]


def _endpoints(line: ModelLine) -> list[Content]:
    if not line.addresses:
        return [fact("endpoint", "none" if line.simulated else "the provider's own")]
    names = ["endpoint", *[""] * (len(line.addresses) - 1)]
    return [fact(name, one_line(address, 300)) for name, address in zip(names, line.addresses, strict=True)]


def model_blocks(line: ModelLine, ping: Ping | None, runs: Sequence[RunLine], *, pinging: bool) -> list[Block]:
    """Describe a model: key, endpoints, prices, last ping, and results."""
    mark = Content.styled(SYMBOLS.passed, "$pass") if line.ready else muted(SYMBOLS.not_ready)
    at = f"declared at models.toml:{line.line}" if line.line else "built in"
    body = [
        fact("key", mark, " ", one_line(row_cells.model_state(line), 200)),
        fact("provider", one_line(line.provider, 60), muted(f"   {at}")),
        *_endpoints(line),
        fact("model id", one_line(line.model_id, 200)),
        fact("mode", "native tools (fc)" if line.mode == "fc" else "tools in the prompt"),
        fact("at once", f"{line.concurrency} requests"),
        fact("price", *_price(line)),
        *([fact("context", f"{line.context:,} tokens")] if line.context else []),
        fact("last ping", *_ping(ping, pinging=pinging)),
    ]
    used = [run for run in runs if run.summary is not None and run.summary.model == line.name]
    cost = sum(run.tally.cost_usd for run in used)
    body.append(
        fact("used in", number_format.plural(len(used), "run"), f", {number_format.money(cost)}" if cost else "")
    )
    blocks = [Block("model", one_line(line.name, 200, "bold"), body=body, hang=_NAME + 1)]
    if not line.ready:
        blocks.append(_hint("Set the variable where you start the app, or in .env; ctrl+r reloads."))
    return [*blocks, *_results(used)]


def _price(line: ModelLine) -> list[Content]:
    if line.simulated:
        return [Content("free, offline")]
    if line.price_in is None or line.price_out is None:
        return [Content.styled("unknown; set price = { in = …, out = … }", "$fail")]
    source = f", from the list of {line.price_source}" if line.price_source else ""
    return [Content(f"{dollars(line.price_in)} in   {dollars(line.price_out)} out"), muted(f"   per M tokens{source}")]


def _ping(ping: Ping | None, *, pinging: bool) -> list[Content]:
    if pinging:
        return [muted("pinging …")]
    if ping is None:
        return [muted("never; p pings the server, free of charge")]
    mark = (f"{SYMBOLS.passed} ", "$pass") if ping.good else (f"{SYMBOLS.broken} ", "$broken")
    when = time.strftime("%H:%M:%S", time.localtime(ping.at))
    parts = [Content.assemble(mark, one_line(ping.text, 300), (f"   {ping.seconds:.2f} s at {when}", MUTED))]
    return [*parts, Content("  "), one_line(ping.hint, 200, MUTED)] if ping.hint else parts


def _results(used: Sequence[RunLine]) -> list[Block]:
    by_suite: dict[str, list[RunLine]] = {}
    for run in used:
        by_suite.setdefault(run.label, []).append(run)
    if not by_suite:
        return []
    head = _result_row(Content("suite"), "runs", "graded", "score", "cost").stylize_before(MUTED)
    rows = [_result_of(label, runs) for label, runs in by_suite.items()]
    return [Block("results", Content.styled("RESULTS WITH THIS MODEL", "bold"), body=[head, *rows])]


def _result_of(label: str, runs: Sequence[RunLine]) -> Content:
    graded = sum(run.tally.graded for run in runs)
    cost = sum(run.tally.cost_usd for run in runs)
    simulated = all(run.summary is not None and run.summary.simulated_note == SIMULATED for run in runs)
    money = SIMULATED if simulated else number_format.money(cost)
    summaries = [run.summary for run in runs if run.summary is not None]
    score = run_number.headline(*summaries) if summaries else "—"
    return _result_row(one_line(label, 40), str(len(runs)), number_format.count(graded), score, money)


def _result_row(name: Content, runs: str, graded: str, score: str, cost: str) -> Content:
    return Content.assemble(
        lines.fit(name, 24), lines.fit_text(runs, 5, right=True), lines.fit_text(graded, 8, right=True), "  ",
        lines.fit_text(score, 16), lines.fit_text(cost, 10, right=True),
    )  # fmt: skip


# Cases ---------------------------------------------------------------------------------------------------------------


def case_blocks(case: Case, suite: str) -> list[Block]:
    """Show a case: question, tools, ground truth, and its other fields."""
    title = one_line(case.id, 200, "bold")
    about = [fact("suite", one_line(suite, 80), " / ", one_line(case.category, 80))]
    about += [fact("after", one_line(", ".join(case.depends_on), 300))] if case.depends_on else []
    about += [] if case.graded else [fact("graded", "no: setup for other cases")]
    blocks = [Block("case", title, body=about, hang=_NAME + 1)]
    for name, heading in _PARTS:
        if case.data.get(name):
            blocks.append(_part(name, heading, case.data[name]))
    shown = {name for name, _ in _PARTS} | {"id", "category"}
    for name, value in case.data.items():
        if name not in shown and value not in ("", None, [], {}):
            blocks.append(Block(f"+{name}", one_line(name, 60, f"bold {MUTED}"), text=_as_text(value)))
    return blocks


def _part(name: str, heading: str, value: Any) -> Block:
    if name == "function":
        value = cast("list[Any]", value) if isinstance(value, list) else [value]
        title = Content.assemble((heading, "bold"), f"  {len(value)}")
        return Block(name, title, text="\n".join(_tool(tool) for tool in value))
    text = "\n".join(_message_lines(value)) if name == "question" else _as_text(value)
    return Block(name, Content.styled(heading, "bold"), text=text)


def _message_lines(value: Any) -> Iterable[str]:
    """Yield a question as lines `role: text`, numbered by turn; other shapes as JSON."""
    if isinstance(value, str):
        yield value
        return
    turns = cast("list[Any]", value) if isinstance(value, list) else [value]
    for number, turn in enumerate(turns, 1):
        if len(turns) > 1:
            yield f"turn {number}"
        for message in cast("list[Any]", turn) if isinstance(turn, list) else [turn]:
            if isinstance(message, dict) and "content" in message:
                fields = cast("dict[str, Any]", message)
                yield f"{fields.get('role', '')}: {fields['content']}"
            else:
                yield _as_text(message)


def _tool(value: Any) -> str:
    """Return a tool's name, description and parameters as lines; other shapes as JSON."""
    if not isinstance(value, dict) or "name" not in value:
        return _as_text(value)
    tool = cast("dict[str, Any]", value)
    parameters = tool.get("parameters")
    properties = cast("dict[str, Any]", parameters).get("properties") if isinstance(parameters, dict) else None
    shown = [f"{name}: {show_json(about)}" for name, about in cast("dict[str, Any]", properties or {}).items()]
    return "\n".join([f"{tool['name']}  {tool.get('description', '')}", *(f"    {line}" for line in shown)])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else show_json_lines(value)


def _hint(text: str) -> Block:
    return Block("hint", muted(text))


def _next(command: str, meaning: str) -> Block:
    return Block(
        "next", Content.styled("NEXT", "bold $focus"), body=[Content.styled(command, "bold"), Content(meaning)]
    )
