"""Uncased WordPiece: a text to the token ids that a BERT model with this vocabulary was trained on. Pure.

Follows the published BERT rules: control characters go, CJK characters stand alone, accents go, lower case character by
character, split at white space and punctuation, then the longest known piece first; a word of more than 100 characters
or with an unknown piece becomes the unknown token. Special tokens written out in a text count as such.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_LONGEST_WORD = 100
_CONTROL = frozenset(("Cc", "Cf", "Co", "Cs"))
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """One vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int], most_tokens: int) -> None:
        """Take a vocabulary and the greatest length of a result, special tokens included."""
        self._ids = vocabulary
        self._most = most_tokens
        self._unknown = vocabulary["[UNK]"]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text between the start and the end token, cut at the greatest length."""
        ids: list[int] = []
        for part in _SPECIAL.split(text):
            if len(ids) >= self._most - 2:
                break
            if _SPECIAL.fullmatch(part):
                ids.append(self._ids[part])
            else:
                self._append(ids, part)
        return [self._ids["[CLS]"], *ids[: self._most - 2], self._ids["[SEP]"]]

    def _append(self, ids: list[int], text: str) -> None:
        """Add the ids of a text without special tokens; stops when there are enough."""
        for word in _words(_normal(text)):
            if len(ids) >= self._most:
                return
            ids += self._pieces(word)

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        ids: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece_id = self._ids.get(prefix + word[start:end])
                if piece_id is not None:
                    ids.append(piece_id)
                    start = end
                    break
            else:
                return [self._unknown]
        return ids


def read_vocabulary(text: str) -> dict[str, int]:
    """Read a `vocab.txt`: one piece a line, its id the line number from 0."""
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}


def _normal(text: str) -> str:
    cleaned = "".join(_spaced(character) for character in text if not _is_dropped(character))
    bare = (character for character in unicodedata.normalize("NFD", cleaned) if unicodedata.category(character) != "Mn")
    return "".join(character.lower() for character in bare)


def _spaced(character: str) -> str:
    if character.isspace():
        return " "
    code = ord(character)
    return f" {character} " if any(first <= code <= last for first, last in _CJK) else character


def _is_dropped(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character in "\0\ufffd" or unicodedata.category(character) in _CONTROL


def _words(text: str) -> Iterator[str]:
    for chunk in text.split():
        start = 0
        for position, character in enumerate(chunk):
            if _is_punctuation(character):
                if start < position:
                    yield chunk[start:position]
                yield character
                start = position + 1
        if start < len(chunk):
            yield chunk[start:]


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(character).startswith("P")
