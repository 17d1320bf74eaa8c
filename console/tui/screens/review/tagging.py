"""`TagActions`: tags, comments, disputes, what has been reviewed, and undo.

Kept in notes.jsonl beside the results, never in them; no score changes.
"""

from collections.abc import Callable, Sequence

from textual.content import Content

from console.core.fault import UsageError
from console.insight import number_format
from console.insight.rollout import Rollout
from console.store.line import scrub
from console.tui.dialogs.small_dialogs import Answer, CommentScreen, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.case_header import TAGS
from console.tui.screens.review.controller import ReviewController, Stale
from console.tui.screens.review.workers import StartWorker
from console.tui.services import Services

_NAMES = {"tag": "tag", "comment": "comment", "dispute": "dispute", "reviewed": "mark"}


class TagActions:
    """Writes notes on the current case."""

    def __init__(
        self, services: Services, controller: ReviewController, start: StartWorker, draw: Callable[[], None]
    ) -> None:
        """Write by the controller; dialogs are asked in a worker, `draw` draws what is stale."""
        self._services = services
        self._controller = controller
        self._start = start
        self._draw = draw

    def action_tag_model(self) -> None:
        """Tag: the model is at fault."""
        self._annotate_and_go_on("tag", "model")

    def action_tag_grader(self) -> None:
        """Tag: the grader is at fault."""
        self._annotate_and_go_on("tag", "grader")

    def action_tag_data(self) -> None:
        """Tag: the data is wrong."""
        self._annotate_and_go_on("tag", "data")

    def action_tag_prompt(self) -> None:
        """Tag: the prompt or the format is at fault."""
        self._annotate_and_go_on("tag", "prompt")

    def action_tag_flaky(self) -> None:
        """Tag: it comes and goes."""
        self._annotate_and_go_on("tag", "flaky")

    def action_tag_unsure(self) -> None:
        """Tag: nobody knows."""
        self._annotate_and_go_on("tag", "unsure")

    def action_tag_none(self) -> None:
        """Remove the tag."""
        self._annotate_and_go_on("tag", "")

    def action_review_done(self) -> None:
        """Mark the current case as reviewed and go on, or take the mark away."""
        self._annotate_and_go_on("reviewed", "" if self._controller.annotation.reviewed else "yes")

    def _annotate_and_go_on(self, kind: str, value: str) -> None:
        try:
            self._controller.annotate_and_go_on(kind, value)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
        self._draw()

    def _annotate(self, rollouts: Sequence[Rollout], kind: str, value: str) -> bool:
        """Write notes, or say why they cannot be kept."""
        try:
            self._controller.annotate(rollouts, kind, value)
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return False
        return True

    def action_tag_shown(self) -> None:
        """Tag the whole group of the current case, or all that is listed when nothing is grouped."""
        self._start(self._tag_shown(), group="tag")

    async def _tag_shown(self) -> None:
        group = self._controller.current_group
        rollouts = list(group.rollouts if group is not None else self._controller.triage.order)
        if not rollouts:
            return
        name = one_line(group.label, 40, "bold") if group is not None else Content("everything listed")
        text = Content.assemble("Tag ", (f"{len(rollouts)}", "bold"), " of ", name, " as …")
        answers = [Answer(letter, meaning) for letter, (_, meaning) in TAGS.items()]
        answer = await self._services.ask(Question(text, answers))
        if answer in TAGS and self._annotate(rollouts, "tag", TAGS[answer][0]):
            self._services.notify(Content(f"{len(rollouts)} tagged; u takes it back."))
            self._controller.go(self._controller.triage.step(rollouts[-1].slot, 1) or rollouts[-1])
        self._draw()

    def action_note_add(self) -> None:
        """Write or change the comment on the current case."""
        self._start(self._ask_for("comment", "Comment on ", self._controller.annotation.comment), group="tag")

    def action_dispute(self) -> None:
        """Say why the ground truth of the current case is wrong; the score stays as it is."""
        words = "What is wrong with the ground truth of "
        self._start(self._ask_for("dispute", words, self._controller.annotation.dispute), group="tag")

    async def _ask_for(self, kind: str, words: str, text: str) -> None:
        rollout = self._controller.rollout
        if rollout is None:
            return
        title = Content.assemble(words, one_line(str(rollout.key), 50, "bold"))
        written = await self._services.ask(CommentScreen(title, text))
        if written is not None and written != text and self._annotate([rollout], kind, scrub(written)):
            self._controller.mark_stale(Stale.CASE)
        self._draw()

    def action_undo(self) -> None:
        """Take the last tag or comment back."""
        notes = self._controller.undo()
        if notes:
            words = f"Took back {number_format.plural(len(notes), _NAMES[notes[0].kind])}."
            self._services.notify(Content(words))
        else:
            self._services.notify(Content("There is nothing to undo."))
        self._draw()
