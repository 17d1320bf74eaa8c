"""How a case is played: turns, canned tool results, the judge."""
