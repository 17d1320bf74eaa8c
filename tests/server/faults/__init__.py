"""What a server can do wrong, by name. Each fault takes an Exchange and answers it badly, byte by byte if need be."""

from server.faults import bodies, connections, contradictions, parameters, refusals, streams, timing, tools, usage
from server.faults.registry import FAULTS

__all__ = [
    "FAULTS",
    "bodies",
    "connections",
    "contradictions",
    "parameters",
    "refusals",
    "streams",
    "timing",
    "tools",
    "usage",
]
