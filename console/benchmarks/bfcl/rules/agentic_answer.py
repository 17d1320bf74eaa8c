"""The check of memory and web-search answers: the last message must contain an acceptable answer as whole words.

Only the last message that is not a call counts; its `answer` field is not parsed. An answer that looks like a call
counts as a call.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, cast

from console.benchmarks.bfcl.models.decode.reply import executable_calls

INFERENCE_ERROR = "agentic:inference_error"
NO_MESSAGE = "agentic:no_last_message"
NOT_FOUND = "agentic:answer_not_found"

_IGNORED = re.compile(r"[,./\-_*^()]")


def check_answer(output: Any, truth: Sequence[str], family: str) -> tuple[str | None, Any]:
    """Return the official error type (None if correct) and the judged message.

    Args:
        output: recorded turns of steps, normally one turn. A string counts as a list of characters.
        truth: acceptable answers.
        family: the decode family, which identifies calls.
    """
    if not isinstance(output, list) or len(cast(list[Any], output)) != 1:
        return INFERENCE_ERROR, None
    steps = cast(list[Any], output)[0]
    if not isinstance(steps, list | str | dict):
        return INFERENCE_ERROR, None
    message = last_message(list(cast(Iterable[Any], steps)), family)
    if not message:
        return NO_MESSAGE, message
    return (None if is_in(truth, message) else NOT_FOUND), message


def last_message(steps: Sequence[Any], family: str) -> Any:
    """Return the last step without a call, or None."""
    return next((step for step in reversed(steps) if not executable_calls(step, family)), None)


def is_in(truth: Sequence[str], message: Any) -> bool:
    """Return whether a message contains an acceptable answer as whole words, ignoring punctuation."""
    text = standardize(answer_text(message))
    return any(_whole_words(answer).search(text) for answer in truth)


def answer_text(message: Any) -> str:
    """Return the text of a message, or of the first item of a list."""
    if isinstance(message, list):
        message = cast(list[Any], message)[0]
    return message if isinstance(message, str) else str(message)


def search_details(truth: Sequence[str], message: Any) -> dict[str, Any]:
    """Return the details of a missing answer for the official score file."""
    text = answer_text(message)
    return {
        "model_response": text,
        "possible_answers": truth,
        "standardized_model_response": standardize(text),
        "standardized_possible_answers": [standardize(answer) for answer in truth],
    }


def standardize(text: str) -> str:
    """Lowercase a text and remove ignored punctuation."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


@lru_cache(maxsize=4096)
def _whole_words(answer: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(standardize(answer))}\b")
