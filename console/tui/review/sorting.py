"""Sorting failures out: tags, comments and undo, as action methods. Kept in notes.jsonl, never in the results."""

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.insight.rollout import Rollout
from console.store.notes import Note
from console.tui.review.case_place import CasePlace
from console.tui.review.comment import CommentScreen
from console.tui.safe import literal, one_line
from console.tui.screens.question import Answer, Question

TAGS = {
    "m": ("model", "model at fault"),
    "g": ("grader", "grader at fault"),
    "d": ("data", "data wrong"),
    "p": ("prompt", "prompt or format"),
    "f": ("flaky", "flaky"),
    "?": ("unsure", "unsure"),
    "0": ("", "remove the tag"),
}
"""Letter of each tag, its value in notes.jsonl, and its meaning."""
LETTERS = {value: letter for letter, (value, _) in TAGS.items() if value}


class Sorting(CasePlace):
    """Tags and comments of the current case."""

    def __init__(self, *args: object, **more: object) -> None:
        """Start with nothing to undo."""
        super().__init__(*args, **more)  # pyright: ignore[reportArgumentType]
        self._undo: list[list[Note]] = []

    def read_notes(self) -> None:
        """Read tags and comments of the run again."""
        tags = self.notes.current("tag")
        self.triage.tags = {(key.case, key.rollout): note.value for key, note in tags.items()}
        self.comments = {(key.case, key.rollout): it.value for key, it in self.notes.current("comment").items()}

    def _tag(self, value: str) -> None:
        """Tag the current case and go on to the next one."""
        rollout = self.rollout
        if rollout is None:
            return
        after = self.triage.step(rollout.slot, 1)
        if self._write([rollout], "tag", value):
            self.go(after or rollout)

    def _write(self, rollouts: list[Rollout], kind: str, value: str) -> bool:
        before: list[Note] = []
        standing = self.triage.tags if kind == "tag" else self.comments
        try:
            for rollout in rollouts:
                before.append(Note(rollout.key, kind, standing.get(rollout.slot, "")))
                self.notes.add(Note(rollout.key, kind, value))
        except UsageError as error:
            self.console_app.say(literal(str(error)), severity="error")
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
        answer = await self.console_app.push_screen_wait(Question(text, answers))
        if answer in TAGS and self._write(rollouts, "tag", TAGS[answer][0]):
            self.console_app.say(Content(f"{len(rollouts)} tagged; u takes it back."))
            self.go(self.triage.step(rollouts[-1].slot, 1) or rollouts[-1])

    @work(exclusive=True, group="sorting")
    async def action_note_add(self) -> None:
        """Write or change the comment on the current case."""
        rollout = self.rollout
        if rollout is None:
            return
        title = Content.assemble("Comment on ", one_line(str(rollout.key), 50, "bold"))
        text = await self.console_app.push_screen_wait(CommentScreen(title, self.comments.get(rollout.slot, "")))
        if text is not None and self._write([rollout], "comment", text):
            self.show_case()

    def action_undo(self) -> None:
        """Take the last tag or comment back."""
        if not self._undo:
            self.console_app.say(Content("There is nothing to undo."))
            return
        notes = self._undo.pop()
        for note in notes:
            self.notes.add(note)
        self.read_notes()
        self.relist()
        slot = notes[0].key.case, notes[0].key.rollout
        if self.feed is not None and slot in self.feed.overview.rollouts:
            self.go(self.feed.overview.rollouts[slot])
        self.console_app.say(Content(f"Took back {len(notes)} {notes[0].kind}{'s' * (len(notes) > 1)}."))
