"""`SearchController`: query, hits and rows of the search in all runs. Independent of widgets and the event loop."""

from collections.abc import Callable, Iterator
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.search.hits import FEW_HITS, Coverage, Hit, NoIndex, RunHits, Search
from console.insight.search_query import SearchQuery, marks_in, passage_text, read_query

MANY_HITS = 1_000
"""Maximum number of hits listed for a run that the query names."""
MOST_RUNS = 300
"""Maximum number of runs listed; the query can name others."""


class SearchController:
    """The query, and the hits so far."""

    def __init__(self) -> None:
        self.query = SearchQuery()
        self.mistake = ""
        """Error in the query."""
        self.coverage: Coverage | None = None
        """How much is indexed; None if there is no index."""
        self.is_searching = False
        self.runs: dict[str, RunHits] = {}
        """Runs with hits by name, newest first."""
        self._rows: dict[str, tuple[RunHits, Hit | None]] = {}
        self._arriving: dict[str, RunHits] = {}
        """Runs of the search in progress."""
        self._is_again = False
        """True if the search in progress repeats the last one, whose hits stay until it has ended."""

    def type(self, text: str) -> bool:
        """Set the query and return whether its meaning has changed."""
        before, had_mistake = self.query, bool(self.mistake)
        try:
            self.query, self.mistake = read_query(text), ""
        except UsageError as error:
            self.query, self.mistake = SearchQuery(text), f"{error.message}. {error.hint}"
        same = ("terms", "excluded", "runs", "suites")
        is_same = all(getattr(before, name) == getattr(self.query, name) for name in same)
        is_other = had_mistake or not is_same or before.filter.text != self.query.filter.text
        self.is_searching = self.is_searching or is_other
        return is_other

    def begin(self, *, again: bool = False) -> None:
        """Start a search; `again` if it repeats the last one on a newer index."""
        self.is_searching, self._is_again, self._arriving = True, again, {}
        if not again:
            self.runs = {}

    def use_coverage(self, coverage: Coverage | None) -> None:
        self.coverage = coverage

    def add(self, hits: RunHits) -> None:
        """Add the hits of a run, or replace them with a longer list."""
        self._arriving[hits.folder.name] = hits
        if not self._is_again:
            self.runs = self._arriving

    def end(self) -> None:
        self.is_searching, self.runs = False, self._arriving

    # Rows ------------------------------------------------------------------------------------------------------------

    def rows(self) -> list[str]:
        """Return the keys of all rows: a heading for each run, its hits, and a line for those not listed."""
        self._rows = {}
        for name, run in self.runs.items():
            self._rows[f"run {name}"] = run, None
            for hit in run.hits:
                self._rows[f"hit {name}/{hit.key.case}/{hit.key.rollout}"] = run, hit
            if run.count > len(run.hits):
                self._rows[f"more {name}"] = run, None
        return list(self._rows)

    @property
    def headings(self) -> set[str]:
        """Keys of the rows that the cursor skips."""
        return {key for key in self._rows if key.startswith("run ")}

    def row(self, key: str | None) -> tuple[RunHits, Hit | None] | None:
        """Return the run and hit of a row; the hit is None for a heading and for the line of unlisted hits."""
        return self._rows.get(key) if key is not None else None

    def narrowed_to(self, run: RunHits) -> str:
        """Return the query for all hits of one run."""
        return f"{self.query.text} run:{run.folder.name}"

    def step(self, key: str | None, by: int) -> str | None:
        """Return the first hit of the next or previous run."""
        names, row = list(self.runs), self.row(key)
        place = names.index(row[0].folder.name) + by if row is not None else 0
        if not 0 <= place < len(names):
            return None
        return next((key for key, (run, hit) in self._rows.items() if hit and run.folder.name == names[place]), None)

    def matched_text(self, hit: Hit) -> str:
        """Return the first match as written in the passage, for finding it in Review."""
        if hit.passage is None:
            return ""
        text = passage_text(hit.passage)
        body = text[len(text) - len(hit.passage.text) :] if hit.passage.head else text
        for shown in (body, text):
            if marks := marks_in(shown, self.query.terms):
                return shown[slice(*marks[0])]
        return ""


Found = Coverage | RunHits | None
"""Progress of a search: how much is indexed, the hits of a run, or None if there is no index."""


def search_runs(root: Path, query: SearchQuery, stopped: Callable[[], bool]) -> Iterator[Found]:
    """Search, in a thread: yield how much is indexed, then the runs with hits."""
    try:
        with Search(root) as search:
            yield search.coverage
            most = MANY_HITS if query.runs else FEW_HITS
            names: set[str] = set()
            for hits in search.run(query, most, stopped):
                names.add(hits.folder.name)
                if len(names) > MOST_RUNS:
                    return
                yield hits
    except NoIndex:
        yield None
