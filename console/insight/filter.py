"""Filter language for rollouts, shared by menus, `/` and the command line.

    reason:unit tag:none time>30s cost>0.01 cat:live_multiple "free text"

Terms are combined with *and*; `a,b` within a value means *or*; `!` before a term negates it. Untrusted text is only
compared, never used as a pattern; text comparisons ignore case. Callers that can read the journal also search it for
free text (see `store.search`) and pass the matches to `keeps`.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.suggestion import suggest
from console.insight.reader_labels import agrees_with_people
from console.insight.reasons import sentence
from console.insight.rollout import SETUP, Rollout

Test = Callable[[Rollout, Annotation, Collection[str]], bool]
"""Tests a rollout, its annotation, and the filter's free texts that occur in its conversation."""

_TERM = re.compile(r"""(?P<not>!?)(?:(?P<field>[A-Za-z_]+)(?P<sign>[:<>]=?))?(?P<value>"[^"]*"|[^\s"]+)""")
_NUMBER = re.compile(r"(?P<digits>\d+(?:\.\d*)?|\.\d+)(?P<unit>ms|s|m|h|k|M)?\Z")
_HALF = re.compile(r"[A-Za-z_]+[:<>]=?\Z")
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "k": 1e3, "M": 1e6}
_SPARE_WORDS = {"fail": "failed", "pass": "passed", "error": "broken", "errors": "broken", "failure": "failed"}

_REMARKS = ("reviewed", "disputed", "commented", "tagged")
_TEXTS: dict[str, Callable[[Rollout], Sequence[str]]] = {
    "reason": lambda rollout: (
        rollout.reason,
        rollout.subject,
        sentence(rollout.reason, rollout.subject, rollout.outcome),
    ),
    "error": lambda rollout: (rollout.reason,),
    "subject": lambda rollout: (rollout.subject,),
    "cat": lambda rollout: (rollout.category,),
    "func": lambda rollout: (rollout.function, *rollout.functions),
    "id": lambda rollout: (rollout.key.case,),
    "title": lambda rollout: (rollout.title,),
    "model": lambda rollout: (rollout.model,),
}
_SAID: dict[str, Callable[[Annotation], str]] = {
    "tag": lambda annotation: annotation.tag,
    "note": lambda annotation: annotation.comment,
    "dispute": lambda annotation: annotation.dispute,
    "label": lambda annotation: annotation.label.name if annotation.label else "",
}
_NUMBERS: dict[str, Callable[[Rollout], float | None]] = {
    "time": lambda rollout: rollout.seconds,
    "cost": lambda rollout: rollout.cost_usd,
    "tokens": lambda rollout: float(rollout.input_tokens + rollout.output_tokens),
    "calls": lambda rollout: float(rollout.calls),
    "turns": lambda rollout: float(rollout.turn + 1),
    "tries": lambda rollout: float(rollout.tries),
    "attempts": lambda rollout: float(len(rollout.attempts)),
    "rollout": lambda rollout: float(rollout.key.rollout + 1),
}
_ALIASES = {
    "category": "cat", "function": "func", "outcome": "is", "case": "id", "seconds": "time", "turn": "turns",
    "parameter": "subject", "param": "subject", "comment": "note", "disputed": "dispute",
}  # fmt: skip
FIELDS = (*_TEXTS, "is", "judge", *_SAID, *_NUMBERS)
FIELD_NAMES = frozenset({*FIELDS, *_ALIASES})
"""All field names, including synonyms."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter."""

    text: str = ""
    """The filter as typed."""
    tests: tuple[Test, ...] = ()
    kind_tests: tuple[Test, ...] = ()
    """Tests of properties shared by all rollouts of a kind."""
    words: tuple[str, ...] = ()
    """Free texts in lower case, to be searched for in whole conversations."""

    def matches(
        self, rollout: Rollout, annotation: Annotation = NO_ANNOTATION, matched_words: Collection[str] = ()
    ) -> bool:
        """Return whether a rollout satisfies all terms; `matched_words` are those found in its conversation."""
        for test in self.tests:
            if not test(rollout, annotation, matched_words):
                return False
        return self.matches_kind(rollout)

    def matches_kind(self, kind: Rollout) -> bool:
        """Return whether a rollout, or its whole kind, satisfies the terms that are the same for a kind."""
        return all(test(kind, NO_ANNOTATION, ()) for test in self.kind_tests)


def read_filter(text: str) -> Filter:
    """Parse a filter; an empty one matches everything.

    Raises:
        UsageError: an unknown field, a bad number or an open quote.
    """
    if text.count('"') % 2:
        raise UsageError("a quote is not closed", where="filter", hint='Write "free text" between two quotes.')
    terms = list(_TERM.finditer(text))
    words = [_bare(term["value"]) for term in terms if not term["field"]]
    tests = [(_test(term), _is_of_kind(term["field"], term["value"])) for term in terms]
    of_rollout, of_kind = (tuple(test for test, decides in tests if decides is wanted) for wanted in (False, True))
    return Filter(text.strip(), of_rollout, of_kind, tuple(dict.fromkeys(filter(None, words))))


def _is_of_kind(name: str | None, value: str) -> bool:
    """Return whether a field's test has the same result for all rollouts of a kind."""
    field = _ALIASES.get(name.lower(), name.lower()) if name else ""
    if field == "is":
        return _words(value).isdisjoint(_REMARKS)
    return field in ("reason", "error", "subject", "cat")


