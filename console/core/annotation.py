"""What readers say of one rollout: kept beside the results, changing none of them."""

from collections.abc import Iterable

import msgspec


class Annotation(msgspec.Struct, frozen=True):
    """What stands of one rollout. All texts are foreign."""

    tag: str = ""
    """Whose fault a failure is; empty: nobody said."""
    comment: str = ""
    dispute: str = ""
    """Why its ground truth is held to be wrong; empty: nobody disputes it."""
    disputed_by: str = ""
    disputed_at: float = 0.0
    reviewed: bool = False
    """Whether somebody said that it has been looked at."""

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
