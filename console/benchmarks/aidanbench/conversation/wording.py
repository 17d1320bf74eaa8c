"""Prompt texts for model and judge: ours, or the official ones from a pull.

Both have the same structure: a first prompt of three parts, a follow-up per protocol that lists the earlier answers,
and the rubrics of both judges. Slots in braces are filled by name in a single pass, so a question that contains
`{answer}` is unaffected.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json

FILE = "wording.json"
"""File in a dataset folder with its own wording."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One set of prompt texts; follow-ups are appended to the first prompt."""

    name: str
    first: str
    """First prompt; its slot is `question`."""
    followup_environment: str
    """Follow-up of the growing chat; its slot is `previous_answers`."""
    followup_original: str
    """Follow-up of the single-message protocol; its slot is `previous_answers`."""
    coherence: str
    """Prompt of the coherence judge; its slots are `question` and `answer`."""
    similarity: str
    """Prompt of the similarity judge; slots: `question`, `answer1` (the new answer) and `answer2` (an earlier one)."""
    environment_origin: str = ""
    """Origin of the environment's follow-up, if it differs from `name`."""

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of all texts."""
        texts = {name: text for name, text in asdict(self).items() if name not in ("name", "environment_origin")}
        return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]

    def name_for(self, protocol: str) -> str:
        """Return the origin of the texts used with this protocol."""
        return (self.environment_origin or self.name) if protocol == "environment" else self.name


def fill(template: str, **slots: str) -> str:
    """Return the template with its slots filled; other braces stay."""
    pattern = "|".join(re.escape(name) for name in slots)
    return re.sub(rf"\{{({pattern})\}}", lambda slot: slots[slot[1]], template)


def read_wording(folder: Path) -> Wording:
    """Return a dataset folder's own wording, or ours if it has none.

    Raises:
        UsageError: the file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return OURS
    try:
        table = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path), hint=_HINT) from error
    names = {field.name for field in fields(Wording)}
    required = names - {"environment_origin"}
    if not isinstance(table, dict):
        raise UsageError("must contain one table of strings", where=str(path), hint=_HINT)
    texts = cast(Mapping[str, object], table)
    if not required <= texts.keys() <= names or not all(isinstance(text, str) for text in texts.values()):
        raise UsageError(f"must contain these strings: {', '.join(sorted(required))}", where=str(path), hint=_HINT)
    return Wording(**cast(dict[str, str], dict(texts)))


_HINT = "Run `eval-console pull aidanbench` again."

OURS = Wording(
    name="eval-console",
    first=(
        "Here is a question to answer.\n"
        "<question>{question}</question>\n"
        "Write your answer between <answer> and </answer>.\n"
        "Give exactly one answer, in a few sentences at most. A list of several answers does not count.\n"
    ),
    followup_environment=(
        "\n\n=== THIS ANSWER HAS TO BE NEW ===\n"
        "Everything you answered before is used up and DOES NOT COUNT AGAIN.\n"
        "Do not repeat an earlier answer, reword it or offer a close relative of it.\n"
        "Start from ANOTHER angle: a different cause, means, place, person or principle.\n"
        "A reader who knows all earlier answers must learn something from this one.\n"
        "\nThese are the answers you have given so far:\n"
        "<previous_answers>\n{previous_answers}\n</previous_answers>\n"
        "\nOnce more: say something that none of them says."
    ),
    followup_original=(
        "Your answer MUST DIFFER from everything you have answered before.\n"
        "What you have answered so far stands inside <previous_answers></previous_answers>.\n"
        "<previous_answers>\n{previous_answers}\n</previous_answers>"
    ),
    coherence=(
        "You grade how well an answer holds together and whether it could be true.\n\n"
        "Question: <question>{question}</question>\n"
        "Answer: <answer>{answer}</answer>\n\n"
        "Choose a number from 0 to 100 by these bands:\n\n"
        "0-20: SENSELESS\n"
        "- It has nothing to do with what was asked\n"
        "- It contradicts itself or cannot be the case\n"
        "- It says what nobody could believe of the world\n"
        "- It misses what the question is about\n\n"
        "21-40: BADLY BROKEN\n"
        "- Its steps do not follow from one another\n"
        "- It misunderstands something the question rests on\n"
        "- Most of it is wrong, though parts touch the subject\n"
        "- True sentences stand beside each other without making an answer\n\n"
        "41-60: HALF SOUND\n"
        "- The question was understood in its outline\n"
        "- Good points and mistakes are mixed\n"
        "- One can follow it, with gaps\n"
        "- It is about the matter, but leaves out what counts most\n\n"
        "61-80: LARGELY SOUND\n"
        "- The question was understood well\n"
        "- The reasoning holds, but for small gaps\n"
        "- Nearly all it says is believable and has grounds\n"
        "- It is an answer on the whole complete\n\n"
        "81-100: FULLY SOUND\n"
        "- It answers exactly what was asked\n"
        "- Nothing in it is at odds with anything else in it\n"
        "- All it says is believable and well founded\n"
        "- It is complete and to the point\n\n"
        "IMPORTANT: reply with one whole number from 0 to 100 inside <coherence_score></coherence_score>, "
        "like this:\n"
        "<coherence_score>75</coherence_score>\n\n"
        "Write nothing else."
    ),
    similarity=(
        "You grade how alike two answers to one question are in what they mean, whatever words they use.\n\n"
        "The question: <question>{question}</question>\n"
        "One answer: <answer1>{answer1}</answer1>\n"
        "The other answer: <answer2>{answer2}</answer2>\n\n"
        "Choose a number from 0 to 100 by these bands:\n\n"
        "0-20: they share nothing that matters\n"
        "21-40: a detail in common, different ideas\n"
        "41-60: some ideas in common, some not\n"
        "61-80: the same idea with differences in detail\n"
        "81-100: the same answer, in the same or other words\n\n"
        "IMPORTANT: reply with one whole number from 0 to 100 inside <similarity_score></similarity_score>, "
        "like this:\n"
        "<similarity_score>75</similarity_score>\n\n"
        "Write nothing else."
    ),
)
