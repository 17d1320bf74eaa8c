"""Instructions that can be checked without a judge: counts, words, format, case, and language, strictly or loosely."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import Amount, Instructions
from console.config.extras import install_command
from console.core.comparison import Mark, Pair

FOLLOWED = "instructions"
"""Name of the score: the share of an answer's instructions that are followed."""
LOOSELY = "instructions, loosely"
ASKED = "instructions asked"
"""Number of instructions, which weights the shares in the report; kept in the verdict's detail, as it is not a score.
"""
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"""(?<![.!?…。！？])[.!?…。！？]++["'”’)\]]*+(?=\s+["'“‘(\[]*[^\sa-z]|\s*$)""")
_END_IN_LOWERCASE = re.compile(_SENTENCE_END.pattern.replace("[^\\sa-z]", "\\S"))
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|No|Fig|[A-Z]))\.$")
_RULE = re.compile(r"\s?\*\*\*\s?")
_BLANK_LINES = re.compile(r"\n\s*\n")
_BULLET = re.compile(r"^[^\S\n]*(?:\*[^*]|[-•])", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*\*[^\n*]+\*\*|\*[^\n*]+\*")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]*\]")
_TITLE = re.compile(r"<<[^\n<>]+>>")
_FENCE = re.compile(r"\A```(?:json|JSON|Json)?\s*(.*?)\s*```\Z", re.DOTALL)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))


class NoDetector(Exception):
    """The language detector is not installed."""


def word_count(text: str) -> int:
    """Count the words: runs of letters, digits and underscores."""
    return sum(1 for _ in _WORD.finditer(text))


def sentence_count(text: str) -> int:
    """Count the sentences: ends of lines and of sentences before a capital, except after common abbreviations."""
    count = 0
    for line in filter(str.strip, text.splitlines()):
        ends = [match for match in _sentence_end(line).finditer(line) if not _is_abbreviated(line, match)]
        count += len(ends) + (not ends or bool(_WORD.search(line[ends[-1].end() :])))
    return count


def _sentence_end(line: str) -> re.Pattern[str]:
    return _END_IN_LOWERCASE if line.islower() else _SENTENCE_END


def _is_abbreviated(line: str, end: re.Match[str]) -> bool:
    return end.end() < len(line.rstrip()) and bool(_ABBREVIATION.search(line[: end.start() + 1][-8:]))


def paragraphs_of(text: str) -> list[str]:
    """Split at lines of three asterisks if there are any, else at blank lines."""
    parts = _RULE.split(text) if "***" in text else _BLANK_LINES.split(text)
    return [part.strip() for part in parts if part.strip()]


