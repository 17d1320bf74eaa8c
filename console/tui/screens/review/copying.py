"""Taking things out of Review: the copy menu gives source text, `e` opens the case in the reader's pager or editor.

What is copied or opened has no control characters, so that nothing hidden is pasted into a shell or obeyed by a pager.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from textual.content import Content

from console.core.fault import UsageError
from console.core.text import visible
from console.insight.passage import Passage
from console.tui.sanitize import one_line
from console.tui.screens.review.case_base import CaseScreen
from console.tui.screens.review.views import Subject, actual_text, expected_text, prompt_text, reply_json


class Copying(CaseScreen):
    """Copies of the current case."""

    def _subject(self) -> Subject | None:
        try:
            return self.subject()
        except UsageError:
            return None

    def _copy(self, text: str, what: str) -> None:
        if text:
            self.services.copy(text, what)
        else:
            self.services.notify(Content(f"There is no {what.removeprefix('the ')} to copy."))

    def action_copy_id(self) -> None:
        """Copy the case id."""
        self._copy(self.rollout.key.case if self.rollout else "", "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered."""
        subject = self._subject()
        self._copy(actual_text(subject.conversation) if subject else "", "the answer")

    def action_copy_expected(self) -> None:
        """Copy what was expected."""
        subject = self._subject()
        self._copy(expected_text(subject.comparison) if subject else "", "the expected answer")

    def action_copy_prompt(self) -> None:
        """Copy what the model was asked first."""
        subject = self._subject()
        self._copy(prompt_text(subject.conversation) if subject else "", "the prompt")

    def action_copy_message(self) -> None:
        """Copy the grader's message."""
        subject = self._subject()
        verdict = subject.conversation.verdict if subject else None
        self._copy("\n".join(verdict.messages) if verdict else "", "the grader's message")

    def action_copy_json(self) -> None:
        """Copy the last reply as JSON; control characters are escaped in it."""
        subject = self._subject()
        exchanges = subject.conversation.exchanges if subject else []
        self._copy(reply_json(exchanges[-1]) if exchanges else "", "the reply as JSON")

    def action_copy_command(self) -> None:
        """Copy the shell command that shows this case."""
        case = self.rollout.key.case if self.rollout else ""
        words = ["eval-console", "show", self.run_folder.name, *(["--case", case] if case else [])]
        self._copy(shlex.join(words), "the command")

    def action_open_editor(self) -> None:
        """Open the whole case as text in $PAGER or $EDITOR."""
        subject = self._subject()
        if subject is None:
            return
        command = pager_command()
        if command is None:
            self.services.notify(Content("Set PAGER or EDITOR to open a case in it."))
            return
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="case-", delete=False, encoding="utf-8") as file:
            file.write(case_text(subject))
        try:
            with self.services.suspend():
                subprocess.run([*command, file.name], check=False)  # noqa: S603 - the reader's own program
        except OSError as error:
            self.services.notify(Content.assemble("It cannot be opened: ", one_line(str(error), 200)), severity="error")
        finally:
            Path(file.name).unlink(missing_ok=True)


def pager_command() -> list[str] | None:
    """Return the reader's pager or editor as a command, or None when there is none."""
    for name in ("PAGER", "VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    less = shutil.which("less") or shutil.which("more")
    return [less] if less else None


def case_text(subject: Subject) -> str:
    """Return the whole case as plain text, with control characters made visible."""
    rollout, verdict = subject.rollout, subject.conversation.verdict
    parts = [f"{rollout.key}  {rollout.category}", f"{rollout.outcome or 'open'}  {rollout.reason}"]
    parts += list(verdict.messages) if verdict else []
    if expected := expected_text(subject.comparison):
        parts += ["", "expected", expected]
    parts += ["", "actual", actual_text(subject.conversation), ""]
    parts += [_passage_text(passage) for passage in subject.conversation.passages]
    return visible("\n".join(parts)) + "\n"


def _passage_text(passage: Passage) -> str:
    head = f"── {passage.role} {passage.kind.value} {passage.head}".rstrip()
    value = "" if passage.value is None else f" {passage.value}"
    return f"{head}{value}\n{passage.text}\n"
