"""Reader notes and model labels on a rollout, stored next to the results and never part of them."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from console.core.ranges import Amount

LABELS = {
    "wrong-value": "the right call or answer with a wrong value in it",
    "wrong-choice": "another function, tool or way than the one that was needed",
    "missing-step": "something that was asked for was left out",
    "extra-step": "something was done or said that nobody asked for",
    "misread-request": "the request was understood wrongly",
    "invented": "facts or arguments that neither the request nor a tool gave",
    "wrong-form": "the content may be right, its form cannot be read or is not the one asked for",
    "declined": "it refused, gave up, or asked back instead of answering",
    "doubtful-case": "the request or the expected answer is unclear or wrong",
    "doubtful-grade": "the answer looks right, and the grade wrong",
    "machinery": "an error, a time limit or a cut stopped it, not the model's own words",
    "other": "none of these",
}
"""The rubric by which a model labels failures: each label with its meaning."""


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's opinion on the cause of a failure; never a result. All strings are untrusted."""

    name: str
    """One of `LABELS`."""
    why: str = ""
    """One sentence."""
    model: str = ""
    """Name of the model in models.toml."""
    prompt: str = ""
    """Digest of the prompt and of the model's id at the provider."""
    cost_usd: Amount | None = None
    """None if unknown, which is not free."""
    simulated: bool = False

    @property
    def by(self) -> str:
        """Name of the model, with a note if it is simulated."""
        return f"{self.model}, simulated" if self.simulated else self.model


PASSED, FAILED, UNCLEAR = VERDICTS = ("passed", "failed", "unclear")
"""A reader's possible verdicts on an answer."""
PASSES_FROM = 4
"""Minimum grade, from 1 to 5, of a passing answer."""


class ReaderLabel(msgspec.Struct, frozen=True, omit_defaults=True):
    """Circumstances of a reader's own verdict on an answer, which changes no score."""

    blind: bool = False
    """True if the grader's verdict was hidden."""
    grader: str = ""
    """Digest of the grader whose verdict it was."""
    grades: dict[str, int] = {}
    """Grades from 1 to 5 by criterion, if the reader gave any; the key is empty if the answer has no criteria."""
    round: int | None = None
    """Number of the judged answer within a loop, from 0; None for a whole rollout."""
    remark: str = ""
    settled: bool = False
    """True if it settles a disagreement of readers."""


class PeopleVerdict(msgspec.Struct, frozen=True):
    """Readers' verdicts on an answer. Names are untrusted text."""

    by_reader: dict[str, str]
    """One of `VERDICTS` by reader."""
    settled: str = ""
    """The verdict that settles a disagreement; empty if there is none."""
    criteria: dict[str, tuple[int, ...]] = {}
    """Grades from 1 to 5 by criterion."""

    @property
    def passed(self) -> bool | None:
        """The common verdict; None if readers are unclear or disagree."""
        verdicts = {self.settled} if self.settled else set(self.by_reader.values()) - {UNCLEAR}
        return verdicts == {PASSED} if len(verdicts) == 1 and UNCLEAR not in verdicts else None

    @property
    def is_disputed(self) -> bool:
        """True if readers disagree and the disagreement is not settled."""
        return not self.settled and {PASSED, FAILED} <= set(self.by_reader.values())

    @property
    def word(self) -> str:
        """The common verdict as a word, or `disagree`."""
        if self.is_disputed:
            return "disagree"
        return {True: PASSED, False: FAILED, None: UNCLEAR}[self.passed]


class Annotation(msgspec.Struct, frozen=True):
    """Current notes on one rollout. All strings are untrusted."""

    tag: str = ""
    """The cause of a failure in a reader's judgment; empty if not tagged."""
    comment: str = ""
    dispute: str = ""
    """Reason why the ground truth is disputed; empty if it is not."""
    disputed_by: str = ""
    disputed_at: float = 0.0
    reviewed: bool = False
    """True if a reader marked the rollout as reviewed."""
    label: Label | None = None
    """A model's label, which does not count as a review."""
    people: PeopleVerdict | None = None
    """Verdicts of readers on the answer, which change no score."""
    rounds: dict[int, PeopleVerdict] = {}
    """Verdicts of readers on single answers of a loop, by number from 0."""

    @property
    def is_seen(self) -> bool:
        """True if a reader reviewed, tagged or disputed the rollout."""
        return self.reviewed or bool(self.tag or self.dispute)


NO_ANNOTATION = Annotation()


def annotation_counts(annotations: Iterable[Annotation]) -> str:
    """Return the numbers of disputed, tagged and reviewed rollouts; empty if all are zero."""
    listed = list(annotations)
    counts = {
        "disputed": sum(bool(it.dispute) for it in listed),
        "tagged": sum(bool(it.tag) for it in listed),
        "reviewed": sum(it.is_seen for it in listed),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def label_counts(annotations: Iterable[Annotation]) -> str:
    """Return the count of each label and the models that gave them; empty if there are no labels."""
    labels = [annotation.label for annotation in annotations if annotation.label is not None]
    counts = Counter(label.name for label in labels)
    models = ", ".join(dict.fromkeys(label.by for label in labels))
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) + f" (by {models})" if labels else ""
