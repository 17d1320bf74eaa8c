"""Calls as the prompt asks for them: a list of Python calls, or the syntax of the function documents."""

from console.suites.bfcl.decode.family import Family
from console.suites.bfcl.decode.prompted import decode_prompted, executable_prompted

FAMILY = Family(decode_prompted, executable_prompted)
