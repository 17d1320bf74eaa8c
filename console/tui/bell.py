"""Telling somebody who looks elsewhere that a run has ended: the terminal's bell, and a notification where it has them.

The words are ours alone: no name of a model, suite or run leaves the app this way.
"""

from collections.abc import Callable, Mapping

NOTICE = "notice"
"""Name of the switch in the app's memory."""
_TEXT = "A run has ended."
_PLAIN_TERMS = ("dumb", "linux", "vt")
"""Terminals that may print what they do not understand."""


def ring(write: Callable[[str], object], environment: Mapping[str, str]) -> None:
    """Ring the bell and, on terminals that pass over unknown sequences, ask for a notification (OSC 9 and OSC 777)."""
    write("\a")
    if environment.get("TERM", "dumb").startswith(_PLAIN_TERMS):
        return
    write(f"\x1b]9;{_TEXT}\x1b\\")
    write(f"\x1b]777;notify;eval-console;{_TEXT}\x1b\\")
