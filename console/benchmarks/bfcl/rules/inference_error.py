"""Results that record an error instead of an answer, told apart by what they begin with.

Officially every exception while an entry is generated becomes its result. Where nothing was answered, the machinery
failed; where an answer broke the handler, the model did, and its result is judged like any other.
"""

from typing import Any

INFERENCE_ERROR = "Error during inference:"
"""How the official tool begins the result of an inference that failed."""
_BROKE_HANDLER = f"{INFERENCE_ERROR} the answer has another form than the handler takes"


def broken_handler(error: Exception) -> str:
    """Return the result of an entry that ended because an answer broke the handler."""
    return f"{_BROKE_HANDLER}: {error}"


def is_unanswered(output: Any) -> bool:
    """Whether an output records that the model could not be asked."""
    return isinstance(output, str) and output.startswith(INFERENCE_ERROR) and not output.startswith(_BROKE_HANDLER)
