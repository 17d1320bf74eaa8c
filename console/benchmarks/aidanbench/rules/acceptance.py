"""When an answer is accepted and why a loop ends. Pure; keeps the reference's comparisons and float order exactly.

The reference environment accepts an answer when every score is strictly greater than its threshold. Its reasons test
coherence with `<=` but both novelties with `<`, so an exact tie of a novelty (and a nan) ends with reason `threshold`.
The original program also lets an exact tie of a novelty pass; a nan never passes here.
"""

from typing import NamedTuple

LOW_COHERENCE = "low_coherence"
LOW_EMBEDDING_NOVELTY = "low_embedding_novelty"
LOW_LLM_NOVELTY = "low_llm_novelty"
TIE = "threshold"
"""No score is below its threshold, yet one is not above it."""
EMPTY_ANSWER = "empty_answer"
"""Ours: the reply held no answer. An embedding service refuses an empty text, so none is asked."""
UNREADABLE_JUDGE = "unreadable_judge"
"""Ours: the judge gave no usable number twice, and the count depends on it."""
NO_NOVELTY = "no_novelty"
"""Ours: the embedding service gave a vector without direction, and the count depends on it."""
MAX_TURNS = "max_turns"
"""Ours: shown where the reference leaves the reason empty because the cap on turns ended the loop."""


class Thresholds(NamedTuple):
    """What each score must exceed: coherence 0 to 100, novelties usually 0 to 1."""

    coherence_score: float = 15
    embedding_dissimilarity_score: float = 0.15
    llm_dissimilarity_score: float = 0.15


class Scores(NamedTuple):
    """The numbers of one answer; None: could not be determined."""

    coherence: float | None
    novelty: float | None
    llm_novelty: float | None = None


class Decision(NamedTuple):
    """Whether an answer counts. `accepted` is None when the missing numbers decide."""

    accepted: bool | None
    reason: str = ""


class Rule(NamedTuple):
    """The stop rule of a run."""

    thresholds: Thresholds = Thresholds()
    use_llm_similarity: bool = False
    tie_passes: bool = False
    """The original program's reading of a novelty that equals its threshold."""

    def decide(self, scores: Scores) -> Decision:
        """Judge one answer by its scores.

        A score that is missing makes the answer undecided only when all the others pass; otherwise the answer is
        rejected whatever the missing one would have been.
        """
        checks = self._checks(scores)
        if all(passes for _, passes in checks):
            return Decision(True)
        if all(passes is not False for _, passes in checks):
            missing_grade = scores.coherence is None or (self.use_llm_similarity and scores.llm_novelty is None)
            return Decision(None, UNREADABLE_JUDGE if missing_grade else NO_NOVELTY)
        return Decision(False, ",".join(self._reasons(scores)) or TIE)

    def _checks(self, scores: Scores) -> list[tuple[float | None, bool | None]]:
        """Pair each score that counts with whether it passes; None for a missing one."""
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
