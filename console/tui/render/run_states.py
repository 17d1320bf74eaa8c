"""`state_word`: the word and style of a run's state, the same wherever a run is named."""

from textual.content import Content

MUTED = "$muted"
_STATES = {
    "queued": ("queued", "$live"),
    "starting": ("starting", "bold $live"),
    "running": ("running", "bold $live"),
    "pausing": ("pausing", "bold $undecided"),
    "paused": ("paused", "bold $undecided"),
    "stopping": ("stopping", "bold $undecided"),
    "completed": ("finished", MUTED),
    "stopped": ("stopped", MUTED),
    "interrupted": ("interrupted", "$broken"),
    "budget": ("stopped at its cap", "$undecided"),
    "halted": ("halted", "bold $broken"),
    "damaged": ("damaged", "bold $broken"),
}


def state_word(state: str, sign: str = "") -> Content:
    """Return the word for a state as the journal or an engine names it, in its style; `unknown` for any other.

    Args:
        state: the state's name on disk or on the wire.
        sign: a mark to set before the word.
    """
    word, style = _STATES.get(state, ("unknown", MUTED))
    return Content.styled(f"{sign} {word}" if sign else word, style)
