"""Review: failures in groups, with expected and actual answers, conversations, tags and labels."""
