"""How a loop is played: prompts, judge, novelty."""
