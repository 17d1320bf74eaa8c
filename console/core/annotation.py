"""What readers, and models that they asked, say of one rollout: kept beside the results, changing none of them."""

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
"""The rubric by which a model labels failures: each label with what it stands for."""


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model that was asked holds the cause of a failure to be: an opinion, never a result. Texts are foreign."""

    name: str
    """One of `LABELS`."""
    why: str = ""
    """One sentence."""
    model: str = ""
    """Name of the model in models.toml."""
    prompt: str = ""
    """Digest of what it was asked, and of its id at the provider."""
    cost_usd: Amount | None = None
    """None: unknown, which is not free."""
    simulated: bool = False

    @property
    def by(self) -> str:
        """Who says so; a simulated model is named as one."""
        return f"{self.model}, simulated" if self.simulated else self.model


class Annotation(msgspec.Struct, frozen=True):
    """The current notes on one rollout. All texts are foreign."""

    tag: str = ""
    """Whose fault a failure is; empty: not tagged."""
    comment: str = ""
    dispute: str = ""
    """Why its ground truth is called wrong; empty: nobody disputes it."""
    disputed_by: str = ""
    disputed_at: float = 0.0
    reviewed: bool = False
    """Whether somebody said that it has been looked at."""
    label: Label | None = None
    """What a model said when it was asked, beside what readers say; it makes nothing seen."""

    @property
    def is_seen(self) -> bool:
        """Whether a reader has dealt with it: marked it as reviewed, tagged it, or disputed it."""
        return self.reviewed or bool(self.tag or self.dispute)


NO_ANNOTATION = Annotation()


def annotation_counts(annotations: Iterable[Annotation]) -> str:
    """Return how many cases readers dispute, tagged and have dealt with; empty when nobody said anything."""
    listed = list(annotations)
    counts = {
        "disputed": sum(bool(it.dispute) for it in listed),
        "tagged": sum(bool(it.tag) for it in listed),
        "reviewed": sum(it.is_seen for it in listed),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def label_counts(annotations: Iterable[Annotation]) -> str:
    """Return how often each label was given, and by which models; empty without labels."""
    labels = [annotation.label for annotation in annotations if annotation.label is not None]
    counts = Counter(label.name for label in labels)
    models = ", ".join(dict.fromkeys(label.by for label in labels))
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) + f" (by {models})" if labels else ""
