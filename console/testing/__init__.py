"""Test kit for third-party suites: `check_suite` for pytest, and a stage with an in-memory journal."""

from console.testing.case_play import PlayedCase, play_case
from console.testing.check import SuiteProblems, check_suite
from console.testing.stage import MemoryStage

__all__ = ["MemoryStage", "PlayedCase", "SuiteProblems", "check_suite", "play_case"]
