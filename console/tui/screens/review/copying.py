"""`CopyActions`: taking things out of Review: source text to the clipboard, the case to a pager or editor, a mark.

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
from console.store.runs import RunFolder
from console.tui.sanitize import one_line
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.views import actual_text, expected_text, prompt_text, reply_json
from console.tui.services import Services
from console.tui.suite_views.suite_view import ReviewedCase


class CopyActions:
    """Copies parts of the current case."""

    def __init__(self, services: Services, run: RunFolder, controller: ReviewController) -> None:
        """Copy from the controller's current case."""
        self._services = services
        self._run = run
        self._controller = controller

    @property
    def _case_id(self) -> str:
        rollout = self._controller.rollout
        return rollout.key.case if rollout is not None else ""

    def _case(self) -> ReviewedCase | None:
        try:
            return self._controller.case()
        except UsageError:
            return None

    def _copy(self, text: str, name: str) -> None:
        if text:
            self._services.copy(text, name)
        else:
            self._services.notify(Content(f"There is no {name.removeprefix('the ')} to copy."))

    def action_copy_id(self) -> None:
        """Copy the case id."""
        self._copy(self._case_id, "the case id")

    def action_copy_actual(self) -> None:
        """Copy what the model answered."""
        case = self._case()
        self._copy(actual_text(case.conversation) if case else "", "the answer")

    def action_copy_expected(self) -> None:
        """Copy what was expected."""
        case = self._case()
        self._copy(expected_text(case.comparison) if case else "", "the expected answer")

    def action_copy_prompt(self) -> None:
        """Copy what the model was asked first."""
        case = self._case()
        self._copy(prompt_text(case.conversation) if case else "", "the prompt")

    def action_copy_message(self) -> None:
        """Copy the grader's message."""
        case = self._case()
        verdict = case.conversation.verdict if case else None
        self._copy("\n".join(verdict.messages) if verdict else "", "the grader's message")

    def action_copy_json(self) -> None:
        """Copy the last reply as JSON; control characters are escaped in it."""
        case = self._case()
        exchanges = case.conversation.exchanges if case else []
        self._copy(reply_json(exchanges[-1]) if exchanges else "", "the reply as JSON")

    def action_copy_command(self) -> None:
        """Copy the shell command that shows this case."""
        case_id = self._case_id
        words = ["eval-console", "show", self._run.name, *(["--case", case_id] if case_id else [])]
        self._copy(shlex.join(words), "the command")

    def action_open_editor(self) -> None:
        """Open the whole case as text in $PAGER or $EDITOR."""
        case = self._case()
        if case is None:
            return
        command = pager_command()
        if command is None:
            self._services.notify(Content("Set PAGER or EDITOR to open a case in it."))
            return
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="case-", delete=False, encoding="utf-8") as file:
            file.write(case_text(case))
        try:
            with self._services.suspend():
                subprocess.run([*command, file.name], check=False)  # noqa: S603 - the reader's own program
        except OSError as error:
            self._services.notify(
                Content.assemble("It cannot be opened: ", one_line(str(error), 200)), severity="error"
            )
        finally:
            Path(file.name).unlink(missing_ok=True)

    def action_mark(self) -> None:
        """Mark this run for Compare; a second mark opens it."""
        self._services.navigator.mark_for_compare(self._run, self._case_id)


def pager_command() -> list[str] | None:
    """Return the reader's pager or editor as a command, or None when there is none."""
    for name in ("PAGER", "VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(name, "")):
            return words
    less = shutil.which("less") or shutil.which("more")
    return [less] if less else None


def case_text(case: ReviewedCase) -> str:
    """Return the whole case as plain text, with control characters made visible."""
    rollout, verdict = case.rollout, case.conversation.verdict
    parts = [f"{rollout.key}  {rollout.category}", f"{rollout.outcome or 'open'}  {rollout.reason}"]
    parts += list(verdict.messages) if verdict else []
    if expected := expected_text(case.comparison):
        parts += ["", "expected", expected]
    parts += ["", "actual", actual_text(case.conversation), ""]
    parts += [_passage_text(passage) for passage in case.conversation.passages]
    return visible("\n".join(parts)) + "\n"


def _passage_text(passage: Passage) -> str:
    head = f"── {passage.role} {passage.kind.value} {passage.head}".rstrip()
    value = "" if passage.value is None else f" {passage.value}"
    return f"{head}{value}\n{passage.text}\n"
