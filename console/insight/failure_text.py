"""A failure as size-limited JSON for a model that is asked for its cause."""

import json
from collections.abc import Sequence

from console.core.comparison import Comparison
from console.insight.conversation import Conversation
from console.insight.passage import Passage, PassageKind
from console.insight.reasons import sentence
from console.insight.rollout import Rollout

MOST_CHARACTERS = 12_000
"""Limit for one failure before quoting; about 4,000 tokens."""
_LONGEST_PASSAGE = 2_000
_LONGEST_PART = 3_000
_SHOWN = {
    PassageKind.SYSTEM: "instructions",
    PassageKind.USER: "user",
    PassageKind.ASSISTANT: "answer",
    PassageKind.CALL: "call",
    PassageKind.RESULT: "result",
    PassageKind.TRY: "failed try",
}


def failure_text(rollout: Rollout, conversation: Conversation, comparison: Comparison | None) -> str:
    """Describe a failure as one JSON object with `<` escaped, so that it cannot close the quotation.

    Long conversations keep their first and last passages, long passages their two ends.
    """
    parts: dict[str, object] = {
        "category": cut(rollout.category, 200),
        "title": cut(rollout.title, 400),
        "outcome": rollout.ending,
        "grader": cut(sentence(rollout.reason, rollout.subject, rollout.outcome), 400),
        "message": cut(rollout.message, 400),
        "reply cut by": rollout.cut,
        "expected and actual": cut(_compared(comparison), _LONGEST_PART) if comparison is not None else "",
        "conversation": _conversation(conversation.passages),
    }
    kept = {name: value for name, value in parts.items() if value}
    return json.dumps(kept, ensure_ascii=False, indent=1).replace("<", "\\u003c")


def cut(text: str, most: int) -> str:
    """Shorten text to at most `most` characters plus a mark in place of the removed middle."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [{len(text) - 2 * half:,} characters left out] {text[-half:]}"


def _compared(comparison: Comparison) -> str:
    lines = [comparison.sentence, comparison.rule, comparison.hint]
    for pair in comparison.pairs:
        lines.append(f"{pair.mark.name.lower()}: expected {pair.expected or 'nothing'}; got {pair.actual or 'nothing'}")
        for row in pair.rows:
            expected = " or ".join(row.expected) or "nothing"
            lines.append(f"  {row.name}: {row.mark.name.lower()}, expected {expected}, got {row.actual or 'nothing'}")
    return "\n".join(filter(None, lines))


def _conversation(passages: Sequence[Passage]) -> list[str]:
    """Return the texts of model and tool passages, at most `MOST_CHARACTERS` in total."""
    texts = [
        cut(f"{_SHOWN[passage.kind]}{f' {passage.head}' if passage.head else ''}: {passage.text}", _LONGEST_PASSAGE)
        for passage in passages
        if passage.kind in _SHOWN and not passage.repeats and passage.role == "model"
    ]
    first, last = list[str](), list[str]()
    room = MOST_CHARACTERS - 2 * _LONGEST_PART
    while texts and room > 0:  # the end is most informative, the beginning has the question
        is_early = len(first) < min(len(last), 2)
        text = texts.pop(0 if is_early else -1)
        (first if is_early else last).append(text)
        room -= len(text)
    left_out = [f"[{len(texts)} passages left out]"] if texts else []
    return [*first, *left_out, *reversed(last)]
