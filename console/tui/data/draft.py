"""`Draft`: what was filled into the form for a new run and not started, to be offered again, after a restart too."""

import os
from collections.abc import Mapping, Set
from typing import NamedTuple

import msgspec

from console.config.redaction import Redactor, sounds_secret
from console.tui.data.ui_state import UiState

_NAME = "draft"
_LONGEST = 20_000
"""Characters of a draft that is kept; a longer one, with its thousands of ids, lives as long as the app."""


class Draft(NamedTuple):
    """The choices of a form, by the names that the form has for them."""

    models: tuple[str, ...] = ()
    suites: Mapping[str, Set[str]] = {}
    """Ticked categories by chosen suite; an empty set means all."""
    texts: Mapping[str, str] = {}
    """What was changed from a default, by field."""

    def among(self, models: Set[str], suites: Set[str]) -> "Draft":
        """Return what of it can still be chosen."""
        return self._replace(
            models=tuple(name for name in self.models if name in models),
            suites={name: ticked for name, ticked in self.suites.items() if name in suites},
        )


class _Written(msgspec.Struct, omit_defaults=True):
    """A draft as it is kept."""

    models: list[str] = []
    suites: dict[str, list[str]] = {}
    texts: dict[str, str] = {}


def keep_draft(draft: Draft | None, state: UiState) -> None:
    """Keep a draft for the next start, unless it holds what is or looks like a key; None: forget the last one."""
    text = ""
    if draft is not None:
        suites = {suite: sorted(ticked) for suite, ticked in draft.suites.items()}
        text = msgspec.json.encode(_Written(list(draft.models), suites, dict(draft.texts))).decode()
        keys = (value for name, value in os.environ.items() if sounds_secret(name))
        if len(text) > _LONGEST or Redactor(keys)(text) != text:
            text = ""
    state.keep(_NAME, text)


def kept_draft(state: UiState) -> Draft | None:
    """Return the draft of an earlier start; None: there is none, or it cannot be read."""
    try:
        written = msgspec.json.decode(state.text(_NAME, longest=_LONGEST), type=_Written)
    except msgspec.MsgspecError:
        return None
    suites = {suite: frozenset(ticked) for suite, ticked in written.suites.items()}
    return Draft(tuple(written.models), suites, written.texts)
