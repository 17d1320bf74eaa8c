"""Grading a run again from a screen: choose the judge, then compare the new grading with the old one."""

from collections.abc import Callable

from textual.content import Content

from console.core.fault import UsageError
from console.core.run import Manifest
from console.insight.number_format import plural
from console.store.runs import RunFolder
from console.tui.data.models import ModelLine
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render import row_cells
from console.tui.sanitize import one_line
from console.tui.screens.branching import start_shown
from console.tui.services import Services
from console.tui.symbols import SYMBOLS, muted

_AS_BEFORE = "as before"


async def regrade(services: Services, run: RunFolder, start: Callable[[Callable[[], None]], object]) -> None:
    """Choose a judge, ask whether to grade the run again, and do so in an engine process.

    Args:
        services: the app's services.
        run: the run.
        start: runs slow work in a thread.
    """
    try:
        manifest = run.manifest()
    except UsageError as error:
        services.refuse(error)
        return
    judge = await _choose_judge(services, manifest) if "judge" in manifest.roles else _AS_BEFORE
    if judge and await _is_confirmed(services, manifest, judge):
        start(lambda: _start(services, run, "" if judge == _AS_BEFORE else judge))


async def _choose_judge(services: Services, manifest: Manifest) -> str:
    """Choose the judge; return an empty string if the user chose none."""
    models = services.workspace.models
    old = manifest.roles["judge"].name
    words = muted(f"{old} gets only the questions it was not asked before")
    rows = {_AS_BEFORE: (Content.styled(SYMBOLS.passed, "$pass"), Content(_AS_BEFORE), words, muted("free"))}
    ready = models.lines if models else ()
    rows |= {line.name: row_cells.model_cells(line) for line in ready if line.ready}
    title = Content("Which judge should grade the answers of this run?")
    return await services.ask(Chooser(title, row_cells.MODELS, rows, "No model is ready.")) or ""


async def _is_confirmed(services: Services, manifest: Manifest, judge: str) -> bool:
    words = Content.assemble("Grade ", (plural(manifest.cases, "answer"), "bold"), " again")
    if judge != _AS_BEFORE:
        line = services.workspace.models.find(judge) if services.workspace.models else None
        words = words.append(" by ").append(one_line(judge, 40, "bold")).append("? ").append(_price(line))
    else:
        words = words.append("? ").append_text("no answered question is asked again", "bold")
    note = "\nThe model is never asked. The new grading is a run of its own, compared with this one."
    return bool(await services.ask(Question(words.append(note), [Answer("y", "grade again")])))


def _price(line: ModelLine | None) -> Content:
    if line is None or not line.is_priced:
        return Content.styled("free", "bold")
    if line.price_in is None or line.price_out is None:
        return Content.styled("price unknown", "bold")
    return Content.styled(f"{line.price_in:g} / {line.price_out:g} USD per million tokens", "bold")


def _start(services: Services, run: RunFolder, judge: str) -> None:
    """Start the grading and open the comparison. Call in a thread."""
    from console.engine.launch import spawn_regrade

    start_shown(
        services,
        lambda: spawn_regrade(run, judge=judge, paths=services.paths),
        lambda graded: services.navigator.open_compare(run, graded),
    )
