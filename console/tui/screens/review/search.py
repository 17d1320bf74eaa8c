"""Looking for free text in everything a run says: in a thread, so that typing never waits for a large journal."""

import threading
import time

from textual import work

from console.core.case import Key
from console.insight.rollout import Slot
from console.store.search import TextSearch
from console.tui.screens.review.case_base import CaseScreen

TELL_EVERY_S = 0.1
"""Time between two batches of cases found; the first is told at once."""
LEAST_LETTERS = 2


class Finding(CaseScreen):
    """Keeps `triage.found` in step with the free texts of the filter."""

    def __init__(self, *args: object, **more: object) -> None:
        """Look for nothing yet."""
        super().__init__(*args, **more)  # pyright: ignore[reportArgumentType]
        self._searches: dict[str, TextSearch] = {}
        self._found: dict[Slot, set[str]] = {}
        self._stop = threading.Event()

    def look_for_words(self) -> None:
        """Look for the filter's free texts in whole conversations, in what was written since the last look too."""
        words = [word for word in self.triage.narrow.words if len(word) >= LEAST_LETTERS]
        for word in words:
            self._searches.setdefault(word, TextSearch(self.run_folder.journal_path, word))
        self.triage.found = self._found
        behind = [self._searches[word] for word in words if self._searches[word].is_behind]
        if behind and not self.is_searching:
            self.is_searching = True
            self._search(behind)
        elif not words and self.is_searching:
            self._end_search()

    @work(thread=True, group="search", exit_on_error=False)
    def _search(self, searches: list[TextSearch]) -> None:
        stop, told = self._stop, 0.0
        for search in searches:
            fresh = set[Slot]()
            for key in search.run(stop.is_set):
                fresh.add(_slot(key))
                if time.monotonic() - told > TELL_EVERY_S:
                    self.services.from_thread(self._take_found, search.text, fresh)
                    told, fresh = time.monotonic(), set[Slot]()
            if fresh and not stop.is_set():
                self.services.from_thread(self._take_found, search.text, fresh)
        if not stop.is_set():
            self.services.from_thread(self._end_search)

    def _take_found(self, word: str, slots: set[Slot]) -> None:
        for slot in slots:
            self._found.setdefault(slot, set()).add(word)
        if self.is_mounted and word in self.triage.narrow.words:
            self.relist()

    def on_unmount(self) -> None:
        """Look no further."""
        self._stop.set()

    def _end_search(self) -> None:
        self._stop.set()
        self._stop, self.is_searching = threading.Event(), False
        if self.is_mounted:
            self.look_for_words()  # what was typed meanwhile
            self.draw_figures()


def _slot(key: Key) -> Slot:
    return key.case, key.rollout
