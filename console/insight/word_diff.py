"""Word differences between two texts. Pure; only the first words of long texts are compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

WORD_LIMIT = 400
"""Number of words of each text that are compared; the rest is ignored."""
AROUND = 6
"""Equal words shown before and after a difference."""
_LEAST_OMITTED = 4
"""Minimum number of equal words to omit."""
_WORD = re.compile(r"\s+|[^\s]+")
_WORDS = re.compile(r"\s*[^\s]+|\s+")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one text."""

    text: str
    differs: bool
    """True if the other text lacks this piece."""
    omitted: int = 0
    """Number of equal characters omitted here; the text is then empty."""


@dataclass(frozen=True, slots=True)
class WordDiff:
    """Both texts as parts that join to the whole."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    same: int
    """Number of common words in the same order."""
    words: int
    """Number of compared words of the longer text."""


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


def differing_passages(left: str, right: str, *, around: int = AROUND) -> WordDiff:
    """Compare two texts word by word, keeping only a few equal words around each difference.

    Equal beginnings and ends are skipped, then at most `WORD_LIMIT` words are compared; case and punctuation count.
    """
    ours, theirs = _WORDS.findall(left), _WORDS.findall(right)
    head = _common(ours, theirs)
    tail = _common(ours[head:][::-1], theirs[head:][::-1])
    parts: tuple[list[Part], list[Part]] = ([], [])
    same = head + tail
    middles = [words[head : len(words) - tail] for words in (ours, theirs)]
    compared = [middle[:WORD_LIMIT] for middle in middles]
    for place, words in enumerate((ours, theirs)):
        parts[place].extend(_part(words[:head], differs=False))
    matcher = SequenceMatcher(None, *compared, autojunk=False)
    for change, a, b, c, d in matcher.get_opcodes():
        parts[0].extend(_part(compared[0][a:b], differs=change != "equal"))
        parts[1].extend(_part(compared[1][c:d], differs=change != "equal"))
        same += b - a if change == "equal" else 0
    for place, words in enumerate((ours, theirs)):
        parts[place].extend(_part(middles[place][WORD_LIMIT:], differs=True))
        parts[place].extend(_part(words[len(words) - tail :], differs=False))
    return WordDiff(
        tuple(_passages(parts[0], around)), tuple(_passages(parts[1], around)), same, max(len(ours), len(theirs))
    )


def _common(left: list[str], right: list[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _passages(parts: list[Part], around: int) -> Iterator[Part]:
    """Yield the parts, with equal text cut to a few words next to a difference."""
    last = len(parts) - 1
    for place, part in enumerate(parts):
        words = _WORDS.findall(part.text)
        before, after = around * (place > 0), around * (place < last)
        if part.differs or len(words) <= before + after + _LEAST_OMITTED:
            yield part
            continue
        omitted = "".join(words[before : len(words) - after])
        yield from _part(words[:before], differs=False)
        yield Part("", differs=False, omitted=len(omitted))
        yield from _part(words[len(words) - after :], differs=False)


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
