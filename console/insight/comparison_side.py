"""One run as input to a comparison: its rollouts, and digests of its cases and first requests. Pure.

Records are applied in journal order, as to `Overview`; texts are not stored.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from console.core.case import Key, Slot, case_digest
from console.core.record import AnyRecord, Asked, Started
from console.core.run import Manifest
from console.insight.message import normalized_message
from console.insight.overview import Overview
from console.insight.rollouts import Rollouts


class ComparisonSide:
    """One of the compared runs."""

    def __init__(self, manifest: Manifest, overview: Overview | None = None) -> None:
        """Start empty, or from the list data of a run read before; its digests are then unknown."""
        self.manifest = manifest
        self.overview = overview or Overview()
        self.case_digests: dict[str, str] = {}
        """Digest of each case as played, ground truth included."""
        self.request_digests: dict[Key, str] = {}
        """Digest of each attempt's first model request: messages, tools and overrides."""
        self.question_digests: dict[Key, str] = {}
        """Digest of the user's text alone in each attempt's first request."""

    def apply(self, record: AnyRecord) -> None:
        self.overview.apply(record)
        if isinstance(record, Started):
            self.case_digests[record.key.case] = case_digest(record.case)
        elif isinstance(record, Asked) and record.role == "model" and record.key not in self.question_digests:
            self.request_digests[record.key] = record.digest
            self.question_digests[record.key] = _question_digest(record.messages)

    @property
    def rollouts(self) -> Rollouts:
        """The attempt at each rollout that counts, in order of first start."""
        return self.overview.rollouts

    @property
    def graded_slots(self) -> list[Slot]:
        """Rollouts to be graded, in order; excludes setup cases, such as BFCL's memory chains."""
        return [slot for slot in self.rollouts if slot[0] not in self.overview.fold.ungraded]

    @property
    def name(self) -> str:
        """Run id. Untrusted text."""
        return self.manifest.id

    @property
    def title(self) -> str:
        """Name that the user gave the run, or else its id. Untrusted text."""
        return self.manifest.name or self.name

    @property
    def model(self) -> str:
        """Name of the model under test. Untrusted text."""
        return self.manifest.model.name

    def request_digest(self, slot: Slot) -> str:
        """Return the digest of a rollout's first request; empty when unknown."""
        rollout = self.rollouts.get(slot)
        return self.request_digests.get(rollout.key, "") if rollout else ""

    def question_digest(self, slot: Slot) -> str:
        """Return the digest of a rollout's first question; empty when unknown."""
        rollout = self.rollouts.get(slot)
        return self.question_digests.get(rollout.key, "") if rollout else ""


def _question_digest(messages: Sequence[dict[str, Any]]) -> str:
    """Return the digest of the user's text, or of all text if the user has none; empty if there is no text.

    Surrounding whitespace and the splitting of a text into parts are ignored.
    """
    shown = [normalized_message(message) for message in messages]
    texts = [message.text.strip() for message in shown if message.role == "user"]
    texts = texts or [message.text.strip() for message in shown]
    asked = "\0".join(filter(None, texts))
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16] if asked else ""


def shared_repeats(sides: Iterable[ComparisonSide]) -> str:
    """Say which repeats the numbers of several runs rest on; empty if all runs have equally many."""
    repeats = {side.manifest.rollouts for side in sides}
    least = min(repeats)
    return "" if len(repeats) == 1 else "repeat 1 only" if least == 1 else f"repeats 1 to {least} only"
