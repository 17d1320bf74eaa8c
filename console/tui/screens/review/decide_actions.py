"""The step that decided a failed case, and the branches of a case, in Review.

The search is `eval-console branch --decide` in a process that outlives the terminal; the curve is drawn here as its
branches end. A new search continues an interrupted one.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from console.core.fault import UsageError, reason_of
from console.core.outcome import Outcome
from console.insight.as_sent import Point, points_of
from console.insight.rollout import Rollout
from console.store.atomic import read_regular
from console.store.runs import RunFolder
from console.tui.data.label_session import last_object
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render.columns import Column
from console.tui.render.experiment_form import labelled, shell_lines
from console.tui.sanitize import one_line
from console.tui.screens.review.branch_actions import next_count
from console.tui.screens.review.case_actions import StartWorker
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.views import BRANCHES
from console.tui.services import Services
from console.tui.shell_commands import command, run_words

if TYPE_CHECKING:  # imported late: engine code is needed only here
    from console.engine.experiment_use import SearchUse

_LOOK_EVERY_S = 0.5
_ROOM_ABOVE = 1.5
"""Maximum cost as a multiple of the most expensive search."""
_COLUMNS = (Column("branch", 60, 1),)


@dataclass
class DecideActions:
    """Searches for the step that decided a case, and opens branches."""

    services: Services
    run: RunFolder
    controller: ReviewController
    start: StartWorker
    """Starts a dialog, or follows a search."""
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""
    _search: "subprocess.Popen[bytes] | None" = None

    def action_branch_list(self) -> None:
        self.start(self._open_branch(), group="branch")

    def action_branch_decide(self) -> None:
        if self._search is not None and self._search.poll() is None:
            self.controller.views.show(BRANCHES.id)
            self.draw()
            self.services.notify(Content("A search is running; its curve is in the view Branches."))
        else:
            self.start(self._decide(), group="branch")

    async def _open_branch(self) -> None:
        from console.tui.dialogs.filter_dialog import Chooser
        from console.tui.screens.review.branch_view import branch_lines

        run, rollout = self.controller.run, self.controller.cursor.rollout
        if run is None or rollout is None:
            return
        model = run.manifest.model.name
        branches = self.controller.case.branches
        lines = zip(branches, branch_lines(branches, model), strict=True)
        rows = {branch.run: (line,) for branch, line in lines}
        nothing = "This case has no branch yet. A h goes on from a step."
        chosen = await self.services.ask(Chooser(Content("Open beside it …"), _COLUMNS, rows, nothing))
        if chosen:
            self.services.navigator.open_compare(self.run, RunFolder(self.run.path.parent / chosen))

    async def _decide(self) -> None:
        case = self.controller.case.load()
        if case is None:
            return
        key, points, times = case.rollout.key, points_of(case.conversation), 8
        if case.rollout.outcome is not Outcome.FAILED or not points:
            self.services.refuse(UsageError("only a failure can be decided by a step", where=str(key)))
            return
        try:
            while True:
                use = await asyncio.to_thread(self._use, case.rollout, points, times)
                words = [*run_words([self.run], key.case), "--decide", "-r", str(times)]
                words += ["--rollout", str(key.rollout + 1)] if key.rollout else []
                if use.most.cost_usd and not use.most.is_free:
                    words += ["--max-cost", f"{max(use.most.cost_usd * _ROOM_ABOVE, 0.01):.2f}"]
                shell = command("branch", *words, places=self.services.paths)
                answer = await self.services.ask(_question(str(key), len(points), times, use, shell))
                if answer != "k":
                    break
                times = next_count(times)
        except UsageError as error:
            self.services.refuse(error)
            return
        if answer == "c":
            self.services.copy(shell, "command")
        elif answer == "y":
            self.start(self._follow(words), group="decide")

    def _use(self, rollout: Rollout, points: list[Point], times: int) -> "SearchUse":
        """Estimate the cost of the search. Call in a thread."""
        from console.engine.experiment import experiment_plan
        from console.engine.experiment_use import search_use
        from console.engine.plan import prepare
        from console.insight.deciding import continued, curve_of, searches_left

        beginnings, key = [point.beginning for point in points], rollout.key
        curve = curve_of(self.controller.case.branches, key.case, key.rollout, self.run.manifest().model.name)
        plan = experiment_plan(
            self.run,
            (key.case,),
            beginnings={key.case: beginnings[0]},
            repeats=times,
            paths=self.services.paths,
        )
        return search_use(prepare(plan), beginnings, searches_left(continued(curve, times), len(points)))

    async def _follow(self, words: list[str]) -> None:
        """Search in a process of its own, and draw the curve as it grows."""
        from console.engine.process import detach

        paths, log = self.services.paths, self.run.decide_log_path
        places = [f"--{name}={path}" for name, path in (("models", paths.models), ("data", paths.data)) if path]
        which, *options = words
        command_words = ["branch", *places, f"--runs={self.run.path.parent.absolute()}", *options, "--yes", "--json"]
        begun = log.stat().st_size if log.exists() else 0
        try:
            self._search = detach([sys.executable, "-m", "console", *command_words, "--", which], log)
        except OSError as error:
            text = f"the search cannot be started: {reason_of(error)}"
            self.services.refuse(UsageError(text, where=str(self.run.path)))
            return
        self.controller.views.show(BRANCHES.id)
        while (code := self._search.poll()) is None:
            self.controller.read_branches()
            self.draw()
            await asyncio.sleep(_LOOK_EVERY_S)
        self.controller.read_branches()
        self.draw()
        try:
            answer = last_object(read_regular(log)[begun:])
        except OSError:
            answer = {}
        if sentence := answer.get("sentence"):
            self.services.notify(one_line(str(sentence), 400))
        else:
            why = str(answer.get("message") or f"the search ended with exit code {code}")
            self.services.refuse(
                UsageError(why, where=str(answer.get("where") or log), hint=str(answer.get("hint") or ""))
            )


def _question(key: str, steps: int, times: int, use: "SearchUse", shell: str) -> Question:
    head = "How often does it pass? " if steps == 1 else "Which step decided "
    lines = [
        Content.assemble(head, one_line(key, 40, "bold"), "" if steps == 1 else "?"),
        *labelled("from", "its start" if steps == 1 else f"its start, then a few of its {steps} steps"),
        *labelled("times", Content.assemble((str(times), "bold"), " from each")),
        *labelled("takes", *use.lines),
        *shell_lines(shell),
    ]
    answers = [Answer("y", "find it"), Answer("k", "how many times"), Answer("c", "copy the command")]
    return Question(Content("\n").join(lines), answers)
