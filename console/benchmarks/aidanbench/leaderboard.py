"""Ranking of models by the mean number of accepted answers per question."""

from console.suites.leaderboard import ScoreMeans

HEADLINE = "aidanbench_score"
"""The ranking score of a loop, which neither passes nor fails."""
AIDANBENCH_LEADERBOARD = ScoreMeans(
    score=HEADLINE,
    is_count=True,
    headings={
        HEADLINE: "answers",
        "format_reward": "format",
        "avg_coherence": "coherence",
        "avg_embedding_novelty": "novelty",
        "sum_embedding_novelty": "novelty sum",
        "avg_llm_novelty": "LLM novelty",
    },
)
