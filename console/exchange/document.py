"""A run prepared for export: every rollout with its case, outcome, annotations and comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from console.core.annotation import Annotation
from console.core.case import Case, Slot
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.core.record import Finished
from console.core.run import Manifest, Summary, reroll_words
from console.exchange.score_columns import ScoreColumns, columns_section
from console.insight.conversation import Conversation
from console.insight.judging import Judging
from console.insight.looks import looks_sections
from console.insight.report import Section, report_sections
from console.insight.rollout import SETUP, Rollout, outcome_word
from console.suites.suite import Report

ANNOTATION_FIELDS = (
    *("tag", "comment", "dispute", "disputed_by", "label", "label_why", "labelled_by"),
    *("people", "labeled_by_people"),
)
"""Annotations by readers and model labels that are exported."""
AnnotationFields = Mapping[str, str]
"""A reader's annotations of one rollout, by kind. Untrusted text."""


def annotation_fields(annotation: Annotation) -> AnnotationFields:
    """Return the exported fields of an annotation; `disputed_by` names author and time (UTC) of a dispute."""
    by = ""
    if annotation.dispute:
        when = datetime.fromtimestamp(annotation.disputed_at, UTC).strftime("%Y-%m-%d %H:%M")
        by = f"{annotation.disputed_by or 'somebody'}, {when}"
    label = annotation.label
    named = {"tag": annotation.tag, "comment": annotation.comment, "dispute": annotation.dispute, "disputed_by": by}
    if label is not None:
        named |= {"label": label.name, "label_why": label.why, "labelled_by": label.by}
    if annotation.people is not None:
        readers = ", ".join(f"{who} {word}" for who, word in annotation.people.by_reader.items())
        named |= {"people": annotation.people.word, "labeled_by_people": readers}
    elif annotation.rounds:
        rounds = sorted(annotation.rounds.items())
        readers = ", ".join(dict.fromkeys(who for _, verdict in rounds for who in verdict.by_reader))
        words = ", ".join(f"round {number + 1} {verdict.word}" for number, verdict in rounds)
        named |= {"people": words, "labeled_by_people": readers}
    return {kind: text for kind, text in named.items() if text}


@dataclass(frozen=True, slots=True)
class Item:
    """The attempt at one rollout that counts."""

    rollout: Rollout
    case: Case | None = None
    finished: Finished | None = None
    comparison: Comparison | None = None
    """Expected and actual; None for passed and broken rollouts, or if the suite is missing."""
    conversation: Conversation | None = None
    annotations: AnnotationFields | None = None

    @property
    def outcome(self) -> str:
        """Outcome in a word; `interrupted` when the attempt has not ended."""
        return SETUP if self.is_setup else outcome_word(self.rollout.outcome)

    @property
    def is_setup(self) -> bool:
        """True if it is a setup rollout that succeeded, such as BFCL's memory prerequisites."""
        outcome = self.rollout.outcome
        return self.case is not None and not self.case.graded and outcome is not None and outcome.is_graded

    @property
    def graded(self) -> Outcome | None:
        """Passed or failed if it entered the score; None otherwise."""
        outcome = self.rollout.outcome
        return outcome if outcome is not None and outcome.is_graded and not self.is_setup else None

    def annotation(self, kind: str) -> str:
        """Return the current annotation of a kind; empty if there is none."""
        return (self.annotations or {}).get(kind, "")


@dataclass(frozen=True, slots=True)
class RunDocument:
    """A whole run, ready for export."""

    manifest: Manifest
    summary: Summary
    report: Report | None
    """The suite's report; None when the suite no longer exists."""
    items: Sequence[Item]
    judging: Judging | None = None
    """None for runs without a model as judge."""
    columns: ScoreColumns | None = None
    """None if there are neither decisions on keys nor labels of answers."""
    kept_log: Path | None = None
    """The original Inspect log; only for runs imported from one."""

    @property
    def simulated(self) -> bool:
        """True if any model was simulated, which every format must show."""
        return self.manifest.simulated

    def sections(self) -> list[Section]:
        """Return the sections before the failures: basis, looks, metrics, statistics, scores next to the graded."""
        words = reroll_words(self.summary.rerolled)
        of_looks = [*[Section("Basis", lines=(words,))] * bool(words), *looks_sections(self.summary, self.manifest)]
        apart = columns_section([(self.summary.model, self.columns)])
        return [*of_looks, *report_sections(self.report, self.judging), *([apart] if apart is not None else [])]

    def annotations(self) -> dict[Slot, AnnotationFields]:
        """Readers' annotations by rollout."""
        return {item.rollout.slot: item.annotations for item in self.items if item.annotations}
