"""Checks of an answer's text: equality, content, number, letter and JSON."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any

from console.benchmarks.dialogue.rules.bounded_regex import TooSlow, search
from console.benchmarks.dialogue.rules.bounded_schema import TooMuchWork, errors_of
from console.benchmarks.dialogue.rules.checks import read_number, read_tolerance, texts
from console.benchmarks.dialogue.rules.finding import Finding
from console.benchmarks.dialogue.rules.row import Choice, Contains, Equals, JsonSchema, NumberIs, Regex
from console.core.json_text import read_json

_NUMBER = re.compile(r"(?<![\w.])[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3}(?!\d))?")
"""A number in prose, with optional thousands separators."""
_DIGITS = 400
"""Maximum number of characters in a number; longer ones are ignored."""
_LETTER = r"([A-HJ-Z]|I(?!['’]|\s+[a-z])|[a-z](?=\W*(?:\n|$)))"
"""A letter that may be a choice: not the pronoun I, and lowercase only at the end of a line."""
_AND_ANOTHER = r"(?!\s{0,4}(?:,|/|&|and|or)\s{0,4}\(?[A-Z]\)?\W{0,4}(?:\n|$))"
"""Requires that no second letter follows at the end of the line."""
_NAMED_LETTER = re.compile(rf"(?i:answer|choice|option)\W{{0,4}}(?:\s+is)?\W{{0,6}}\b{_LETTER}\b{_AND_ANOTHER}")
_SET_APART = re.compile(
    r"(?:^|\n)\W{0,4}([A-Z])(?:\W{0,3}(?:\n|$)|[).:])|\(([A-Z])\)|\\boxed\{([A-Za-z])\}|\*\*([A-Z])\*\*"
)


def check_equals(check: Equals, text: str) -> Finding:
    """Compare the whole answer."""
    allowed = texts(check.equals)
    answer = _folded(text.strip(), check.ignore_case)
    holds = any(answer == _folded(other.strip(), check.ignore_case) for other in allowed)
    expected = " | ".join(allowed)
    if holds:
        return Finding("equals", True, expected, text)
    inside = next((other for other in allowed if _is_inside(other.strip(), text)), None)
    if inside is not None:
        message = f"the answer has more than {_quoted(inside)}"
        return Finding("equals", False, expected, text, "right_inside", message)
    return Finding(
        "equals", False, expected, text, "wrong_text", f"the answer is not {_quoted(allowed[0])}", allowed[0]
    )


def _is_inside(right: str, text: str) -> bool:
    """Return whether a text contains a right answer as whole words, ignoring case."""
    return len(text.strip()) > len(right) and bool(re.search(rf"(?<!\w){re.escape(right)}(?!\w)", text, re.IGNORECASE))


def check_contains(check: Contains, text: str) -> Finding:
    """Search for each string."""
    needed = texts(check.contains)
    answer = _folded(text, check.ignore_case)
    missing = [part for part in needed if _folded(part, check.ignore_case) not in answer]
    expected = " and ".join(_quoted(part) for part in needed) if len(needed) > 1 else needed[0]
    if not missing:
        return Finding("contains", True, expected, text)
    message = f"the answer does not contain {' nor '.join(_quoted(part) for part in missing)}"
    return Finding("contains", False, expected, text, "text_missing", message, missing[0])


def check_regex(check: Regex, text: str) -> Finding:
    """Search for the expression, with a time limit."""
    try:
        match = search(check.regex, text, ignore_case=check.ignore_case)
    except TooSlow as error:
        return Finding("regex", None, check.regex, text, "too_slow", str(error), check.regex)
    if match is not None:
        return Finding("regex", True, check.regex, match)
    return Finding(
        "regex", False, check.regex, text, "no_match", f"nothing matches {_quoted(check.regex)}", check.regex
    )


def check_number(check: NumberIs, text: str) -> Finding:
    """Compare the last, first or any number of the answer."""
    right = read_number(check.number, "number")
    amount, is_share = read_tolerance(check.tolerance, "tolerance")
    allowed = abs(right) * amount if is_share else amount
    expected = f"{check.number}" + (f" ± {check.tolerance}" if amount else "")
    numbers = numbers_in(text)
    if not numbers:
        return Finding("number", False, expected, text, "no_number", "the answer contains no number")
    looked_at = {"last": numbers[-1:], "first": numbers[:1], "any": numbers}[check.which]
    shown = ", ".join(str(number) for number in looked_at[:10])
    if any(abs(number - right) <= allowed for number in looked_at):
        return Finding("number", True, expected, shown)
    return Finding("number", False, expected, shown, "wrong_number", f"{shown} instead of {expected}")


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers in a text, in order, ignoring overlong ones."""
    numbers: list[Decimal] = []
    for match in _NUMBER.finditer(text):
        written = match[0].replace(",", "").replace("\u2212", "-")
        if len(written) <= _DIGITS:
            try:
                numbers.append(Decimal(written))
            except InvalidOperation:
                continue
    return numbers


def check_choice(check: Choice, text: str) -> Finding:
    """Compare the chosen letter."""
    letter = letter_in(text)
    right = check.choice.upper()
    if letter is None:
        return Finding("choice", False, right, text, "no_choice", "the answer chooses no letter")
    if letter == right:
        return Finding("choice", True, right, letter)
    return Finding("choice", False, right, letter, "wrong_choice", f"{letter} instead of {right}", right)


def letter_in(text: str) -> str | None:
    """Return the letter that a text chooses: the last one named as the answer, else the last one set apart, else None.

    Two letters named together are not a choice. A letter is set apart if alone on its line, before `)`, `.` or `:` at
    the start of a line, in parentheses, in bold or in a box. A capital letter within a sentence is not.
    """
    stripped = text.strip().strip("*().:\"' ")
    if len(stripped) == 1 and stripped.isascii() and stripped.isalpha():
        return stripped.upper()
    for pattern in (_NAMED_LETTER, _SET_APART):
        letters = [next(filter(None, match.groups())) for match in pattern.finditer(text)]
        if letters:
            return letters[-1].upper()
    return None


def _folded(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _quoted(text: str) -> str:
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return f"“{shown}”"


_FENCE = re.compile(r"\A\s*```[\w-]{0,20}[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
LONGEST = 1_000_000
"""Maximum number of characters in an answer parsed as JSON."""


def check_json(check: JsonSchema, text: str) -> Finding:
    """Parse the answer as JSON and validate it."""
    expected = "JSON matching the schema"
    try:
        value = _read(text)
    except ValueError as error:
        return Finding("json", False, expected, text, "not_json", f"the answer is not JSON: {error}")
    try:
        errors = errors_of(check.json, value)
    except TooMuchWork as error:
        return Finding("json", None, expected, text, "too_slow", str(error))
    if not errors:
        return Finding("json", True, expected, text)
    subject = errors[0].partition(":")[0]
    return Finding("json", False, expected, text, "other_json", "; ".join(errors), subject)


def _read(text: str) -> Any:
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters")
    fenced = _FENCE.match(text)
    return read_json(fenced[1] if fenced else text)
