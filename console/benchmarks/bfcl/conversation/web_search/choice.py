"""Selects the source of web answers for a run: recorded answers of the user or dataset, or the live web."""

from typing import Any

from console.benchmarks.bfcl.conversation.web_search.recorded import read_recorded
from console.benchmarks.bfcl.data.dataset import Dataset
from console.config.environment import variable
from console.config.paths import expanded
from console.core.fault import UsageError
from console.llm.web.browsing import SEARCH_KEY, WebAccess
from console.suites.suite import Option

LIVE = "live"
OPTION = Option(
    name="web_recorded",
    kind="text",
    default="",
    meaning="web search: JSON file of recorded answers; empty: the dataset's own if any; live: the live web",
)
_WHERE = f"--option {OPTION.name}"


def with_absolute_path(options: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return the options with an absolute path, so that a run can be resumed from another folder.

    Raises:
        UsageError: the file exists neither in the current folder nor in the dataset's.
    """
    chosen = _chosen(options)
    if chosen in ("", LIVE):
        return options
    named = expanded(chosen)
    candidates = [named.absolute(), dataset.folder / named]
    recorded_file = next((place for place in candidates if place.is_file()), None)
    if recorded_file is None:
        folders = " nor ".join(str(folder) for folder in dict.fromkeys(place.parent for place in candidates))
        message = f"there is no file {named.name} of recorded answers, neither in {folders}"
        raise UsageError(message if " nor " in folders else message.replace("neither ", ""), where=_WHERE)
    return options | {OPTION.name: str(recorded_file)}


def check_web(options: dict[str, Any], dataset: Dataset) -> None:
    """Check that web search is available.

    Raises:
        UsageError: unreadable recorded answers, or no key for the live web.
    """
    if not _is_live(options, dataset):
        choose_web(options, dataset)
    elif variable(SEARCH_KEY) is None:
        raise UsageError(
            "web search needs a serpapi.com key",
            where=SEARCH_KEY,
            hint=f"Set this variable, use recorded answers ({_WHERE}=FILE), or leave out web_search.",
        )


def choose_web(options: dict[str, Any], dataset: Dataset) -> WebAccess:
    """Return the source of web answers selected by the option.

    Raises:
        UsageError: unreadable recorded answers.
    """
    if _is_live(options, dataset):
        from console.llm.web.live import Web  # imports a network client, not needed offline

        return Web()
    chosen = _chosen(options)
    return read_recorded(expanded(chosen) if chosen else dataset.folder / str(dataset.recorded_web))


def _chosen(options: dict[str, Any]) -> str:
    return str(options.get(OPTION.name, OPTION.default)).strip()


def _is_live(options: dict[str, Any], dataset: Dataset) -> bool:
    chosen = _chosen(options)
    return chosen == LIVE or (not chosen and dataset.recorded_web is None)
