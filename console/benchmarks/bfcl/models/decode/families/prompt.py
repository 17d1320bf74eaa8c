"""Calls as the prompt asks for them: a list of Python calls, or the syntax of the function documents."""

from console.benchmarks.bfcl.models.decode.family import Family
from console.benchmarks.bfcl.models.decode.prompted import decode_prompted, executable_prompted

FAMILY = Family(decode_prompted, executable_prompted)
