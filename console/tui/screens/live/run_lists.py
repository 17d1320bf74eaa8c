"""`RunLists`: the lists of one run in Live, with its figures between them where there is room."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from console.insight.rollout import Slot
from console.tui.data.run_feed import Changes
from console.tui.screens.live.controller import WatchedRun
from console.tui.screens.live.lists import ConversationList, FailureList, ProblemList
from console.tui.screens.live.progress_pane import FactsPane
from console.tui.suite_views.suite_view import LiveView


class RunLists(Vertical):
    """Conversations, figures, last failures and problems; the suite's own view has no list of failures."""

    def __init__(self, view: LiveView) -> None:
        """Draw conversations and figures as `view` says."""
        super().__init__(id="left")
        self.conversations, self.facts = ConversationList(view), FactsPane(view)
        self.failures, self.problems = FailureList(), ProblemList()
        self._lists_failures = True

    def compose(self) -> ComposeResult:
        yield self.conversations.pane_title
        yield self.conversations
        yield self.facts
        for pane in (self.failures, self.problems):
            yield pane.pane_title
            yield pane

    def take_view(self, view: LiveView) -> None:
        """Draw as the suite's own view says."""
        self.conversations.take_view(view)
        self.facts.view = view
        self._lists_failures = False

    def show_run(self, run: WatchedRun, slots: Sequence[Slot], changes: Changes, *, with_problems: bool) -> None:
        """List conversations, and what has failed since.

        Args:
            run: the run.
            slots: the rollouts of the list, from the top.
            changes: what is new.
            with_problems: whether the problems are in sight.
        """
        self.conversations.show_rollouts(run, slots)
        if self._lists_failures and (changes.records or changes.settled or changes.rewound):
            self.failures.show_failures(run.overview)
        if with_problems and (changes.records or changes.status):
            self.problems.show_problems(run.overview)

    def draw_figures(self, run: WatchedRun, *, order: str, only_running: bool, screen_width: int) -> None:
        """Draw titles and figures.

        Args:
            run: the run.
            order: what the order of the conversations is called.
            only_running: whether what has ended is not listed.
            screen_width: cells of the screen, which count until the figures are laid out.
        """
        self.conversations.draw_title(run, order=order, only_running=only_running)
        self.failures.draw_title(run.overview)
        self.problems.draw_title(run.overview)
        self.facts.show_run(run, screen_width)
