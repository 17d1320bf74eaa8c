"""A simulated judge: plausible scores derived from the judged text, in the tag that the prompt asks for."""

import re
from random import Random

from console.core.xml_tags import tag_contents

_WORD = re.compile(r"\w{3,}")


def grade(prompt: str, rng: Random) -> str:
    """Return a grading reply to a judge prompt, or a short sentence if it names no known tag."""
    if "<similarity_score>" in prompt:
        percent = _similarity(_last_in(prompt, "answer1"), _last_in(prompt, "answer2"))
        return f"<similarity_score>{percent}</similarity_score>"
    if "<coherence_score>" in prompt:
        return f"<coherence_score>{_coherence(_last_in(prompt, 'answer'), rng)}</coherence_score>"
    return rng.choice(("Yes, the answer fulfils the request.", "No, the answer misses the request."))


def _last_in(prompt: str, tag: str) -> str:
    texts = list(tag_contents(prompt, tag))
    return texts[-1] if texts else ""


def _similarity(new: str, old: str) -> int:
    """Return the percentage of shared words."""
    left, right = set(_WORD.findall(new.lower())), set(_WORD.findall(old.lower()))
    return round(100 * len(left & right) / len(left | right)) if left | right else 100


def _coherence(answer: str, rng: Random) -> int:
    """Return a high score for varied sentences, a low one for fragments and repetitions."""
    words = _WORD.findall(answer.lower())
    if len(words) < 3:
        return rng.randint(2, 12)
    variety = len(set(words)) / len(words)
    return max(5, min(98, round(40 + 45 * variety + rng.randint(-6, 12))))
