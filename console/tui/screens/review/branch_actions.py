"""Branching the case shown in Review from the message being read, with one change.

The form shows the change, its cost, and the equivalent shell command. Edited text is kept as a file in the program's
state, so that this command can be used again; the experiment's run contains the change itself.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from console.config.paths import state_dir
from console.core.experiment import OPENING, RESULT, Arm, Change, description_of
from console.core.fault import UsageError
from console.insight.as_sent import (
    Point,
    beginning_of,
    called_words,
    change_of,
    points_of,
    text_of,
)
from console.insight.conversation import Conversation
from console.insight.passage import Passage, PassageKind
from console.store.runs import RunFolder
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render import row_cells
from console.tui.render.columns import Column
from console.tui.render.experiment_form import LINES_IN_FORM, changed_lines, labelled, shell_lines
from console.tui.sanitize import one_line
from console.tui.screens.review.case_actions import StartWorker
from console.tui.screens.review.case_pane import CasePane
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.triage import FAILURES
from console.tui.services import Services
from console.tui.shell_commands import command, run_words
from console.tui.symbols import MUTED, muted

if TYPE_CHECKING:  # imported late: engine code is needed only here
    from console.engine.plan import Plan

REPEATS = (1, 4, 8, 16)
"""Choices of the number of continuations."""
_COLUMNS = (Column("step", 8), Column("what", 40, 3))
_START = "start"
_GRADED = "is:passed,failed"


@dataclass(frozen=True, slots=True)
class _Form:
    """Values of the form."""

    point: Point | None
    """None for the start."""
    model: str
    edits: dict[str, str] = field(default_factory=dict[str, str])
    """Edited texts by the part they replace."""
    repeats: int = 1


@dataclass
class BranchActions:
    """Experiments on the current case."""

    services: Services
    run: RunFolder
    controller: ReviewController
    pane: CasePane
    start: StartWorker
    """Starts a dialog or slow work."""

    def action_branch_here(self) -> None:
        self.start(self._branch(), group="branch")

    def action_branch_regrade(self) -> None:
        from console.tui.screens.regrading import regrade

        work = regrade(self.services, self.run, lambda work: self.start(work, group="spawn"))
        self.start(work, group="branch")

    def action_branch_try(self) -> None:
        """Try a change on the listed cases and a guard; if the run is itself a trial, show its report."""
        self.start(self._try(), group="branch")

    async def _try(self) -> None:
        from console.tui.screens.trial_report import is_trial, show_trial

        if is_trial(self.run.manifest()):
            await show_trial(self.services, self.run)
            return
        case, chosen = self.controller.case.load(), [rollout.key.case for rollout in self.controller.triage.order]
        points = points_of(case.conversation) if case is not None else []
        if case is None or not points or not chosen:
            self.services.refuse(UsageError("no listed case has an answer, so there is nothing to try"))
            return
        try:
            edits = (await self._edited(_Form(None, ""), case.conversation, points, is_shared=True)).edits
            if edits:
                ((what, text),) = edits.items()
                change = change_of(case.conversation, points[0], what, text)
                await self._ask_to_try(what, text, change, list(dict.fromkeys(chosen)))
        except (UsageError, ValueError) as error:
            self.services.refuse(error)

    async def _ask_to_try(self, what: str, text: str, change: Change, chosen: list[str]) -> None:
        value = text.strip() if what.startswith("params.") else str(_kept_edit(what, text))
        from console.engine.experiment import new_seed
        from console.exchange.tried import checked_arms

        own = self.run.manifest().model.name
        terms, model, has_control, seed = self._terms, own, False, new_seed()
        (arm,), notes = await asyncio.to_thread(checked_arms, self.run, [(change,)], chosen)
        while True:
            plan, took = await asyncio.to_thread(self._trial, arm, chosen, model, seed, has_control)
            words = [*run_words([self.run]), *(["--filter", terms] if terms else []), "--set", f"{what}={value}"]
            words += [*(["-m", model] if model != own else []), *(["--control"] if has_control else [])]
            shell = command("try", *words, "--seed", str(seed), places=self.services.paths)
            answers = [
                Answer("y", "try it"),
                Answer("m", "another model"),
                Answer("u", "against the recorded run" if has_control else "against an unchanged arm too"),
                Answer("c", "copy the command"),
            ]
            answer = await self.services.ask(
                Question(Content("\n").join(_trial_lines(plan, notes, took, shell)), answers)
            )
            if answer == "m":
                model = await self._chosen_model(model) or model
            elif answer == "u":
                has_control = not has_control
            else:
                break
        if answer == "c":
            self.services.copy(shell, "command")
        elif answer == "y":
            from console.tui.screens.branching import start_plan

            self.start(lambda: start_plan(self.services, lambda: plan, self._watch), group="spawn")

    def _watch(self, tried: RunFolder) -> None:
        self.services.navigator.open_live(tried)
        self.services.notify(Content("Its report opens here when it has ended; A t in its Review shows it again."))

    @property
    def _terms(self) -> str:
        """Return the active filter, as `try` reads it; empty for all failures, its default."""
        triage = self.controller.triage
        terms = f"{triage.scope.text or _GRADED} {triage.narrow.text}".strip()
        return "" if terms == FAILURES else terms

    def _trial(self, arm: Arm, chosen: list[str], model: str, seed: int, has_control: bool) -> "tuple[Plan, str]":
        """Return the plan of a trial and its cost as text. Call in a thread."""
        from console.engine.experiment import experiment_plan
        from console.engine.experiment_use import expected_use
        from console.engine.plan import prepare
        from console.exchange.tried import draw_strata

        strata, luck = draw_strata(self.run, chosen, seed=seed)
        plan = experiment_plan(
            self.run,
            [case for stratum in strata for case in stratum.cases],
            arms=((), arm) if has_control else (arm,),
            strata=strata,
            luck=luck,
            label=self._terms,
            name=f"try {self._terms}".strip(),
            model=model,
            seed=seed,
            paths=self.services.paths,
        )
        return plan, f"about {expected_use(prepare(plan)).words}"

    async def _branch(self) -> None:
        case, run = self.controller.case.load(), self.controller.run
        if case is None or run is None:
            return
        points = points_of(case.conversation)
        if not points:
            self.services.refuse(UsageError("this case has no finished call, so there is nothing to continue from"))
            return
        form: _Form | None = _Form(self._point_read(case.conversation, points), run.manifest.model.name)
        while form is not None:
            try:
                form = await self._ask(form, case.conversation, points)
            except (UsageError, ValueError) as error:
                self.services.refuse(error)
                return

    def _point_read(self, conversation: Conversation, points: list[Point]) -> Point | None:
        """Return the point of the message at the top of the conversation; None (the start) if none is shown."""
        block = self.pane.text.block_at_top()
        kind, _, number = block.key.partition(" ") if block is not None else ("", "", "")
        if kind != "talk" or not number.isdigit() or int(number) >= len(conversation.passages):
            return None
        return _point_of(conversation.passages[int(number)], points)

    async def _ask(self, form: _Form, conversation: Conversation, points: list[Point]) -> _Form | None:
        """Show the form once; return the form to show next, or None when done."""
        arm = _arm(form, conversation, points)
        took = await asyncio.to_thread(self._use, form, points, arm)
        answers = [
            Answer("y", "go on" if form.point is not None else "play again"),
            Answer("e", "edit what was sent or answered"),
            Answer("f", "from another step"),
            Answer("m", "another model"),
            Answer("k", "how many times"),
            Answer("c", "copy the command"),
        ]
        answer = await self.services.ask(Question(self._text(form, arm, took), answers))
        match answer:
            case "y":
                self.start(lambda: self._start(form, points, arm), group="spawn")
            case "e":
                return await self._edited(form, conversation, points)
            case "f":
                return await self._moved(form, points)
            case "m":
                return replace(form, model=await self._chosen_model(form.model) or form.model)
            case "k":
                return replace(form, repeats=next_count(form.repeats))
            case "c":
                self.services.copy(self._command(form), "command")
            case _:
                return None
        return None

    def _text(self, form: _Form, arm: Arm, took: list[str]) -> Content:
        key = self.controller.cursor.rollout.key if self.controller.cursor.rollout is not None else ""
        where = "from the start" if form.point is None else f"from {form.point.beginning.place}"
        lines = [Content.assemble("Go on ", (where, "bold"), " of ", one_line(str(key), 40, "bold"))]
        if form.point is not None:
            lines += labelled("it was", one_line(called_words(form.point.exchange.asked.reply), 56))
        times = Content.assemble((str(form.repeats), "bold"), " time" if form.repeats == 1 else " times")
        lines += labelled("model", Content.assemble(one_line(form.model, 40), ", ", times))
        lines += labelled(
            "changed", one_line(", ".join(form.edits) or "nothing", 56), *changed_lines(arm, LINES_IN_FORM)
        )
        lines += labelled("takes", *took)
        return Content("\n").join([*lines, *shell_lines(self._command(form))])

    def _plan(self, form: _Form, points: list[Point], arm: Arm) -> "Plan":
        from console.engine.experiment import experiment_plan

        rollout = self.controller.cursor.rollout
        assert rollout is not None  # asked about it
        case = rollout.key.case
        beginning = beginning_of(points, form.point, arm) if form.point is not None else None
        return experiment_plan(
            self.run,
            (case,),
            arms=(arm,),
            beginnings={case: beginning} if beginning is not None else None,
            model=form.model,
            repeats=form.repeats,
            paths=self.services.paths,
        )

    def _use(self, form: _Form, points: list[Point], arm: Arm) -> list[str]:
        """Return the lines with the cost of the branch. Call in a thread."""
        from console.engine.experiment_use import branch_use
        from console.engine.plan import prepare

        return branch_use(prepare(self._plan(form, points, arm))).lines

    def _start(self, form: _Form, points: list[Point], arm: Arm) -> None:
        """Start the branch next to the original. Call in a thread."""
        from console.tui.screens.branching import start_plan

        def plan() -> "Plan":
            from console.engine.experiment import rehearse
            from console.engine.plan import prepare

            made = self._plan(form, points, arm)
            for warning in rehearse(prepare(made)):
                self.services.from_thread(self.services.notify, Content(warning))
            return made

        start_plan(self.services, plan, lambda branch: self.services.navigator.open_compare(self.run, branch))

    def _command(self, form: _Form) -> str:
        rollout = self.controller.cursor.rollout
        words = run_words([self.run], rollout.key.case if rollout is not None else "")
        if rollout is not None and rollout.key.rollout:
            words += ["--rollout", str(rollout.key.rollout + 1)]
        if form.point is not None:
            words += ["--at", _place_of(form)]
        if self.controller.run is not None and form.model != self.controller.run.manifest.model.name:
            words += ["-m", form.model]
        for what, text in form.edits.items():
            if what.startswith("params."):
                words += ["--set", f"{what}={text.strip()}"]
            else:
                path = str(_kept_edit(what, text))
                words += [f"--{what}", path] if what in ("reply", RESULT) else ["--set", f"{what}={path}"]
        words += ["-r", str(form.repeats)] if form.repeats > 1 else []
        return command("branch", *words, places=self.services.paths)

    async def _edited(
        self, form: _Form, conversation: Conversation, points: list[Point], *, is_shared: bool = False
    ) -> _Form:
        """Let the reader edit a part; with `is_shared`, only parts that many conversations have in common."""
        from console.tui.dialogs.filter_dialog import Chooser
        from console.tui.editor import edit_text

        point = form.point or points[0]
        rows: dict[str, tuple[Content, Content]] = {}
        for what in _editable(point, is_at_step=form.point is not None):
            if is_shared and what == OPENING:
                continue
            try:
                text = text_of(conversation, point, what)
            except UsageError:
                continue  # this step has no such part
            rows[what] = (one_line(what, 40), one_line(text, 200, MUTED))
        columns = (Column("what", 28, 1), Column("as it was", 40, 3))
        what = await self.services.ask(Chooser(Content("Edit …"), columns, rows, "Nothing can be edited here."))
        if not what:
            return form
        before = text_of(conversation, point, what)
        after = edit_text(self.services, form.edits.get(what, before), what.replace("/", "_"))
        if after is None:
            return form
        others = {name: text for name, text in form.edits.items() if name != what}
        if after.strip("\n") == before.strip("\n"):
            self.services.notify(Content("Nothing was edited, so nothing is changed."))
            return replace(form, edits=others)
        change_of(conversation, point, what, after)
        return replace(form, edits={**others, what: after})

    async def _moved(self, form: _Form, points: list[Point]) -> _Form:
        from console.tui.dialogs.filter_dialog import Chooser

        rows = {_START: (Content("start"), muted("all of it is played again"))}
        rows |= {
            str(point.replies): (
                Content(point.beginning.place),
                one_line(called_words(point.exchange.asked.reply), 200),
            )
            for point in points
        }
        chosen = await self.services.ask(Chooser(Content("Go on from …"), _COLUMNS, rows, ""))
        if chosen is None:
            return form
        return replace(form, point=None if chosen == _START else points[int(chosen)], edits={})

    async def _chosen_model(self, own: str) -> str:
        """Choose another model that is ready; return an empty string if the user chose none."""
        from console.tui.dialogs.filter_dialog import Chooser

        models = self.services.workspace.models
        ready = [line for line in (models.lines if models else ()) if line.ready and line.name != own]
        rows = {line.name: row_cells.model_cells(line) for line in ready}
        nothing = "No other model is ready. e on Home opens models.toml."
        return await self.services.ask(Chooser(Content("Go on with …"), row_cells.MODELS, rows, nothing)) or ""


def _trial_lines(plan: "Plan", notes: list[str], took: str, shell: str) -> list[Content]:
    experiment = plan.experiment
    assert experiment is not None
    drawn = [f"{len(stratum.cases)} of {stratum.size} {stratum.name}" for stratum in experiment.strata if stratum.size]
    against = "the recorded run" if experiment.control is None else "an unchanged arm, played with it"
    ((change,),) = [arm for arm in experiment.arms if arm]
    return [
        Content.assemble("Try another ", one_line(change.label, 40, "bold"), " on what is listed, and on a guard"),
        *labelled("changed", *changed_lines([change], LINES_IN_FORM)),
        *labelled("note", *[one_line(note, 120) for note in notes]),
        *labelled("model", one_line(plan.model, 40)),
        *labelled("drawn", one_line(", ".join(drawn), 120)),
        *labelled("against", against),
        *labelled("takes", took),
        *shell_lines(shell),
    ]


def next_count(repeats: int) -> int:
    """Return the next larger choice of the number of continuations, or the first after the last."""
    return next((count for count in REPEATS if count > repeats), REPEATS[0])


def _point_of(passage: Passage, points: list[Point]) -> Point | None:
    """Return the point of a message: the reply that it belongs to, or that follows it."""
    place = (passage.turn, passage.step - (passage.kind is PassageKind.RESULT))
    at = [point for point in points if (point.exchange.asked.turn, point.exchange.asked.step) >= place]
    return at[0] if at else points[-1]


def _place_of(form: _Form) -> str:
    return form.point.beginning.place if form.point is not None else ""


def _arm(form: _Form, conversation: Conversation, points: list[Point]) -> tuple[Change, ...]:
    point = form.point or points[0]
    return tuple(change_of(conversation, point, what, text) for what, text in form.edits.items())


def _editable(point: Point, *, is_at_step: bool) -> list[str]:
    tools = [f"tool.{description_of(tool)[0]}.description" for tool in point.request.tools]
    of_step = ["reply", RESULT] if is_at_step else []
    opening = [] if point.replies else ["opening"]
    params = [f"params.{name}" for name in ("temperature", *point.request.params)]
    return list(dict.fromkeys([*of_step, "system", "user", *opening, *tools, *params]))


def _kept_edit(what: str, text: str) -> Path:
    """Write an edited text where a shell command can find it, and return its path."""
    name = f"{what.replace('/', '_')[:40]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.txt"
    path = state_dir() / "edits" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
