"""`Fingerprint`: answers of an endpoint to the fixed questions of `doctor --drift`."""

import msgspec

Sample = dict[str, float] | str
"""Log probabilities of the first token's candidates, or a whole answer."""


class Fingerprint(msgspec.Struct, frozen=True):
    """Several answers to each question, all as log probabilities or all as texts."""

    at: float
    """Seconds since 1970."""
    samples: list[list[Sample]]
    """Answers by question."""
    servers: list[str] = []
    """Providers and fingerprints named by the server."""

    @property
    def is_by_text(self) -> bool:
        return any(isinstance(sample, str) for answers in self.samples for sample in answers)
