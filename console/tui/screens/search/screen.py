"""Search in all runs: hits by run, newest first, with the passage that matches; enter opens Review there.

The search runs in a thread on the index that `data.search_indexing` keeps up to date.
"""

import threading
from collections.abc import Mapping
from functools import partial, partialmethod
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from console.exchange.search.hits import Coverage, Hit, RunHits
from console.insight.conversation import speaker_of
from console.insight.number_format import count, moment, plural
from console.insight.search_query import Excerpt, SearchQuery, excerpt, passage_text
from console.tui.data.throttle import Throttle
from console.tui.render import lines
from console.tui.render.columns import Column, Face
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.screens.search.controller import Found, SearchController, search_runs
from console.tui.services import Services
from console.tui.shell_commands import command
from console.tui.symbols import MUTED, muted, outcome_sign
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule

PAUSE_S = 0.1
"""Seconds between a key and the search, so that a fast typist triggers only one search."""
DRAWN_EVERY_S = 0.1
_COLUMNS = (Column("", 1), Column("case", 18, 1, is_name=True), Column("passage", 40, 3))
_LONGEST = 1_200
"""Characters shown of the passage under the cursor."""
_INDENT = 24
"""Minimum number of cells in a row next to its passage."""


def marked_words(shown: Excerpt) -> Content:
    """Return an excerpt with its matches highlighted."""
    parts, place = [Content.empty()], 0
    for start, end in shown.marks:
        parts += [one_line(shown.text[place:start]), one_line(shown.text[start:end], style="bold $live")]
        place = end
    return Content("").join([*parts, one_line(shown.text[place:])])


class PassageDetails(Static):
    """The passage under the cursor, as much of it as there is room for."""

    def __init__(self) -> None:
        super().__init__(id="passage")
        self.border_title = Content("Passage")

    def show(self, hit: Hit | None, query: SearchQuery) -> None:
        """Show the passage of a hit; None clears it."""
        if hit is None:
            self.update(Content.empty())
            return
        key = one_line(str(hit.key), 60, "bold")
        if hit.passage is None:
            self.update(Content.assemble(key, ("   its journal can no longer be read", MUTED)))
            return
        passage = hit.passage
        turn = f", turn {passage.turn + 1}" if passage.turn else ""
        head = Content.assemble(outcome_sign(hit.rollout.outcome), " ", key, muted(f"   {speaker_of(passage)}{turn}"))
        room = max(self.content_size.width, 40) * max(self.content_size.height - 1, 2)
        text = marked_words(excerpt(passage_text(passage), query.terms, min(room, _LONGEST)))
        self.update(Content("\n").join([head, text]))


