"""`RunSearch`: looks for texts in everything a run says, in a thread: typing never waits for a large journal."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from console.insight.rollout import Slot
from console.store.search import TextSearch

BATCH_EVERY_S = 0.1
"""Time between two batches of matches; the first is handed on at once."""
LEAST_LETTERS = 2


class RunSearch:
    """Keeps `matches` in step with the texts that are looked for."""

    def __init__(
        self,
        journal: Path,
        in_loop: Callable[[Callable[[], None]], object],
        matched: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        """Look for nothing.

        Args:
            journal: the run's journal.
            in_loop: has a function called in the interface's loop; may be called from any thread.
            matched: told in that loop that texts were found in more conversations.
            ended: told there that everything has been looked through.
        """
        self.matches: dict[Slot, set[str]] = {}
        """Texts that were found in a conversation; always the same mapping."""
        self.is_running = False
        self._journal = journal
        self._in_loop, self._matched, self._ended = in_loop, matched, ended
        self._searches: dict[str, TextSearch] = {}
        self._texts: Sequence[str] = ()
        self._stop = threading.Event()

    def look_for(self, texts: Sequence[str]) -> None:
        """Look for texts in whole conversations, in what was written since the last look too."""
        self._texts = [text for text in texts if len(text) >= LEAST_LETTERS]
        for text in self._texts:
            self._searches.setdefault(text, TextSearch(self._journal, text))
        behind = [self._searches[text] for text in self._texts if self._searches[text].is_behind]
        if behind and not self.is_running:
            self.is_running = True
            threading.Thread(target=self._run, args=(behind, self._stop), name="search", daemon=True).start()
        elif not self._texts and self.is_running:
            self._end(self._stop)

    def close(self) -> None:
        """Look no further, and tell nobody."""
        self._stop.set()

    def _run(self, searches: Sequence[TextSearch], stop: threading.Event) -> None:
        handed_on_at = 0.0
        for search in searches:
            slots = set[Slot]()
            for key in search.run(stop.is_set):
                slots.add((key.case, key.rollout))
                if time.monotonic() - handed_on_at > BATCH_EVERY_S:
                    self._in_loop(partial(self._take, search.text, slots, stop))
                    handed_on_at, slots = time.monotonic(), set[Slot]()
            if slots and not stop.is_set():
                self._in_loop(partial(self._take, search.text, slots, stop))
        self._in_loop(partial(self._end, stop))

    def _take(self, text: str, slots: set[Slot], stop: threading.Event) -> None:
        for slot in slots:
            self.matches.setdefault(slot, set()).add(text)
        if not stop.is_set() and text in self._texts:
            self._matched()

    def _end(self, stop: threading.Event) -> None:
        """End a search, and look for what was typed meanwhile."""
        if stop is not self._stop or stop.is_set():
            return
        stop.set()
        self._stop, self.is_running = threading.Event(), False
        self.look_for(self._texts)
        self._ended()