def _words(value: str) -> set[str]:
    return {part for part in value.strip('"').casefold().split(",") if part}


def _bare(value: str) -> str:
    return value.strip('"').casefold()


def _test(match: re.Match[str]) -> Test:
    field, sign, value = match["field"] or "", match["sign"] or ":", match["value"]
    if field:
        test = _field_test(field.lower(), sign, value.strip('"'))
    elif _HALF.match(value):
        raise _refusal("", f"{value} lacks a value", f'Write {value}something, or "{value}" to search for the text.')
    else:
        test = _free(_bare(value))
    if match["not"]:
        return lambda rollout, annotation, words: not test(rollout, annotation, words)
    return test


def _field_test(field: str, sign: str, value: str) -> Test:
    field = _ALIASES.get(field, field)
    if field in _NUMBERS:
        return _number_test(field, sign, value)
    if sign != ":":
        raise _refusal(field, f"{field} is text and cannot be compared by {sign}", f"Write {field}:{value}.")
    values = [part.casefold() for part in value.split(",") if part]
    if field in _TEXTS:
        texts = _TEXTS[field]
        return lambda rollout, annotation, words: _contain_all(texts(rollout), values)
    if field == "is":
        return _outcome_test(values)
    if field == "judge":
        return _judge_test(values)
    if field in _SAID:
        text_of = _SAID[field]
        return lambda rollout, annotation, words: any(
            _contains(text_of(annotation).casefold(), value) for value in values
        )
    hint = f"{suggest(field, (*FIELDS, *_ALIASES))} Fields are {', '.join(FIELDS)}.".lstrip()
    raise _refusal(field, f"there is no field {field!r}", hint)


def _number_test(field: str, sign: str, value: str) -> Test:
    match = _NUMBER.match(value.lstrip("$"))
    if match is None:
        raise _refusal(field, f"{value!r} is not a number", f"Write for example {field}>10, time>30s or tokens>2k.")
    limit, number = float(match["digits"]) * _UNITS[match["unit"] or ""], _NUMBERS[field]
    compare: dict[str, Callable[[float], bool]] = {
        ">": lambda figure: figure > limit,
        ">=": lambda figure: figure >= limit,
        "<": lambda figure: figure < limit,
        "<=": lambda figure: figure <= limit,
    }
    chosen = compare.get(sign, lambda figure: abs(figure - limit) < 1e-9)
    return lambda rollout, annotation, words: (figure := number(rollout)) is not None and chosen(figure)


def _outcome_test(values: Sequence[str]) -> Test:
    words = [*(outcome.value for outcome in Outcome), SETUP, *_REMARKS]
    chosen = {_SPARE_WORDS.get(value, value) for value in values}
    for value in chosen - {*words, "running", "failure"}:
        hint = f"{suggest(value, words)} {', '.join(words)}".lstrip()
        raise _refusal("is", f"no outcome is called {value!r}", hint)
    remarks = not chosen.isdisjoint(_REMARKS)

    def test(rollout: Rollout, annotation: Annotation, words: Collection[str]) -> bool:
        return _outcome_name(rollout) in chosen or (remarks and not chosen.isdisjoint(_remark_words(annotation)))

    return test


_AGAINST_PEOPLE = ("agrees", "disagrees", "any", "none")
"""Values of the field `judge`: whether people agree with the verdict, or have given one at all."""


def _judge_test(values: Sequence[str]) -> Test:
    for value in values:
        if value not in _AGAINST_PEOPLE:
            raise _refusal("judge", f"{value!r} is not known", f"Write judge:{', judge:'.join(_AGAINST_PEOPLE)}.")

    def test(rollout: Rollout, annotation: Annotation, words: Collection[str]) -> bool:
        agrees = agrees_with_people(rollout, annotation)
        if agrees is None:
            return "none" in values
        return "any" in values or ("agrees" if agrees else "disagrees") in values

    return test


def _outcome_name(rollout: Rollout) -> str:
    return SETUP if rollout.is_setup else rollout.outcome or "running"


def _remark_words(annotation: Annotation) -> list[str]:
    if annotation is NO_ANNOTATION:
        return []
    standing = (annotation.is_seen, annotation.dispute, annotation.comment, annotation.tag)
    return [word for word, stands in zip(_REMARKS, standing, strict=True) if stands]


def _contains(text: str, value: str) -> bool:
    if value == "none":
        return not text
    return bool(text) if value == "any" else value in text


def _free(sought: str) -> Test:
    def test(rollout: Rollout, annotation: Annotation, matched_words: Collection[str]) -> bool:
        if sought in matched_words:
            return True
        texts = [text for read in _TEXTS.values() for text in read(rollout)]
        remarks = [read(annotation) for read in _SAID.values()]
        return _contain_all([*texts, str(rollout.key), rollout.message, rollout.recent_text, *remarks], [sought])

    return test


def _contain_all(texts: Sequence[str], parts: Sequence[str]) -> bool:
    return any(part in text.casefold() for text in texts for part in parts)


def _refusal(field: str, message: str, hint: str) -> UsageError:
    return UsageError(message, where=f"filter {field}".strip(), hint=hint)
