"""The first list of Home: what a newcomer and a returning reader most likely want next."""

from pathlib import Path
from typing import ClassVar

from textual.content import Content

from console.insight import number_format
from console.tui.data.catalog_items import RunLine
from console.tui.render.run_states import state_word
from console.tui.sanitize import one_line
from console.tui.widgets.row_list import Column, Face
from console.tui.widgets.section import Section

_SHORT = ("single_turn", "multi_turn_base")
"""Short conversations: the first failure is there within seconds."""
DEMO: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("sim/hasty", "bfcl-starter", _SHORT, 40),
    ("sim/broken", "bfcl-starter", _SHORT, 12),
    ("sim/careful", "aidan-starter", (), 3),
    ("sim/hasty", "cave-starter", ("kitchen", "rainfall", "winter_evening"), 4),
)
"""Model, suite, categories and number of cases of each run of the demo; the first is watched."""
_COLUMNS = (Column("", 15), Column("", 30, 1), Column("", 2, right=True))
_MORE = Content.styled(f"  {'':15}  function calls, creativity loops and code, by simulated models", "$muted")


class StartList(Section):
    """Demo, new run, resume, last failures; only what makes sense now."""

    FIXED: ClassVar[frozenset[str]] = frozenset({"more", "gap"})

    def __init__(self) -> None:
        """Start with what needs nothing."""
        super().__init__(_COLUMNS, draw=self._face, quiet=True, id="start")
        self.resumable: RunLine | None = None
        """The newest run that can be resumed."""
        self.failed: RunLine | None = None
        """The newest run with failures."""
        self.queued: list[RunLine] = []
        """Runs that wait, the next one first."""
        self._stranded = False
        self._starting = self._is_a_key_away = False

    def offer(self, runs: list[RunLine], *, wide: bool, reviewed: Path | None, stranded: bool = False) -> None:
        """Take up the runs and show what can be done with them.

        Args:
            runs: all runs, newest first.
            wide: whether there is room for a second line about the demo.
            reviewed: the run that the key of Review opens.
            stranded: whether nobody plays the runs that wait.
        """
        self.queued = sorted((line for line in runs if line.is_queued), key=lambda line: line.place)
        self._stranded = stranded
        self.resumable = next((line for line in runs if line.can_resume), None)
        failed = [line for line in runs if line.tally.failed + line.tally.broken and not line.is_live]
        self.failed = next((line for line in failed if line.folder.path == reviewed), failed[0] if failed else None)
        self._is_a_key_away = self.failed is not None and self.failed.folder.path == reviewed
        self.label("Start")
        keys = ["demo", "more", "gap", "new"] if wide else ["demo", "new"]
        keys += ["queue"] * bool(self.queued or stranded)
        keys += ["resume"] * (self.resumable is not None) + ["failures"] * (self.failed is not None)
        self.show(keys, fixed=self.FIXED)

    def set_starting(self, starting: bool) -> None:
        """Say that the demo is being started."""
        self._starting = starting
        self.touch("demo")

    def _face(self, key: str) -> Face:
        match key:
            case "demo":
                words = "starting …" if self._starting else "offline, no key needed, about a minute"
                return Content.styled("Try the demo", "bold"), _muted(Content(words)), Content.empty()
            case "more":
                return _MORE
            case "gap":
                return Content.empty()
            case "new":
                return Content("New run"), _muted(Content("pick models, suites and limits")), _key("L")
            case "queue":
                return Content("Queue"), self._queue_words(), Content.empty()
            case "resume":
                return Content("Resume a run"), _muted(_resume_words(self.resumable)), _key("r")
            case _:
                return (
                    Content("Last failures"),
                    _muted(_failure_words(self.failed)),
                    _key("3" if self._is_a_key_away else ""),
                )

    def _queue_words(self) -> Content:
        waits = f"{number_format.plural(len(self.queued), 'run')} {'waits' if len(self.queued) == 1 else 'wait'}"
        if self._stranded:
            return Content.styled(f"{waits}, nobody plays them: enter goes on", "$fail")
        return _muted(Content.assemble(f"{waits}, next: ", _who(self.queued[0])) if self.queued else Content(waits))


def _resume_words(line: RunLine | None) -> Content:
    if line is None or line.summary is None:
        return Content.empty()
    return _who(line).append(
        f", {line.tally.finished} of {line.summary.planned} finished, {state_word(line.state).plain}"
    )


def _failure_words(line: RunLine | None) -> Content:
    return (
        Content.empty() if line is None else Content(f"{line.tally.failed + line.tally.broken} in ").append(_who(line))
    )


def _who(line: RunLine) -> Content:
    model = line.summary.model if line.summary else ""
    return Content.assemble(one_line(line.label, 24), " / ", one_line(model, 24))


def _muted(content: Content) -> Content:
    return content.stylize_before("$muted")


def _key(key: str) -> Content:
    return Content.styled(key, "bold $focus")
