"""Actions of Review on a case: tags and comments, copies and retries.

Annotations are kept in notes.jsonl next to the results and never change a score. Control characters are removed from
what is copied or opened, so that nothing hidden reaches a shell or pager. Costs need confirmation.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from pathlib import Path
from typing import Any, Protocol

from textual.content import Content

from console.core.fault import UsageError
from console.core.live import Command
from console.core.text import visible
from console.insight import number_format
from console.insight.conversation import actual_text
from console.insight.passage import Passage, ShownMedia
from console.insight.rollout import Rollout
from console.store.journal_line import scrub
from console.store.runs import RunFolder
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.small_dialogs import Answer, CommentScreen, Question
from console.tui.sanitize import one_line
from console.tui.screens.review.case_pane import TAGS
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.stale import Stale
from console.tui.screens.review.views import expected_text, prompt_text, reply_json
from console.tui.services import Services
from console.tui.shell_commands import command, run_words
from console.tui.suite_views.suite_view import ReviewedCase


class StartWorker(Protocol):
    """Starts a coroutine, or a function in a thread; a later call with the same group replaces it."""

    def __call__(self, work: Coroutine[Any, Any, None] | Callable[[], None], *, group: str) -> None: ...


_NAMES = {"tag": "tag", "comment": "comment", "dispute": "dispute", "reviewed": "mark"}


@dataclass
class TagActions:
    """Writes notes on cases."""

    services: Services
    controller: ReviewController
    start: StartWorker
    """Starts a dialog."""
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""

    def _annotate_and_go_on(self, kind: str, value: str) -> None:
        try:
            self.controller.annotate_and_go_on(kind, value)
        except UsageError as error:
            self.services.refuse(error)
        self.draw()

    action_tag_model = partialmethod(_annotate_and_go_on, "tag", "model")
    action_tag_grader = partialmethod(_annotate_and_go_on, "tag", "grader")
    action_tag_data = partialmethod(_annotate_and_go_on, "tag", "data")
    action_tag_prompt = partialmethod(_annotate_and_go_on, "tag", "prompt")
    action_tag_flaky = partialmethod(_annotate_and_go_on, "tag", "flaky")
    action_tag_unsure = partialmethod(_annotate_and_go_on, "tag", "unsure")
    action_tag_none = partialmethod(_annotate_and_go_on, "tag", "")

    def action_review_done(self) -> None:
        self._annotate_and_go_on("reviewed", "" if self.controller.cursor.annotation.reviewed else "yes")

    def _annotate(self, rollouts: Sequence[Rollout], kind: str, value: str) -> bool:
        """Write notes; show the error and return False if that fails."""
        try:
            self.controller.annotate(rollouts, kind, value)
        except UsageError as error:
            self.services.refuse(error)
            return False
        return True

    def action_tag_shown(self) -> None:
        """Tag the group of the current case, or all listed cases if they are not grouped."""
        self.start(self._tag_shown(), group="tag")

    async def _tag_shown(self) -> None:
        group = self.controller.cursor.group
        rollouts = list(group.rollouts if group is not None else self.controller.triage.order)
        if not rollouts:
            return
        name = one_line(group.label, 40, "bold") if group is not None else Content("everything listed")
        text = Content.assemble("Tag ", (f"{len(rollouts)}", "bold"), " of ", name, " as …")
        answers = [Answer(letter, meaning) for letter, (_, meaning) in TAGS.items()]
        answer = await self.services.ask(Question(text, answers))
        if answer in TAGS and self._annotate(rollouts, "tag", TAGS[answer][0]):
            self.services.notify(Content(f"{len(rollouts)} tagged; u undoes it."))
            self.controller.cursor.go(self.controller.triage.step(rollouts[-1], 1) or rollouts[-1])
        self.draw()

    def action_note_add(self) -> None:
        self.start(self._ask_for("comment", "Comment on ", self.controller.cursor.annotation.comment), group="tag")

    def action_dispute(self) -> None:
        """Dispute the ground truth of the current case; the score does not change."""
        words = "What is wrong with the ground truth of "
        self.start(self._ask_for("dispute", words, self.controller.cursor.annotation.dispute), group="tag")

    async def _ask_for(self, kind: str, words: str, text: str) -> None:
        rollout = self.controller.cursor.rollout
        if rollout is None:
            return
        title = Content.assemble(words, one_line(str(rollout.key), 50, "bold"))
        written = await self.services.ask(CommentScreen(title, text))
        if written is not None and written != text and self._annotate([rollout], kind, scrub(written)):
            self.controller.mark_stale(Stale.CASE)
        self.draw()

    def action_undo(self) -> None:
        notes = self.controller.undo()
        if notes:
            words = f"Undid {number_format.plural(len(notes), _NAMES[notes[0].kind])}."
            self.services.notify(Content(words))
        else:
            self.services.notify(Content("There is nothing to undo."))
        self.draw()


MOST_OPENED = 5
OPENED = (
    *("image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "audio/wav", "application/pdf"),
    *("text/plain", "text/csv"),
)
"""Media types of files that are opened; others may hold code that a program would run."""


@dataclass
class CopyActions:
    """Copies parts of the current case, or opens them outside."""

    services: Services
    run: RunFolder
    controller: ReviewController
    start: StartWorker

    @property
    def _case_id(self) -> str:
        rollout = self.controller.cursor.rollout
        return rollout.key.case if rollout is not None else ""

    def _case(self) -> ReviewedCase | None:
        try:
            return self.controller.case.load()
        except UsageError:
            return None

    def _copy(self, text: str, name: str) -> None:
        if text:
            self.services.copy(text, name)
        else:
            self.services.notify(Content(f"There is no {name.removeprefix('the ')} to copy."))

    def action_copy_id(self) -> None:
        self._copy(self._case_id, "the case id")

    def action_copy_actual(self) -> None:
        case = self._case()
        self._copy(actual_text(case.conversation) if case else "", "the answer")

    def action_copy_expected(self) -> None:
        case = self._case()
        self._copy(expected_text(case.comparison) if case else "", "the expected answer")

    def action_copy_prompt(self) -> None:
        case = self._case()
        self._copy(prompt_text(case.conversation) if case else "", "the prompt")

    def action_copy_message(self) -> None:
        case = self._case()
        verdict = case.conversation.verdict if case else None
        self._copy("\n".join(verdict.messages) if verdict else "", "the grader's message")

    def action_copy_json(self) -> None:
        case = self._case()
        exchanges = case.conversation.exchanges if case else []
        self._copy(reply_json(exchanges[-1]) if exchanges else "", "the reply as JSON")

    def action_copy_command(self) -> None:
        words = command("show", *run_words([self.run], self._case_id), places=self.services.paths)
        self._copy(words, "the shell command")

    def action_open_editor(self) -> None:
        case = self._case()
        if case is None:
            return
        from console.tui.editor import page_text

        page_text(self.services, case_text(case), "case")

    def _media(self) -> list[ShownMedia]:
        """Return the images, audio clips and files of the case, without duplicates."""
        case = self._case()
        shown = [shown for passage in case.conversation.passages for shown in passage.media] if case else []
        return list({shown.media.reference: shown for shown in shown}.values())

    def action_pictures(self) -> None:
        pictures = [shown for shown in self._media() if shown.media.kind == "image"]
        if not pictures:
            self.services.notify(Content("This case has no pictures."))
            return
        from console.tui.picture_page import page_pictures

        page_pictures(self.services, pictures)

    def action_open_files(self) -> None:
        """Open the images, audio clips and documents of the case in the desktop's programs for them."""
        references = [shown.media.reference for shown in self._media()]
        files = [reference for reference in references if reference.media_type in OPENED]
        if not files:
            self.services.notify(Content("This case has no pictures, sounds or documents."))
            return
        paths = [self.run.path_of_file(reference) for reference in files[:MOST_OPENED]]
        self.start(lambda: self._open_all(paths), group="open")

    def _open_all(self, paths: Sequence[Path]) -> None:
        from console.tui.desktop import open_outside

        for path in paths:
            try:
                open_outside(path)
            except UsageError as error:
                words = one_line(str(error), 200)
                self.services.from_thread(partial(self.services.notify, words, severity="error"))
                return

    def action_mark(self) -> None:
        """Mark this run for Compare; a second mark opens it."""
        rollout = self.controller.cursor.rollout
        self.services.navigator.mark_for_compare(self.run, rollout.slot if rollout is not None else None)


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


