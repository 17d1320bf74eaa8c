"""A test kit for suites of somebody's own: `check_suite` for pytest, and a stage that keeps its journal in memory."""

from console.testing.check import SuiteProblems, check_suite
from console.testing.rehearsal import Rehearsal, rehearse
from console.testing.stage import MemoryStage

__all__ = ["MemoryStage", "Rehearsal", "SuiteProblems", "check_suite", "rehearse"]
