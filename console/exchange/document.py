"""A run prepared for export: every rollout with its case, its end, its annotations and its comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from console.core.annotation import Annotation
from console.core.case import Case, Slot
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.core.record import Finished
from console.core.run import Manifest, Summary
from console.insight.conversation import Conversation
from console.insight.judging import Judging
from console.insight.rollout import SETUP, Rollout, outcome_word
from console.suites.suite import Report

ANNOTATION_FIELDS = ("tag", "comment", "dispute", "disputed_by", "label", "label_why", "labelled_by")
"""What of readers' remarks, and of labels that a model gave, travels with an export."""
AnnotationFields = Mapping[str, str]
"""What readers say of one rollout, by kind. Foreign text."""


def annotation_fields(annotation: Annotation) -> AnnotationFields:
    """Return the exported fields of an annotation; `disputed_by` says who disputes the ground truth, and when (UTC)."""
    by = ""
    if annotation.dispute:
        when = datetime.fromtimestamp(annotation.disputed_at, UTC).strftime("%Y-%m-%d %H:%M")
        by = f"{annotation.disputed_by or 'somebody'}, {when}"
    label = annotation.label
    named = {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute, "disputed_by": by}
    if label is not None:
        named |= {"label": label.name, "label_why": label.why, "labelled_by": label.by}
    return {kind: text for kind, text in named.items() if text}


@dataclass(frozen=True, slots=True)
class Item:
    """The latest attempt at one rollout."""

    rollout: Rollout
    case: Case | None = None
    finished: Finished | None = None
    comparison: Comparison | None = None
    """Expected beside actual; None for what passed, what broke, and when the suite is not there."""
    conversation: Conversation | None = None
    annotations: AnnotationFields | None = None

    @property
    def outcome(self) -> str:
        """The outcome in a word; `interrupted` when the attempt has no end."""
        return SETUP if self.is_setup else outcome_word(self.rollout.outcome)

    @property
    def is_setup(self) -> bool:
        """Whether it ended well and is not graded: what others build on, such as BFCL's memory prerequisites."""
        outcome = self.rollout.outcome
        return self.case is not None and not self.case.graded and outcome is not None and outcome.is_graded

    @property
    def graded(self) -> Outcome | None:
        """Passed or failed, where it entered the score; None otherwise."""
        outcome = self.rollout.outcome
        return outcome if outcome is not None and outcome.is_graded and not self.is_setup else None

    def annotation(self, kind: str) -> str:
        """Return the standing note of a kind; empty when there is none."""
        return (self.annotations or {}).get(kind, "")


@dataclass(frozen=True, slots=True)
class RunDocument:
    """A whole run, ready for export."""

    manifest: Manifest
    summary: Summary
    report: Report | None
    """None when the suite is not there any more."""
    items: Sequence[Item]
    judging: Judging | None = None
    """None of a run that no model judges."""

    @property
    def simulated(self) -> bool:
        """Whether any part came from a built-in simulated model; every form must say so."""
        return self.manifest.simulated

    def annotations(self) -> dict[Slot, AnnotationFields]:
        """Return the annotations of readers, by rollout."""
        return {item.rollout.slot: item.annotations for item in self.items if item.annotations}
