"""Cases, and the key that identifies one attempt at a case."""

import hashlib
from typing import Any

import msgspec

from console.core.json_text import canonical_json
from console.core.ranges import Count

Slot = tuple[str, int]
"""Case id and rollout: the identity shared by all attempts."""


class Key(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Identity of a conversation: case id, rollout (repeat, from 0) and attempt (retry, from 1)."""

    case: str
    rollout: Count = 0
    attempt: Count = 1

    def __str__(self) -> str:
        """Return the case id, with rollout and attempt if they are not the first."""
        text = self.case if self.rollout == 0 else f"{self.case} r{self.rollout + 1}"
        return text if self.attempt == 1 else f"{text} attempt {self.attempt}"

    @property
    def slot(self) -> Slot:
        """Case id and rollout."""
        return self.case, self.rollout


class Case(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One complete test case: a journal that contains it can be scored without the dataset."""

    id: str
    category: str
    data: dict[str, Any] = {}
    """The dataset entry in the suite's own format, ground truth included; JSON values."""
    title: str = ""
    """One line for lists, such as the question. Untrusted text."""
    depends_on: tuple[str, ...] = ()
    """Ids of cases of the same run that must finish first."""
    graded: bool = True
    """False for setup cases that others depend on; their result proves nothing about the model."""
    cluster: str = ""
    """Name of a group of dependent cases within the category, such as variants of a question; empty if none."""


def case_digest(case: Case) -> str:
    """Digest a case as played, without its cluster, which older runs did not record."""
    asked = msgspec.structs.replace(case, cluster="")
    return hashlib.sha256(canonical_json(asked)).hexdigest()[:16]


class Setting(msgspec.Struct, frozen=True, omit_defaults=True):
    """Prompting mode and suite options of a run, as needed for playing and scoring."""

    mode: str = "prompt"
    """Prompting mode, by the suite's name for it."""
    options: dict[str, Any] = {}
    """Suite options after validation, defaults filled in; JSON values."""
    extras: dict[str, Any] = {}
    """Additional facts about the origin of outputs, set by the suite and not by users; JSON values."""
