"""Suites: cases, conversations and grading. A suite depends only on the stage protocol, not on engine or network."""
