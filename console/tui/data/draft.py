"""`Draft`: the unstarted contents of the form for a new run, persisted across restarts."""

import os
from collections.abc import Mapping, Set
from typing import NamedTuple

import msgspec

from console.config.paths import WorkspacePaths, find_data_roots, find_runs_root
from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.tui.data.ui_state import UiState

_NAME = "draft"
_LONGEST = 20_000
"""Maximum number of characters in a persisted draft; a longer one, with thousands of ids, is kept in memory only."""


class Draft(NamedTuple):
    """The contents of a form, by field name."""

    models: tuple[str, ...] = ()
    suites: Mapping[str, Set[str]] = {}
    """Selected categories by selected suite; an empty set means all."""
    texts: Mapping[str, str] = {}
    """Values that differ from the default, by field."""

    def among(self, models: Set[str], suites: Set[str]) -> "Draft":
        """Return the draft without models and suites that no longer exist."""
        return self._replace(
            models=tuple(name for name in self.models if name in models),
            suites={name: ticked for name, ticked in self.suites.items() if name in suites},
        )


class _Written(msgspec.Struct, omit_defaults=True):
    """The stored form of a draft."""

    models: list[str] = []
    suites: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    place: str = ""


def draft_place(paths: WorkspacePaths) -> str:
    """Return a string that identifies the folders of runs and data; a draft is valid only for those."""
    try:
        folders = find_runs_root(paths.runs, may_be_new=True), *find_data_roots(paths.data).user
    except UsageError:  # reported where they are read
        return ""
    return " ".join(map(str, folders))


def keep_draft(draft: Draft | None, state: UiState, place: str) -> None:
    """Store a draft for the next start, unless it contains an actual or apparent API key; None deletes it."""
    text = ""
    if draft is not None:
        from console.config.redaction import Redactor, sounds_secret

        suites = {suite: sorted(ticked) for suite, ticked in draft.suites.items()}
        text = msgspec.json.encode(_Written(list(draft.models), suites, dict(draft.texts), place)).decode()
        keys = (value for name, value in os.environ.items() if sounds_secret(name))
        if len(text) > _LONGEST or Redactor(keys)(text) != text:
            text = ""
    state.keep(_NAME, text)


def kept_draft(state: UiState, place: str) -> Draft | None:
    """Return the stored draft; None if there is none, if it is unreadable, or if it was made for other folders."""
    try:
        written = msgspec.json.decode(state.text(_NAME, longest=_LONGEST), type=ready_type(_Written))
    except msgspec.MsgspecError:
        return None
    if written.place != place:
        return None
    suites = {suite: frozenset(ticked) for suite, ticked in written.suites.items()}
    return Draft(tuple(written.models), suites, written.texts)