class SearchScreen(BaseScreen):
    """Hits by run, and the passage under the cursor."""

    where: ClassVar[str] = "search"
    heading: ClassVar[str] = "Search"
    AUTO_FOCUS: ClassVar[str | None] = "#hits"
    find_hint: ClassVar[str] = 'words of any conversation, "a phrase", prefix*, -without, is: cat: model: suite: run:'
    shown_parts: ClassVar[frozenset[str]] = frozenset({"index"})
    DEFAULT_CSS = """
    SearchScreen {
        #found { height: 1fr; } #hits { height: 1fr; }
        #passage { height: 5; padding: 0 1; }
        &.-wide #passage { height: 11; border: round $line; border-title-color: $muted; }
        &.-wide Rule { display: none; }
    }
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.controller = SearchController()
        self.hits = RowList(_COLUMNS, draw=self._face, id="hits", classes="pane", newest_first=True)
        self.details = PassageDetails()
        self._stop = threading.Event()
        self._timer: Timer | None = None
        self._drawing: Timer | None = None

    def compose_body(self) -> ComposeResult:
        with Container(id="found"):
            yield self.hits
        yield Rule()
        yield self.details

    def on_mount(self) -> None:
        """Bring the index up to date, and ask for words."""
        self.services.search_indexing.update()
        self._search()
        self.call_after_refresh(self.find_session.action_find)

    def on_unmount(self) -> None:
        self._stop.set()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def show_workspace(self, part: str) -> None:
        """Repeat the search on a newer index; when the screen is shown again, request an update of the index."""
        if part:
            self._search(again=True)
        elif self.controller.coverage is not None:
            self.services.search_indexing.note_changes()

    def ask_again(self) -> None:
        """Ask for other words if a search has found nothing."""
        if self.controller.coverage is not None and not self.controller.rows():
            self.call_after_refresh(self.find_session.action_find)

    # Search -----------------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        """Search for the text, at once when it is complete."""
        if self.controller.type(text):
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(0.001 if done else PAUSE_S, self._search)
        self._draw()

    @property
    def find_mistake(self) -> str:
        return self.controller.mistake

    def _search(self, *, again: bool = False) -> None:
        self._stop.set()
        self._stop = threading.Event()
        self.controller.begin(again=again)
        root = self.services.workspace.runs_root or self.services.paths.runs
        if root is not None:
            work = partial(self._find, root, self.controller.query, self._stop)
            self.run_worker(work, thread=True, group="search")

    def _find(self, root: Path, query: SearchQuery, stop: threading.Event) -> None:
        throttle = Throttle()

        def stopped() -> bool:
            throttle()
            return stop.is_set()

        for run in search_runs(root, query, stopped):
            if stop.is_set():
                return
            self.services.workspace.hand_over(self._receive, run, stop)
        self.services.workspace.hand_over(self._end, stop)

    def _receive(self, found: Found, stop: threading.Event) -> None:
        if stop is not self._stop or not self.is_mounted:
            return
        if isinstance(found, RunHits):
            self.controller.add(found)
        else:
            self.controller.use_coverage(found)
        if len(self.controller.runs) == 1:
            self._draw()
        elif self._drawing is None:
            self._drawing = self.set_timer(DRAWN_EVERY_S, self._draw)

    def _end(self, stop: threading.Event) -> None:
        if stop is self._stop and self.is_mounted:
            self.controller.end()
            self._draw()

    # Drawing ----------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._drawing = None
        if not self.is_mounted:
            return
        controller, coverage = self.controller, self.controller.coverage or Coverage()
        status = f"{plural(coverage.conversations, 'conversation')} of {plural(coverage.runs, 'run')}"
        if controller.query.expression:
            hits = sum(run.count for run in controller.runs.values())
            status = f"{plural(hits, 'hit')} in {count(len(controller.runs))} of {plural(coverage.runs, 'run')}"
        if self.services.search_indexing.is_running:
            status = f"indexing …  {status}"
        title = one_line(controller.query.text, 60)
        self.top_line.tell(title=title or muted("all runs"), status=muted(status))
        self.hits.show(controller.rows(), fixed=controller.headings, empty=self._empty_text())
        self._show_passage()

    def _empty_text(self) -> Content:
        controller, coverage, indexing = self.controller, self.controller.coverage, self.services.search_indexing
        if indexing.mistake:
            return one_line(indexing.mistake, 400)
        if coverage is None:
            waiting = "The conversations are being indexed for the first time …"
            return Content(
                waiting if indexing.is_running else "There is no conversation to search yet. L starts a run."
            )
        if not controller.query.expression:
            return Content("/ searches every conversation of every run: prompts, answers, calls, results, verdicts.")
        if controller.is_searching:
            return Content("searching …")
        among = f"{plural(coverage.conversations, 'conversation')} in {plural(coverage.runs, 'run')}"
        words = one_line(controller.query.text, 60)
        return Content.assemble(f"None of {among} matches ", words, ".\n/ changes it; word* also finds longer words.")

    def _face(self, key: str) -> Face:
        row = self.controller.row(key)
        if row is None:
            return Content.empty()
        run, hit = row
        if hit is None:
            return lines.fit_name(_heading(run), self.hits.room) if key.startswith("run ") else _more(run)
        width = max(self.hits.size.width - _INDENT, 30)
        text = Content.empty()
        if hit.passage is not None:
            text = marked_words(excerpt(passage_text(hit.passage), self.controller.query.terms, width))
        return outcome_sign(hit.rollout.outcome), one_line(str(hit.key), 60), text

    @on(RowList.RowHighlighted, "#hits")
    def _show_passage(self) -> None:
        row = self.controller.row(self.hits.cursor)
        self.details.show(row[1] if row is not None else None, self.controller.query)
        self.refresh_keys()

    # User input -------------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        row = self.controller.row(self.hits.cursor)
        return {"open": "open in Review" if row is None or row[1] is not None else "list all of this run"}

    @on(RowList.RowChosen, "#hits")
    def _chosen(self, event: RowList.RowChosen) -> None:
        row = self.controller.row(event.key)
        if row is None:
            return
        run, hit = row
        if hit is not None:
            slot = hit.rollout.slot
            self.services.navigator.open_review(run.folder, slot, self.controller.matched_text(hit))
        else:
            self.find_session.fill(self.controller.narrowed_to(run))

    def _step(self, by: int) -> None:
        """Move to the first hit of the next or previous run."""
        if (key := self.controller.step(self.hits.cursor, by)) is not None:
            self.hits.move_to(key)

    def action_copy_id(self) -> None:
        row = self.controller.row(self.hits.cursor)
        if row is None or row[1] is None:
            self.services.notify(Content("There is no hit under the cursor."))
        else:
            self.services.copy(str(row[1].key), "the case id")

    def action_copy_command(self) -> None:
        """Copy the search as a command; a leading blank keeps a word that begins with a dash from being an option."""
        if text := self.controller.query.text:
            words = command("search", f" {text}" if text.startswith("-") else text, places=self.services.paths)
            self.services.copy(words, "the shell command")
        else:
            self.services.notify(Content("There is no search yet."))

    action_group_next = partialmethod(_step, 1)
    action_group_prev = partialmethod(_step, -1)


def _heading(run: RunHits) -> Content:
    facts = run.facts
    about = Content.assemble(" ", one_line(facts.model, 40, "bold"), " · ", one_line(facts.suite, 40))
    named = Content.assemble("  ", one_line(facts.title, 30)) if facts.title else Content.empty()
    hits = "hit" if run.count == 1 else "hits"
    about = about.append(named).append(muted(f"   {moment(facts.at)}   {count(run.count)} {hits}   "))
    return about.append(one_line(run.folder.name, 100, MUTED))


def _more(run: RunHits) -> Face:
    left = run.count - len(run.hits)
    return Content.empty(), muted(f"… {count(left)} more"), muted("enter lists all of this run")
