"""Explanations of AidanBench's reasons for newcomers."""

REASON_WORDS = {
    "low_coherence": "lost coherence",
    "low_embedding_novelty": "repeated itself",
    "low_llm_novelty": "repeated itself, says the judge",
    "threshold": "exactly at a threshold",
    "empty_answer": "gave an empty answer",
    "unreadable_judge": "judge gave no number, twice",
    "no_novelty": "no novelty could be measured",
    "max_turns": "stopped by the limit of rounds",
}
"""Explanations by error type of the verdict."""
