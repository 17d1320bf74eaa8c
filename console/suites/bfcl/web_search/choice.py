"""Which web a run uses: the one recorded in a file of the user's or of the dataset, or the real one."""

from pathlib import Path
from typing import Any

from console.llm.browsing import AnyWeb
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.web_search.recorded import read_recorded
from console.suites.suite import Option

LIVE = "live"
OPTION = Option(
    name="web_recorded",
    kind="text",
    default="",
    meaning="web search: a JSON file of recorded answers; empty: the dataset's own, if it has any; live: the real web",
)


def choose_web(options: dict[str, Any], dataset: Dataset) -> AnyWeb:
    """Return the web that the option names.

    Raises:
        UsageError: a file of recorded answers cannot be read.
    """
    chosen = str(options.get(OPTION.name, OPTION.default)).strip()
    if chosen == LIVE or (not chosen and dataset.recorded_web is None):
        from console.llm.web import Web  # loads a network client, which offline uses do without

        return Web()
    return read_recorded(Path(chosen).expanduser() if chosen else dataset.folder / str(dataset.recorded_web))
