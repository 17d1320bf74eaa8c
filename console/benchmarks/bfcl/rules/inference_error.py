"""Results that are errors instead of answers, recognized by their prefix.

Officially, every exception during generation becomes the entry's result. Without an answer, the machinery failed; if an
answer crashed the handler, the model failed and the result is scored.
"""

from typing import Any

INFERENCE_ERROR = "Error during inference:"
"""Official prefix of the result of a failed inference."""
_BROKE_HANDLER = f"{INFERENCE_ERROR} the answer has another form than the handler takes"


def broken_handler(error: Exception) -> str:
    """Return the result of an entry whose answer crashed the handler."""
    return f"{_BROKE_HANDLER}: {error}"


def is_unanswered(output: Any) -> bool:
    """Return whether an output is a failed inference without an answer."""
    return isinstance(output, str) and output.startswith(INFERENCE_ERROR) and not output.startswith(_BROKE_HANDLER)
