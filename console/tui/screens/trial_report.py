"""The report of a trial: a sentence, the change, and the cases that were fixed, lost or left unchanged."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from textual.content import Content

from console.core.fault import UsageError
from console.core.run import Manifest
from console.store.runs import RunFolder
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.small_dialogs import Answer, NameNote, NameScreen, Question
from console.tui.render.columns import Column
from console.tui.render.experiment_form import changed_lines
from console.tui.sanitize import one_line
from console.tui.services import Services
from console.tui.shell_commands import command, run_words
from console.tui.symbols import muted

_LINES_OF_CHANGE = 6
_COLUMNS = (Column("change", 10), Column("of", 15), Column("case", 30, 1, is_name=True))


@dataclass
class TrialReports:
    """Shows the report of the trial watched in Live, once, when it ends while being watched.

    A trial started in this app may have ended before it could be watched.
    """

    services: Services
    run: RunFolder
    start: Callable[[Coroutine[object, object, None]], object]
    """Starts a dialog."""
    _was_live: bool = False
    _is_shown: bool = False

    def follow(self, feed: RunFeed, *, is_current: bool) -> None:
        """Update after the run's state has changed."""
        self._was_live = self._was_live or feed.is_live
        is_over = feed.is_read and not feed.is_live and feed.overview.fold.closed is not None
        if not is_over or self._is_shown or not is_current or not is_trial(feed.manifest):
            return
        if self._was_live or any(run.path == self.run.path for run in self.services.navigator.launched):
            self._is_shown = True
            self.start(show_trial(self.services, self.run))


def is_trial(manifest: Manifest) -> bool:
    """Return whether a run tries a change on cases of another."""
    return manifest.experiment is not None and bool(manifest.experiment.strata)


async def show_trial(services: Services, run: RunFolder) -> None:
    """Show the result of a trial; its cases open in Review. Call in a worker."""
    from console.exchange.tried import read_tried
    from console.insight.experiment import VERDICTS, sentence_of
    from console.tui.dialogs.filter_dialog import Chooser

    try:
        tried = await asyncio.to_thread(read_tried, run)
    except UsageError as error:
        services.refuse(error)
        return
    if tried is None:
        return
    lines: list[Content] = []
    rows: dict[str, tuple[Content, ...]] = {}
    for result in tried.arms:
        lines.append(one_line(sentence_of(tried, result), 400, "bold"))
        lines += changed_lines(result.arm, _LINES_OF_CHANGE)
        verdicts = [change.verdict for change in result.changes]
        lines.append(muted(", ".join(f"{verdicts.count(word)} {word}" for word in VERDICTS)))
        for change in sorted(result.changes, key=lambda change: VERDICTS.index(change.verdict)):
            rows.setdefault(change.case, (Content(change.verdict), Content(change.stratum), one_line(change.case, 200)))
    report = command("try", "--report", *run_words([run]), places=services.paths)
    answers = [
        Answer("o", "open a case"),
        Answer("w", "play the whole suite with it"),
        Answer("p", "keep it as a preset"),
        Answer("c", "copy the command"),
    ]
    answer = await services.ask(Question(Content("\n").join(lines), answers))
    if answer == "c":
        services.copy(report, "command")
    elif answer == "w":
        await _play_whole_suite(services, run)
    elif answer == "p":
        await _keep(services, run)
    elif answer == "o":
        case = await services.ask(Chooser(Content("Cases"), _COLUMNS, rows, "Nothing was graded yet."))
        if case:
            services.navigator.open_review(run, (case, 0))


async def _play_whole_suite(services: Services, run: RunFolder) -> None:
    """Play all cases of the recorded run with the change of a trial, as a run of its own."""
    from console.engine.matrix import plans_of
    from console.engine.plan import Plan
    from console.exchange.tried import changed_preset
    from console.tui.screens.branching import start_plan

    def plan() -> Plan:
        return plans_of(changed_preset(run), services.paths)[0]

    await asyncio.to_thread(start_plan, services, plan, services.navigator.open_live)


async def _keep(services: Services, run: RunFolder) -> None:
    """Ask for a name, and write the change of a trial as a preset."""
    from console.config.paths import presets_files
    from console.config.preset import load_presets
    from console.exchange.tried import changed_preset
    from console.store.preset_file import save_preset

    presets = load_presets(presets_files())

    def note_of(name: str) -> NameNote:
        taken = "; a preset of that name exists, enter replaces it" if name in presets.presets else ""
        return NameNote(f"`eval-console run --preset {name}` plays it{taken}", warns=bool(taken))

    name = await services.ask(NameScreen("Keep the change as a preset", "", "careful", note_of))
    if not name:
        return
    try:
        save_preset(presets.files.get(name, presets_files()[-1]), name, changed_preset(run))
    except UsageError as error:
        services.refuse(error)
        return
    services.notify(Content.assemble("Kept as ", one_line(name, 60, "bold"), "."))
