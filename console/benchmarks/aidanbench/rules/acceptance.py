"""Decides whether an answer is accepted and why a loop ends, with the reference's exact comparisons and float order.

The reference environment accepts an answer if every score is strictly greater than its threshold. Its reasons test
coherence with `<=` but both novelties with `<`, so a novelty equal to its threshold (and a nan) ends the loop with the
reason `threshold`. The original program accepts a novelty equal to its threshold; a nan is never accepted here.
"""

from typing import NamedTuple

LOW_COHERENCE = "low_coherence"
LOW_EMBEDDING_NOVELTY = "low_embedding_novelty"
LOW_LLM_NOVELTY = "low_llm_novelty"
TIE = "threshold"
"""No score is below its threshold, but at least one only equals it."""
EMPTY_ANSWER = "empty_answer"
"""Ours: the reply had no answer; it is not embedded, since embedding services refuse empty texts."""
UNREADABLE_JUDGE = "unreadable_judge"
"""Ours: the judge gave no usable number twice, and the outcome depends on it."""
NO_NOVELTY = "no_novelty"
"""Ours: the embedding service returned a zero vector, and the outcome depends on it."""
MAX_TURNS = "max_turns"
"""Ours: the cap on turns ended the loop; the reference leaves this reason empty."""


class Thresholds(NamedTuple):
    """Values that scores must exceed: coherence 0 to 100, novelties usually 0 to 1."""

    coherence_score: float = 15
    embedding_dissimilarity_score: float = 0.15
    llm_dissimilarity_score: float = 0.15


class Scores(NamedTuple):
    """Scores of one answer; None if undetermined."""

    coherence: float | None
    novelty: float | None
    llm_novelty: float | None = None


class Decision(NamedTuple):
    """The decision on an answer; `accepted` is None if it depends on missing scores."""

    accepted: bool | None
    reason: str = ""


class Rule(NamedTuple):
    """The stop rule of a run."""

    thresholds: Thresholds = Thresholds()
    use_llm_similarity: bool = False
    tie_passes: bool = False
    """True if a novelty equal to its threshold is accepted, as in the original program."""

    def decide(self, scores: Scores) -> Decision:
        """Decide on one answer from its scores.

        A missing score makes the answer undecided only if all others pass; otherwise the answer is rejected.
        """
        checks = self._checks(scores)
        if all(passes for _, passes in checks):
            return Decision(True)
        if all(passes is not False for _, passes in checks):
            missing_grade = scores.coherence is None or (self.use_llm_similarity and scores.llm_novelty is None)
            return Decision(None, UNREADABLE_JUDGE if missing_grade else NO_NOVELTY)
        return Decision(False, ",".join(self._reasons(scores)) or TIE)

    def _checks(self, scores: Scores) -> list[tuple[float | None, bool | None]]:
        """Return each relevant score with True if it passes, or None if it is missing."""
        limits = self.thresholds
        out = [
            (scores.coherence, _exceeds(scores.coherence, limits.coherence_score)),
            (scores.novelty, self._is_novel(scores.novelty, limits.embedding_dissimilarity_score)),
        ]
        if self.use_llm_similarity:
            out.append((scores.llm_novelty, self._is_novel(scores.llm_novelty, limits.llm_dissimilarity_score)))
        return out

    def _is_novel(self, value: float | None, limit: float) -> bool | None:
        if self.tie_passes and value is not None:
            return value >= limit
        return _exceeds(value, limit)

    def _reasons(self, scores: Scores) -> list[str]:
        limits = self.thresholds
        out: list[str] = []
        if scores.coherence is not None and scores.coherence <= limits.coherence_score:
            out.append(LOW_COHERENCE)
        if scores.novelty is not None and scores.novelty < limits.embedding_dissimilarity_score:
            out.append(LOW_EMBEDDING_NOVELTY)
        llm = scores.llm_novelty if self.use_llm_similarity else None
        if llm is not None and llm < limits.llm_dissimilarity_score:
            out.append(LOW_LLM_NOVELTY)
        return out


def _exceeds(value: float | None, limit: float) -> bool | None:
    return None if value is None else value > limit