@dataclass
class KeepActions:
    """Keeps the current case in one of the reader's own suites."""

    services: Services
    controller: ReviewController
    start: StartWorker
    """Starts a dialog."""

    def action_keep(self) -> None:
        from console.tui.screens.review.keeping import Keeping  # lazy, as keeping is rare

        self.start(Keeping(self.services, self.controller).ask_and_keep(), group="keep")


ASK_ABOVE_USD = 0.05
"""A single case is retried without confirmation below this cost in US dollars."""


@dataclass
class RetryActions:
    """Retries cases without a grade in the same run, and plays graded ones again in a new one."""

    services: Services
    run: RunFolder
    controller: ReviewController
    start: StartWorker
    """Starts a dialog or slow work."""
    feed: RunFeed | None = None
    """The run's feed, which passes commands to a live engine."""

    def action_run_again(self) -> None:
        rollout = self.controller.cursor.rollout
        if rollout is not None:
            self.start(self._play_again([rollout]), group="retry")

    def action_run_again_shown(self) -> None:
        rollouts = list(self.controller.triage.order)
        if rollouts:
            self.start(self._play_again(rollouts), group="retry")

    async def _play_again(self, rollouts: Sequence[Rollout]) -> None:
        from console.engine.plan import check_playable

        try:
            check_playable(self.run.manifest())
        except UsageError as error:
            self.services.refuse(error)
            return
        graded = [rollout for rollout in rollouts if rollout.has_grade]
        others = [rollout for rollout in rollouts if not rollout.has_grade]
        answer = "y" if not graded and self._is_cheap(others) else await self._ask(others, graded)
        if answer == "y":
            await self._retry(others)
        elif answer == "a":
            from console.tui.screens.branching import start_branch

            cases = _cases_of(graded)
            self.services.workspace.in_thread(lambda: start_branch(self.services, self.run, cases=cases))

    async def _ask(self, others: Sequence[Rollout], graded: Sequence[Rollout]) -> str | None:
        """Ask what to do with rollouts without a grade and with one: `y` retries, `a` starts a new run."""
        lines, answers = list[Content](), list[Answer]()
        if others:
            lines.append(Content.assemble("Retry ", self._named(others), "? ", (self._price(others), "bold")))
            answers.append(Answer("y", "retry"))
        if graded:
            what = Content.assemble(self._named(graded), " again, in a new run? ", (self._price(graded), "bold"))
            lines += [Content("Play ").append(what), Content("A grade is never replaced: this run keeps its score.")]
            answers.append(Answer("a", "play again in a new run"))
        return await self.services.ask(Question(Content("\n").join(lines), answers))

    async def _retry(self, rollouts: Sequence[Rollout]) -> None:
        from console.engine.plan import reopen
        from console.engine.process import spawn_engine
        from console.engine.queue import RetryScope

        if self.feed is not None and self.feed.is_attached:
            for rollout in rollouts:
                self.feed.send(Command("retry_case", key=rollout.key))
            count = number_format.plural(len(rollouts), "case")
            self.services.notify(Content(f"{count} queued to retry in the live run."))
            return
        paths, cases = self.services.paths, _cases_of(rollouts)
        try:
            await asyncio.to_thread(reopen, self.run, paths)
            spawn_engine(self.run, retry=RetryScope.BROKEN, only=cases, paths=paths)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.services.notify(Content(f"Retrying {number_format.plural(len(cases), 'case')}; 2 watches the run."))

    def _is_cheap(self, rollouts: Sequence[Rollout]) -> bool:
        """Return whether a single case is retried without a question."""
        if len(rollouts) > 1 or self._is_free(rollouts):
            return len(rollouts) == 1
        cost = rollouts[0].cost_usd
        return cost is not None and cost < ASK_ABOVE_USD

    def _is_free(self, rollouts: Sequence[Rollout]) -> bool:
        is_simulated = self.feed is not None and self.feed.manifest.model.simulated
        return is_simulated and not any(rollout.cost_usd != 0 for rollout in rollouts)

    def _price(self, rollouts: Sequence[Rollout]) -> str:
        costs = [rollout.cost_usd for rollout in rollouts]
        total = sum(cost or 0.0 for cost in costs)
        at_least = number_format.money(total, at_least=None in costs)
        return "free, simulated" if self._is_free(rollouts) else f"about {at_least}"

    @staticmethod
    def _named(rollouts: Sequence[Rollout]) -> Content:
        return one_line(str(rollouts[0].key), 40, "bold") if len(rollouts) == 1 else Content(f"{len(rollouts)} cases")


def _cases_of(rollouts: Sequence[Rollout]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rollout.key.case for rollout in rollouts))
