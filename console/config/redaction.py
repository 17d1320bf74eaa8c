r"""Redaction of secrets from text: whole, encoded, escaped, split over the deltas of a stream, or truncated.

A secret is a value of at least eight characters, unless it is a common placeholder or, below sixteen characters, made
of letters alone (`EMPTY`, `none`, `not-needed`, `lm-studio`). Such values protect nothing, and redacting them would
mangle the answers of models. Pieces of a secret of twelve characters or more are redacted too, since servers and
networks truncate what they echo; in base64, where four characters carry three, of sixteen or more.

Escapes of JSON, Python, JavaScript, URLs and HTML (`\u0076`, `\x76`, `\166`, `\N{DIGIT ONE}`, `\u{76}`, `%76`,
`&#118;`) and letters that Unicode folds into ASCII count as their decoded characters, one by one.
Controls, colors and zero-width characters between them are ignored, as on a screen.
"""

import base64
import codecs
import contextlib
import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
SHORTEST_SECRET = 8
SHORTEST_PIECE = 12
_SHORTEST_WORD = 16
"""A value shorter than this that consists of letters only counts as a word, not a key."""
_PLACEHOLDERS = frozenset({"sk-no-key-required", "no-key-required", "your-api-key-here", "your_api_key_here"})
_PROBE = 6
"""Length of a probe; a text that contains none of a secret's probes contains no piece of the secret."""
_CONTEXT = 2
"""Characters of streamed text released before the beginning of a secret can be recognized."""

_GENERIC = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|nvapi|glpat|ghp)[-_][\w*-]{12,}"
    r"|\b[Bb]earer\s+[\w.~+/=*-]{6,}|\bAIza[\w-]{20,}|\bAKIA[A-Z0-9]{12,}"
)
_SECRET_NAME = re.compile(
    r"(?i)(?:(?:key|secret|password|passwd|authorization|credential|cookie|signature|auth)s?|(?:^|[_-])(?:token|sig))$"
)

_UNSEEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f\xad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
"""Characters that are invisible between others: controls, joiners, directional marks, combining accents."""
_COLOR = r"\[[0-9;]*[A-Za-z]"
_BACKSLASHED = (
    r"\\+(?:u([dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}"
    r"|([0-7]{1,3})|N\{([A-Za-z0-9 -]{1,90})\}|\r?\n|[bf])"
)
_PERCENT = r"%[0-9a-fA-F]{2}"
_ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|quot|apos|lt|gt);"
_ESCAPE = re.compile(
    rf"(?:\x1b|\\+(?:u001[bB]|x1[bB]|033)){_COLOR}|{_BACKSLASHED}|({_PERCENT})|({_ENTITY})|[{_UNSEEN}]"
)
"""An escaped character, with or without doubled backslashes, or an ignored one: colors, line ends and `_UNSEEN`."""
_BACKSLASHES, _PERCENTS, _ENTITIES = map(re.compile, (_BACKSLASHED, _PERCENT, _ENTITY))
_IS_UNSEEN, _BLANKS = re.compile(f"[{_UNSEEN}]"), re.compile(rf"\x1b{_COLOR}|[{_UNSEEN}]+")
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\t\n\r"})
_ASTRAL = re.compile("[\U000107a5\U0001ccd6-\U0001ccf9\U0001d400-\U0001d7ff\U0001f100-\U0001f1ff\U0001fbf0-\U0001fbf9]")
"""Letters above U+FFFF that Unicode folds into ASCII; see `_folding`."""
_JOINT = re.compile(r"['\"][\s+\\]*[rRuUbBfF]{0,2}['\"]")
"""The quotes between two adjacent string literals, which a parser joins."""
_GRAM = 4
"""Number of bytes per lookup, see `Redactor.may_be_in`."""


def sounds_secret(name: str) -> bool:
    """Return whether a parameter, header or variable of this name contains a secret."""
    return bool(_SECRET_NAME.search(name))


