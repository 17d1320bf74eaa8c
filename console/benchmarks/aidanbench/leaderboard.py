"""How AidanBench ranks models: by the mean of accepted answers for a question."""

from console.suites.leaderboard import ScoreMeans

HEADLINE = "aidanbench_score"
"""The score that stands for a loop, which nobody passes or fails: its accepted answers."""
AIDANBENCH_LEADERBOARD = ScoreMeans(
    score=HEADLINE,
    headings={
        HEADLINE: "answers",
        "format_reward": "format",
        "avg_coherence": "coherence",
        "avg_embedding_novelty": "novelty",
        "sum_embedding_novelty": "novelty sum",
        "avg_llm_novelty": "LLM novelty",
    },
)
