"""Reasons of the suites that come with the program, in words: one table for whoever reads a journal without its suite.

A suite of another package needs none: a reason that is not here is shown as it was recorded, so it may be plain words.
"""

from console.benchmarks.aidanbench.reasons import REASON_WORDS as AIDANBENCH
from console.benchmarks.bfcl.reasons import REASON_WORDS as BFCL
from console.benchmarks.cavebench.reasons import REASON_WORDS as CAVEBENCH
from console.benchmarks.dialogue.reasons import REASON_WORDS as DIALOGUE

REASON_WORDS = BFCL | AIDANBENCH | CAVEBENCH | DIALOGUE
"""By the reason of a verdict."""
