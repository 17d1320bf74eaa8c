"""Playing of loops: prompts, judge, novelty."""
