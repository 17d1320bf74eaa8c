"""Judges: rubrics, the prompt of a judge, the parse of its reply, and the grades; common to all suites."""
