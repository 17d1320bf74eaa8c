"""One run as a comparison sees it: its lists, and what each case and each first request was, as digests. Pure.

Records go in in journal order, as into `Overview`; texts are not kept.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from console.core.case import Case, Key, Slot
from console.core.record import AnyRecord, Asked, Started
from console.core.run import Manifest
from console.insight.message import normalized_message
from console.insight.overview import Overview
from console.insight.rollout import Rollout


class ComparisonSide:
    """One of the runs that are compared."""

    def __init__(self, manifest: Manifest) -> None:
        """Start with nothing played."""
        self.manifest = manifest
        self.overview = Overview()
        self.case_digests: dict[str, str] = {}
        """Digest of each case as it was played, ground truth included."""
        self.request_digests: dict[Key, str] = {}
        """Digest of the first request to the model in each attempt: messages, tools and overrides."""
        self.question_digests: dict[Key, str] = {}
        """Digest of what the user asks in the first request of each attempt, whatever else was sent with it."""

    def apply(self, record: AnyRecord) -> None:
        """Take one record into account."""
        self.overview.apply(record)
        if isinstance(record, Started):
            self.case_digests[record.key.case] = _digest(record.case)
        elif isinstance(record, Asked) and record.role == "model" and record.key not in self.question_digests:
            self.request_digests[record.key] = record.digest
            self.question_digests[record.key] = _question_digest(record.messages)

    @property
    def rollouts(self) -> dict[Slot, Rollout]:
        """The latest attempt at every rollout, in order of first start."""
        return self.overview.rollouts

    @property
    def graded_slots(self) -> list[Slot]:
        """Rollouts that are there to be graded, in order: not what only prepares others, as BFCL's memory chains do."""
        return [slot for slot in self.rollouts if slot[0] not in self.overview.fold.ungraded]

    @property
    def name(self) -> str:
        """The run's id. Foreign text."""
        return self.manifest.id

    @property
    def model(self) -> str:
        """Name of the model that was asked. Foreign text."""
        return self.manifest.model.name

    def request_digest(self, slot: Slot) -> str:
        """Return the digest of a rollout's first request; empty when none is known."""
        rollout = self.rollouts.get(slot)
        return self.request_digests.get(rollout.key, "") if rollout else ""

    def question_digest(self, slot: Slot) -> str:
        """Return the digest of what is asked first in a rollout; empty when it is not known."""
        rollout = self.rollouts.get(slot)
        return self.question_digests.get(rollout.key, "") if rollout else ""


def _question_digest(messages: Sequence[dict[str, Any]]) -> str:
    """Return the digest of the texts of the user; of all texts when there is none of the user. Empty: nothing is asked.

    Spaces around a text, and how its parts are written, make no difference.
    """
    shown = [normalized_message(message) for message in messages]
    texts = [message.text.strip() for message in shown if message.role == "user"]
    texts = texts or [message.text.strip() for message in shown]
    asked = "\0".join(filter(None, texts))
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16] if asked else ""


def _digest(case: Case) -> str:
    """The cluster says how to count a case, not what it is; runs of before it was kept are compared all the same."""
    asked = msgspec.structs.replace(case, cluster="")
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()[:16]
