"""The check of memory and web-search answers: does the last message hold an acceptable answer as whole words?

Only the last message that is not a call counts, whatever its form; the `answer` field is not parsed. An answer that
happens to look like a call is taken for one.
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
    """Return the official error type (None: right) and the last message that was judged.

    Args:
        output: the recorded list of turns of steps; only one turn is an answer. A text in place of the steps is taken
            letter by letter, as the official scorer does.
        truth: acceptable answers.
        family: the decode family; how steps are told from calls.
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
    """Return the last step that holds no call, or None."""
    return next((step for step in reversed(steps) if not executable_calls(step, family)), None)


def is_in(truth: Sequence[str], message: Any) -> bool:
    """Whether an acceptable answer occurs in a message, between word boundaries, after dropping punctuation."""
    text = standardize(answer_text(message))
    return any(_whole_words(answer).search(text) for answer in truth)


def answer_text(message: Any) -> str:
    """Return the text of a message; of a list that of its first element."""
    if isinstance(message, list):
        message = cast(list[Any], message)[0]
    return message if isinstance(message, str) else str(message)


def search_details(truth: Sequence[str], message: Any) -> dict[str, Any]:
    """Return what the official score file says of a search in vain."""
    text = answer_text(message)
    return {
        "model_response": text,
        "possible_answers": truth,
        "standardized_model_response": standardize(text),
        "standardized_possible_answers": [standardize(answer) for answer in truth],
    }


def standardize(text: str) -> str:
    """Return a text without the punctuation that does not count, in lower case."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


@lru_cache(maxsize=4096)
def _whole_words(answer: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(standardize(answer))}\b")
