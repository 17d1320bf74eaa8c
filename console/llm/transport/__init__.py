"""HTTP: sessions, responses, deadlines, and their faults."""