def looks_like_key(text: str) -> bool:
    """Return whether text contains something like a key of a well-known provider."""
    return bool(_GENERIC.search(text))


def is_worth_hiding(secret: str) -> bool:
    """Return whether a value counts as a secret, by the rule in the module docstring."""
    if len(secret) < SHORTEST_SECRET or secret.lower() in _PLACEHOLDERS:
        return False
    return len(secret) >= _SHORTEST_WORD or not secret.replace("-", "").replace("_", "").isalpha()


class _Spelling:
    """One encoding of a secret, and the length from which pieces of it are redacted."""

    __slots__ = ("probes", "shortest", "text")

    def __init__(self, text: str, shortest_piece: int) -> None:
        self.text = text
        self.shortest = min(len(text), shortest_piece)
        # Every piece of the shortest length contains at least one whole probe, wherever it begins.
        length = min(_PROBE, self.shortest)
        starts = range(0, len(text) - length + 1, self.shortest - length + 1)
        self.probes = frozenset(text[start : start + length] for start in starts)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of all pieces of this encoding in a text, each as long as possible."""
        for probe in self.probes:
            at = text.find(probe)
            while at >= 0:
                yield from self._around(text, probe, at)
                at = text.find(probe, at + 1)

    def _around(self, text: str, probe: str, at: int) -> Iterator[tuple[int, int]]:
        """Extend a probe hit in both directions, for every position of the probe in this encoding."""
        inside = self.text.find(probe)
        while inside >= 0:
            start, end = at, at + len(probe)
            before, after = inside, inside + len(probe)
            while start and before and text[start - 1] == self.text[before - 1]:
                start, before = start - 1, before - 1
            while end < len(text) and after < len(self.text) and text[end] == self.text[after]:
                end, after = end + 1, after + 1
            if end - start >= self.shortest:
                yield start, end
            inside = self.text.find(probe, inside + 1)


class Redactor:
    """Replaces known secrets in any common encoding, and anything that looks like a key."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Store the secrets, ignoring values not worth hiding."""
        spellings = {
            spelling.text: spelling for secret in secrets if is_worth_hiding(secret) for spelling in _spellings(secret)
        }
        self._spellings = tuple(spellings.values())
        self._grams = frozenset(gram for text in spellings if not text.startswith("\\u") for gram in _grams(text))
        self._triples = {text[n : n + 3] for text in spellings for n in range(len(text) - 2)}
        self.shortest = min((spelling.shortest for spelling in self._spellings), default=1 << 30)
        """Text length below which a text cannot contain a secret or a piece to redact."""
        # Aligned words, or every second one: a piece contains one of them whole, wherever it begins.
        self._stride = 2 if self.shortest >= 3 * _GRAM - 1 else 1

    def __call__(self, text: str) -> str:
        """Redact error text: known secrets and anything that looks like one."""
        return _GENERIC.sub(REDACTED, self.known(text))

    def known(self, text: str) -> str:
        """Redact known secrets only, as in a model's text."""
        if len(text) < self.shortest:
            return text
        if self.may_be_in(text.encode("utf-8", "surrogatepass")):
            return self._replace(text)
        if (joined := _JOINT.sub("", text)) != text and self.may_be_in(joined.encode("utf-8", "surrogatepass")):
            return self._replace(text)
        return text

    def may_be_in(self, data: bytes) -> bool:
        """Return whether UTF-8 text, or a string in JSON, may contain a secret in one piece.

        It takes the same time for any number of secrets, and is rarely true without one.
        """
        if not self._grams:
            return False
        if self._has_gram(data):
            return True
        if b"\\" in data:  # usually only line ends and quotes; removing these leaves every other escape in place
            data = data.replace(b"\\n", b"").replace(b'\\"', b"")
        if (
            b"\\" in data
            or b"%" in data
            or b"&" in data
            or not data.isascii()
            or data.translate(None, _CONTROLS) != data
        ):
            text = data.decode("utf-8", "replace")
            return (folded := _unescaped(text)) != text and self._has_gram(folded.encode("utf-8", "surrogatepass"))
        return False

    def _has_gram(self, data: bytes) -> bool:
        words = memoryview(data)[: len(data) // _GRAM * _GRAM].cast("I")
        return not self._grams.isdisjoint(words[:: self._stride].tolist())

    def value(self, value: Any) -> Any:
        """Redact every string in a decoded error, including field names."""
        return _mapped(value, self)

    def known_value(self, value: Any) -> Any:
        """Redact known secrets in every string of a decoded answer, and nothing else."""
        return _mapped(value, self.known)

    def live(self) -> "LiveRedactor":
        """Return a redactor for one streamed text."""
        return LiveRedactor(self)

    def may_continue(self, text: str) -> bool:
        """Return whether text may end in the middle of a secret."""
        return text[-3:] in self._triples

    def open_end(self, text: str) -> int:
        """Return the number of characters at the end of a text that may be inside an unfinished secret."""
        longest = 0
        for spelling in self._spellings:
            while longest < len(text) and text[-longest - 1 :] in spelling.text:
                longest += 1
        return longest

    def _spans(self, text: str) -> set[tuple[int, int]]:
        return {span for spelling in self._spellings for span in spelling.spans(text)}

    def _replace(self, text: str) -> str:
        spans = self._spans(text)
        read = _unescaped(_JOINT.sub("", text))
        if read != text and self._spans(read):  # worth finding each character's place
            characters = list(_read(text))
            read = "".join(letter for letter, _, _ in characters)
            spans |= {(characters[start][1], characters[end - 1][2]) for start, end in self._spans(read)}
        parts: list[str] = []
        done = 0
        for start, end in sorted(spans):
            if end <= done:
                continue
            if start > done or not done:
                parts += (text[done:start], REDACTED)
            done = end
        return "".join((*parts, text[done:]))


class LiveRedactor:
    """Redacts streamed text, holding back what may become a secret until that is decided."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = ""
        """Last characters released, which may be the first ones of a secret."""
        self._held = ""

    def feed(self, delta: str) -> str:
        """Return the text that can be shown now."""
        text = self._shown + self._held + delta
        if self._redactor.may_continue(text):
            return self._give(text, min(self._redactor.open_end(text), len(text) - len(self._shown)))
        if self._held or len(text) >= self._redactor.shortest:
            return self._give(text, 0)
        self._shown = text[-_CONTEXT:]
        return delta

    def end(self) -> str:
        """Return the text held back."""
        return self._give(self._shown + self._held, 0) if self._held else ""

    def _give(self, text: str, held: int) -> str:
        self._held = text[len(text) - held :]
        text = text[: len(text) - held]
        shown = self._redactor.known(text)
        same = 0  # text already released stays as it is
        while same < len(self._shown) and same < len(shown) and shown[same] == self._shown[same]:
            same += 1
        self._shown = text[-_CONTEXT:]
        return shown[same:]


def _mapped(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_mapped(item, redact) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {redact(name): _mapped(item, redact) for name, item in cast(dict[str, Any], value).items()}
    return value


def _grams(text: str) -> Iterator[int]:
    data = text.encode("utf-8", "surrogatepass")
    return (int.from_bytes(data[at : at + _GRAM], sys.byteorder) for at in range(len(data) - _GRAM + 1))


def _unescaped(text: str) -> str:
    """Return text with escapes decoded and letters folded, as a JSON or Python reader sees it."""
    if "\\" in text:
        text = _BACKSLASHES.sub(_decoded, text)
    if "%" in text:
        text = _PERCENTS.sub(lambda escape: chr(int(escape.group()[1:], 16)), text)
    if "&" in text:
        text = _ENTITIES.sub(lambda escape: _character(escape.group()), text)
    if _IS_UNSEEN.search(text):
        text = _BLANKS.sub("", text)
    if text.isascii() or not (_folding().search(text) or _ASTRAL.search(text)):
        return text
    return "".join(map(_letters, text))


@functools.cache
def _folding() -> re.Pattern[str]:
    """Return a pattern of the characters up to U+FFFF that Unicode folds into ASCII letters or digits."""
    characters = (chr(code) for code in (*range(0x80, 0x3400), *range(0xA640, 0xAC00), *range(0xFB00, 0x10000)))
    return re.compile(f"[{''.join(c for c in characters if any(map(_is_written, _letters(c))))}]")


def _is_written(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def _read(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the characters that a parser reads in a text, each with its start and end there."""
    at = 0
    while at < len(text):
        if joint := _JOINT.match(text, at):
            at = joint.end()
            continue
        escape = _ESCAPE.match(text, at)
        end = escape.end() if escape else at + 1
        for character in _IS_UNSEEN.sub("", _decoded(escape)) if escape else text[at]:
            for letter in _letters(character):
                yield letter, at, end
        at = end


def _decoded(escape: re.Match[str]) -> str:
    """Return the characters of an escape; the groups are those of `_BACKSLASHED`, then those of other escapes."""
    *numbers, octal, name = escape.groups()[:6]
    others = escape.groups()[6:]
    with contextlib.suppress(ValueError, OverflowError, KeyError):
        if number := next(filter(None, numbers), None):
            if "\\" in number:  # a surrogate pair
                return bytes.fromhex(number[:4] + number[-4:]).decode("utf-16-be")
            return chr(int(number, 16))
        if octal:
            return chr(int(octal, 8))
        if name:
            return unicodedata.lookup(name)
        if percent := next(filter(None, others[:1]), None):
            return chr(int(percent[1:], 16))
        return _character(next(filter(None, others), ""))
    return escape.group()


def _character(entity: str) -> str:
    """Return the characters of an HTML entity."""
    import html  # here, as its table of 2,231 names is hardly ever needed

    return html.unescape(entity)


def _letters(character: str) -> str:
    return character if character.isascii() else unicodedata.normalize("NFKC", character)


def _spellings(secret: str) -> Iterator[_Spelling]:
    """Yield the secret in each encoding; pieces have the length of twelve encoded characters."""
    raw = secret.encode("utf-8", "surrogatepass")
    written = secret.replace("\\", "\\\\").replace('"', '\\"')
    for text in {secret, quote(secret, safe=""), quote_plus(secret), written, written.replace("/", "\\/")}:
        yield _Spelling(text, SHORTEST_PIECE)
    for text in {secret[::-1], codecs.encode(secret, "rot13"), secret.upper(), secret.lower(), secret.swapcase()}:
        yield _Spelling(text, SHORTEST_PIECE)
    yield _Spelling(" ".join(secret), SHORTEST_PIECE * 2 - 1)
    for text in {raw.hex(), raw.hex().upper()}:
        yield _Spelling(text, SHORTEST_PIECE * 2)
    for digits in ("04x", "04X"):
        yield _Spelling("".join(f"\\u{ord(character):{digits}}" for character in secret), SHORTEST_PIECE * 6)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield from _in_blocks(raw, encode, 3, 4)
    for core in _in_blocks(raw, base64.b32encode, 5, 8):
        yield from (core, _Spelling(core.text.lower(), core.shortest))


def _in_blocks(raw: bytes, encode: Callable[[bytes], bytes], size: int, length: int) -> Iterator[_Spelling]:
    """Yield a secret at each alignment of an encoding that makes `length` characters of `size` bytes."""
    for offset in range(size):
        text = encode(b"\0" * offset + raw).decode("ascii").rstrip("=")
        # The first and last characters also carry bits of their neighbors, so only the middle is certain.
        core = text[-(-offset * length // size) : len(text) - (0 if (offset + len(raw)) % size == 0 else 1)]
        if len(core) >= SHORTEST_SECRET:
            yield _Spelling(core, -(-SHORTEST_PIECE * length // size))
