"""What is played: a case, and the identity of one try at it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from console.core.ranges import Count


class Key(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Identity of a conversation: case id, rollout (repeat) and attempt (retry), both from 0 and 1."""

    case: str
    rollout: Count = 0
    attempt: Count = 1

    def __str__(self) -> str:
        """Show the case id, with rollout and attempt only where they matter."""
        text = self.case if self.rollout == 0 else f"{self.case} r{self.rollout + 1}"
        return text if self.attempt == 1 else f"{text} attempt {self.attempt}"


Slot = tuple[str, int]
"""Case id and rollout: what stays the same when one attempt supersedes another."""


class Case(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing to be played and judged, complete: a journal that holds it can be scored without the dataset."""

    id: str
    category: str
    data: dict[str, Any] = {}
    """The suite's own form of the entry, ground truth included; JSON values."""
    title: str = ""
    """One line for lists, such as the question. Foreign text."""
    depends_on: tuple[str, ...] = ()
    """Ids of cases of the same run that must finish first."""
    graded: bool = True
    """False: played for what others build on; that it ended well says nothing of the model."""
    cluster: str = ""
    """What it shares with others of its category, such as a question, so that they are not independent; else empty."""


class PromptEdit(msgspec.Struct, frozen=True):
    """Another opening: wherever a request begins with some messages of the suite's, others are sent instead."""

    before: tuple[dict[str, Any], ...]
    """The messages of the first request as the suite makes them."""
    after: tuple[dict[str, Any], ...]

    def apply(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Return the messages with the other opening; None when they do not begin with `before`."""
        count = len(self.before)
        if tuple(messages[:count]) != self.before:
            return None
        return [*self.after, *messages[count:]]


class Setting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What play and score must know of the run: how the model is prompted and the suite's options."""

    mode: str = "prompt"
    """How the model is prompted, in the suite's word for it."""
    options: dict[str, Any] = {}
    """Suite options after validation, defaults filled in; JSON values."""
    edit: PromptEdit | None = None
    """A reader's own opening of the conversation; such a run says nothing of the benchmark."""
    extras: dict[str, Any] = {}
    """What else a suite must know of how outputs came about, and no person sets; JSON values, the suite's own."""
