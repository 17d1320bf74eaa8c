"""Sorting failures out: tags, comments, disputes, what is reviewed, and undo, as action methods.

Kept in notes.jsonl beside the results, never in them; no score changes.
"""

from textual import work
from textual.content import Content

from console.core.annotation import Annotation
from console.core.fault import UsageError
from console.insight import number_format
from console.insight.rollout import Rollout
from console.store.line import scrub
from console.store.notes import Note
from console.tui.dialogs.comment import CommentScreen
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.case_base import CaseScreen
from console.tui.screens.review.case_header import TAGS


class Sorting(CaseScreen):
    """Tags and comments of the current case."""

    def __init__(self, *args: object, **more: object) -> None:
        """Start with nothing to undo."""
        super().__init__(*args, **more)  # pyright: ignore[reportArgumentType]
        self._undo: list[list[Note]] = []

    def read_notes(self) -> None:
        """Read what readers said of the run again."""
        self.triage.annotations = self.notes.annotations()

    def _tag(self, value: str) -> None:
        """Tag the current case and go on to the next one."""
        self._write_and_go_on("tag", value)

    def _write_and_go_on(self, kind: str, value: str) -> None:
        rollout = self.rollout
        if rollout is None:
            return
        after = self.triage.step(rollout.slot, 1)
        if self._write([rollout], kind, value):
            self.go(after or rollout)

    def _write(self, rollouts: list[Rollout], kind: str, value: str) -> bool:
        before: list[Note] = []
        try:
            for rollout in rollouts:
                before.append(Note(rollout.key, kind, _standing(self.triage.annotation(rollout.slot), kind)))
                self.notes.add(Note(rollout.key, kind, value))
        except UsageError as error:
            self.services.notify(literal(str(error)), severity="error")
            return False
        self._undo.append(before)
        self.read_notes()
        self.relist()
        return True

    def action_tag_model(self) -> None:
        """Tag: the model is at fault."""
        self._tag("model")

    def action_tag_grader(self) -> None:
        """Tag: the grader is at fault."""
        self._tag("grader")

    def action_tag_data(self) -> None:
        """Tag: the data is wrong."""
        self._tag("data")

    def action_tag_prompt(self) -> None:
        """Tag: the prompt or the format is at fault."""
        self._tag("prompt")

    def action_tag_flaky(self) -> None:
        """Tag: it comes and goes."""
        self._tag("flaky")

    def action_tag_unsure(self) -> None:
        """Tag: nobody knows."""
        self._tag("unsure")

    def action_tag_none(self) -> None:
        """Remove the tag."""
        self._tag("")

    @work(exclusive=True, group="sorting")
    async def action_tag_shown(self) -> None:
        """Tag the whole group of the current case, or all that is listed when nothing is grouped."""
        group = self.triage.group_of(self.current) if self.current is not None else None
        rollouts = list(group.rollouts) if group is not None else list(self.triage.order)
        if not rollouts:
            return
        name = one_line(group.label, 40, "bold") if group is not None else Content("everything listed")
        text = Content.assemble("Tag ", (f"{len(rollouts)}", "bold"), " of ", name, " as …")
        answers = [Answer(letter, meaning) for letter, (_, meaning) in TAGS.items()]
        answer = await self.services.ask(Question(text, answers))
        if answer in TAGS and self._write(rollouts, "tag", TAGS[answer][0]):
            self.services.notify(Content(f"{len(rollouts)} tagged; u takes it back."))
            self.go(self.triage.step(rollouts[-1].slot, 1) or rollouts[-1])

    @work(exclusive=True, group="sorting")
    async def action_note_add(self) -> None:
        """Write or change the comment on the current case."""
        await self._ask_for("comment", "Comment on ", self.annotation.comment)

    @work(exclusive=True, group="sorting")
    async def action_dispute(self) -> None:
        """Say why the ground truth of the current case is wrong; the score stays as it is."""
        await self._ask_for("dispute", "What is wrong with the ground truth of ", self.annotation.dispute)

    async def _ask_for(self, kind: str, words: str, text: str) -> None:
        rollout = self.rollout
        if rollout is None:
            return
        title = Content.assemble(words, one_line(str(rollout.key), 50, "bold"))
        written = await self.services.ask(CommentScreen(title, text))
        if written is not None and written != text and self._write([rollout], kind, scrub(written)):
            self.show_case()

    def action_review_done(self) -> None:
        """Mark the current case as reviewed and go on, or take the mark away."""
        self._write_and_go_on("reviewed", "" if self.annotation.reviewed else "yes")

    def action_undo(self) -> None:
        """Take the last tag or comment back."""
        if not self._undo:
            self.services.notify(Content("There is nothing to undo."))
            return
        notes = self._undo.pop()
        for note in notes:
            self.notes.add(note)
        self.read_notes()
        self.relist()
        slot = notes[0].key.case, notes[0].key.rollout
        if self.feed is not None and slot in self.feed.overview.rollouts:
            self.go(self.feed.overview.rollouts[slot])
        self.services.notify(Content(f"Took back {number_format.plural(len(notes), _NAMES[notes[0].kind])}."))


_NAMES = {"tag": "tag", "comment": "comment", "dispute": "dispute", "reviewed": "mark"}


def _standing(annotation: Annotation, kind: str) -> str:
    """Return the value of the note that stands, for undo."""
    if kind == "reviewed":
        return "yes" if annotation.reviewed else ""
    return {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute}[kind]
