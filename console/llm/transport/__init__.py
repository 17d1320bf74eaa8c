"""HTTP: sessions, answers, deadlines, and the faults of both."""