def _is_json(text: str) -> bool:
    stripped = text.strip()
    fenced = _FENCE.match(stripped)
    try:
        json.loads(fenced[1] if fenced else stripped)
    except (ValueError, RecursionError):
        return False
    return True


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of a text's language.

    Raises:
        NoDetector: the extra is not installed.
    """
    try:
        detector: Any = import_module("py3langid")
    except ImportError:
        raise NoDetector from None
    return str(detector.classify(text)[0])


def has_detector() -> bool:
    """Return whether the language detector is installed, without loading it."""
    return find_spec("py3langid") is not None


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _capitals(text: str) -> int:
    return sum(1 for match in re.finditer(r"\w+(?:['’-]\w+)*", text) if match[0].isupper())


def _amount(count: int, amount: Amount) -> tuple[bool, str]:
    if isinstance(amount, int):
        return count == amount, str(count)
    return amount.min <= count and (amount.max is None or count <= amount.max), str(count)


def amount_words(amount: Amount) -> str:
    """Format a required count, such as `at least 3`."""
    if isinstance(amount, int):
        return f"exactly {amount}"
    if amount.max is None:
        return f"at least {amount.min}"
    return f"{amount.min} to {amount.max}" if amount.min else f"at most {amount.max}"


Part = tuple[str, Callable[[str], tuple[bool, str]]]
"""Description of one instruction, and a function that returns whether a text follows it and the value it found."""

_COUNTS: Mapping[str, Callable[[str], int]] = {
    "words": word_count,
    "sentences": sentence_count,
    "paragraphs": lambda text: len(paragraphs_of(text)),
    "bullets": lambda text: len(_BULLET.findall(text)),
    "highlights": lambda text: sum(1 for part in _HIGHLIGHT.findall(text) if part.strip("*").strip()),
    "placeholders": lambda text: len(_PLACEHOLDER.findall(text)),
    "capital_words": _capitals,
}


def parts_of(instructions: Instructions) -> list[Part]:
    """Return the single instructions of a check, in the order of its fields."""
    return list(_parts(instructions))


def _parts(instructions: Instructions) -> Iterator[Part]:
    for name, count in _COUNTS.items():
        amount: Amount | None = getattr(instructions, name)
        if amount is not None:
            label = f"{name.replace('_', ' ')}: {amount_words(amount)}"
            yield label, lambda text, count=count, amount=amount: _amount(count(text), amount)
    for word in instructions.contains:
        yield f"contains “{word}”", lambda text, word=word: ((word.casefold() in text.casefold()), "")
    for word in instructions.without:
        yield f"without “{word}”", lambda text, word=word: (not _has_word(text, word), "")
    for word, amount in instructions.times.items():
        yield (
            f"“{word}”: {amount_words(amount)}",
            lambda text, word=word, amount=amount: _amount(len(re.findall(re.escape(word), text, re.I)), amount),
        )
    for letter, amount in instructions.letters.items():
        yield (
            f"letter {letter}: {amount_words(amount)}",
            lambda text, letter=letter, amount=amount: _amount(text.lower().count(letter.lower()), amount),
        )
    for heading, amount in instructions.sections.items():
        pattern = re.compile(rf"\s?{re.escape(heading)}\s?\d+\s?")
        yield (
            f"sections {heading}: {amount_words(amount)}",
            lambda text, pattern=pattern, amount=amount: _amount(len(pattern.findall(text)), amount),
        )
    for number, word in instructions.paragraph_starts.items():
        yield f"paragraph {number} starts with “{word}”", lambda text, n=int(number), word=word: _starts(text, n, word)
    yield from _forms(instructions)


def _starts(text: str, number: int, word: str) -> tuple[bool, str]:
    paragraphs = [part.strip() for part in _BLANK_LINES.split(text) if part.strip()]
    if len(paragraphs) < number:
        return False, f"{len(paragraphs)} paragraphs"
    first = re.match(r"[\"'“‘*_#\s]*([\w'’-]*)", paragraphs[number - 1])
    return bool(first) and first[1].casefold() == word.casefold(), first[1] if first else ""


def _forms(instructions: Instructions) -> Iterator[Part]:
    if instructions.case:
        lower = instructions.case == "lower"
        label = "all lowercase" if lower else "all capitals"
        yield label, lambda text: ((text.islower() if lower else text.isupper()), "")
    if instructions.no_commas:
        yield "no commas", lambda text: (not (count := len(re.findall("[,，、]", text))), f"{count} commas")
    if instructions.json:
        yield "JSON only", lambda text: (_is_json(text), "")
    yield from _marks(instructions)


def _marks(instructions: Instructions) -> Iterator[Part]:
    if instructions.quoted:
        yield "in quotation marks", lambda text: (_is_quoted(text.strip()), "")
    if instructions.title:
        yield "a title in <<…>>", lambda text: (any(m.strip("<> ") for m in _TITLE.findall(text)), "")
    if instructions.postscript:
        mark = re.compile(re.escape(instructions.postscript.strip()).replace("\\.", "\\.\\s?"), re.IGNORECASE)
        yield f"a postscript {instructions.postscript}", lambda text: (mark.search(text) is not None, "")
    if instructions.two_answers:
        yield "two answers separated by ******", lambda text: (_has_two(text), "")
    if instructions.starts_with:
        start = instructions.starts_with.strip().casefold()
        yield f"starts with “{instructions.starts_with}”", lambda text: (text.strip().casefold().startswith(start), "")
    if instructions.ends_with:
        end = instructions.ends_with.strip().casefold()
        yield (
            f"ends with “{instructions.ends_with}”",
            lambda text: (text.strip().strip('"').casefold().endswith(end), ""),
        )
    if instructions.one_of:
        options = instructions.one_of
        yield f"one of {' | '.join(options)}", lambda text: (any(option in text for option in options), "")
    if instructions.language:
        yield f"in the language {instructions.language}", lambda text: _in_language(text, instructions.language)


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and any(text.startswith(first) and text.endswith(last) for first, last in _QUOTES)


def _has_two(text: str) -> bool:
    parts = text.split("******")
    inner = [part.strip() for place, part in enumerate(parts) if part.strip() or 0 < place < len(parts) - 1]
    return len(inner) == 2 and all(inner) and inner[0] != inner[1]


def _in_language(text: str, language: str) -> tuple[bool, str]:
    detected = language_of(text)
    return detected == language, detected


def variants_of(text: str) -> list[str]:
    """Return a text and its loose forms: without its first or last line or both, each also without asterisks."""
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return [*cut, *(form.replace("*", "") for form in cut)]


def check_instructions(instructions: Instructions, text: str) -> Finding:
    """Check each instruction; the check passes if all are followed, and its score is the share that is."""
    parts = parts_of(instructions)
    try:
        strict = [_follows(part, [text]) for part in parts]
        loose = [_follows(part, variants_of(text)) for part in parts]
    except NoDetector:
        hint = f"the language detector is not installed: {install_command('language')}"
        return Finding(FOLLOWED, None, _listed(parts), text, "no_detector", hint)
    counted = loose if instructions.loose else strict
    followed = sum(counted)
    scores = {FOLLOWED: followed / len(parts), LOOSELY: sum(loose) / len(parts), ASKED: len(parts)}

    def make_pairs() -> list[Pair]:
        return [_pair(part, text, holds, is_loose) for part, holds, is_loose in zip(parts, counted, loose, strict=True)]

    if followed == len(parts):
        return Finding(FOLLOWED, True, _listed(parts), text, make_pairs=make_pairs, scores=scores)
    broken = [label for (label, _), holds in zip(parts, counted, strict=True) if not holds]
    message = f"{followed} of {len(parts)} followed; not: {'; '.join(broken)}"
    subject = broken[0].partition(":")[0]
    return Finding(FOLLOWED, False, _listed(parts), text, "not_followed", message, subject, make_pairs, scores)


def _follows(part: Part, texts: Sequence[str]) -> bool:
    return any(text.strip() and part[1](text)[0] for text in texts)


def _listed(parts: Sequence[Part]) -> str:
    return "; ".join(label for label, _ in parts)


def _pair(part: Part, text: str, holds: bool, is_loose: bool) -> Pair:
    label, check = part
    measured = check(text)[1]
    note = "followed loosely only" if is_loose and not check(text)[0] else ""
    return Pair(
        Mark.SAME if holds else Mark.DIFFERS, label, measured or ("yes" if holds else "no"), note=note, kind="check"
    )
