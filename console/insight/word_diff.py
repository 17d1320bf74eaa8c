"""Word differences between two texts. Pure; only the first words of long texts are compared."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

WORD_LIMIT = 400
"""Compared words of each text; further words are not compared."""
_WORD = re.compile(r"\s+|[^\s]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one text."""

    text: str
    differs: bool
    """True if the other text lacks it."""


@dataclass(frozen=True, slots=True)
class WordDiff:
    """Both texts as parts that join to the whole."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    same: int
    """Common words in the same order."""
    words: int
    """Compared words of the longer text."""


def compare_words(left: str, right: str) -> WordDiff:
    """Compare two texts, ignoring case and punctuation at the end of a word."""
    ours, ours_rest = _words(left)
    theirs, theirs_rest = _words(right)
    matcher = SequenceMatcher(None, [_core(word) for word in ours], [_core(word) for word in theirs], autojunk=False)
    left_parts: list[Part] = []
    right_parts: list[Part] = []
    same = 0
    for change, a, b, c, d in matcher.get_opcodes():
        left_parts += _part(ours[a:b], differs=change != "equal")
        right_parts += _part(theirs[c:d], differs=change != "equal")
        same += b - a if change == "equal" else 0
    left_parts += [Part(ours_rest, False)] if ours_rest else []
    right_parts += [Part(theirs_rest, False)] if theirs_rest else []
    return WordDiff(tuple(left_parts), tuple(right_parts), same, max(len(ours), len(theirs)))


def _words(text: str) -> tuple[list[str], str]:
    """Return the first words, each with its trailing whitespace, and the rest of the text."""
    words: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        if not match[0].isspace():
            if len(words) == WORD_LIMIT:
                break
            words.append(match[0])
        elif words:
            words[-1] += match[0]
        else:
            words.append(match[0])
        end = match.end()
    return words, text[end:]


def _core(word: str) -> str:
    return word.strip().strip(".,;:!?\"'()").casefold()


def _part(words: list[str], *, differs: bool) -> list[Part]:
    return [Part("".join(words), differs)] if words else []
