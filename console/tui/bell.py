"""Rings when a run has ended, for a reader who looks elsewhere: the terminal's bell, and its notification.

The words are ours alone: no name of a model, suite or run leaves the app this way.
"""

from collections.abc import Callable, Mapping

SWITCH = "notice"
"""Name of the switch in `UiState`."""
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
