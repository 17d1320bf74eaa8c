"""Extracts the model's answer, or the judge's number, from a reply; never guesses.

The last complete tag pair counts or, without one, the whole text, as in the original program. A judge's number is read
in two ways: `strict` reproduces the reference environment (any error is coherence 0.0 or similarity 1.0, nothing is
clamped, `nan` and `inf` are numbers); the other accepts only numbers from 0 to 100.
"""

import math
from collections.abc import Sequence

from console.core.xml_tags import tag_contents

ANSWER = "answer"
COHERENCE = "coherence_score"
SIMILARITY = "similarity_score"


def tag_content(text: str, tag: str) -> str:
    """Return the stripped content of the last complete pair of `tag`, or the whole text."""
    last: str | None = None
    for content in tag_contents(text, tag):
        last = content
    return text if last is None else last.strip()


def answer_of(text: str) -> str:
    """Return the answer in a reply."""
    return tag_content(text, ANSWER)


def strict_coherence(text: str) -> float:
    """Read a coherence score like the reference environment; 0.0 if unreadable."""
    number = _number(tag_content(text, COHERENCE))
    return 0.0 if number is None else number


def strict_similarity(text: str) -> float:
    """Read a similarity like the reference environment, usually 0 to 1; 1.0 if unreadable."""
    number = _number(tag_content(text, SIMILARITY))
    return 1.0 if number is None else number / 100.0


def coherence(text: str) -> float | None:
    """Read a coherence score from 0 to 100, or None."""
    return _on_scale(tag_content(text, COHERENCE))


def similarity(text: str) -> float | None:
    """Read a similarity from 0 to 1 (the number in the reply divided by 100), or None."""
    number = _on_scale(tag_content(text, SIMILARITY))
    return None if number is None else number / 100.0


def llm_novelty(similarities: Sequence[float]) -> float:
    """Return 1.0 minus the highest similarity, in this order of operations; 1.0 with nothing to compare.

    A similarity of 85 thus gives 0.15000000000000002, which exceeds a threshold of 0.15.
    """
    return 1.0 - max(similarities) if similarities else 1.0


def format_reward(replies: Sequence[str]) -> float:
    """Return the mean format reward of all replies, including the rejected one; 0.0 if there are no replies.

    Each reply earns 0.2, plus 0.4 for a complete answer pair, and 0.2 each for starting and ending with the tag.
    """
    if not replies:
        return 0.0
    return math.fsum(_tag_discipline(reply) for reply in replies) / len(replies)


def _tag_discipline(reply: str) -> float:
    text = reply.strip()
    earned = 0.4 if any(True for _ in tag_contents(reply, ANSWER)) else 0.0
    earned += 0.2
    earned += 0.2 if text.startswith("<answer>") else 0.0
    return earned + (0.2 if text.endswith("</answer>") else 0.0)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _on_scale(text: str) -> float | None:
    number = _number(text)
    return number if number is not None and 0.0 <= number <= 100.0 else None
