"""Filler text for simulated models that have no scripted answers, or that ramble."""

from random import Random

_OPENINGS = ("In short,", "As I see it,", "Looking at the question,", "From what is given,", "To begin with,")
_SUBJECTS = ("the most likely answer", "a sensible first step", "the main point", "one way to go", "what matters here")
_VERBS = ("is to look at", "depends on", "follows from", "comes down to", "starts with")
_OBJECTS = (
    "the details that were mentioned",
    "how the parts fit together",
    "the order in which things happen",
    "what is already known",
    "the smaller of the two choices",
    "a careful reading of the request",
)
_THOUGHTS = (
    "Let me see what is being asked here.",
    "There are several ways to read this.",
    "The names of the parameters matter, so I should look at them again.",
    "Wait, was a unit mentioned? I had better check.",
    "It may be that one of the values has a default.",
    "I could also ask back, but that seems needless.",
    "So, putting it together now.",
)


def filler_sentence(rng: Random) -> str:
    """Return one plausible sentence."""
    words = (rng.choice(_OPENINGS), rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_OBJECTS))
    return " ".join(words) + "."


def thinking_text(rng: Random) -> str:
    """Return a few sentences of thinking aloud."""
    return " ".join(rng.sample(_THOUGHTS, rng.randint(3, 6)))
