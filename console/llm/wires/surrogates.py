"""Repairs UTF-16 surrogates, which JSON can carry but files and terminals cannot.

Pairs, even from two deltas of a stream, become their character; a lone one becomes U+FFFD and is flagged, so that all
text leaving `llm` is valid Unicode.
"""

FLAG = "surrogates replaced"


def repair_surrogates(text: str) -> tuple[str, bool]:
    """Return the text with surrogates joined or replaced, and True if any was replaced."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined, _has_lone(text)
    return text, False


def _has_lone(text: str) -> bool:
    try:
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return True
    return False


class SurrogateJoiner:
    """Repairs the surrogates of streamed text."""

    def __init__(self) -> None:
        self._high_surrogate = ""
        self.replaced = False

    def feed(self, delta: str) -> str:
        """Return the repaired delta; a high surrogate at its end is held back for the next one."""
        if not self._high_surrogate and delta.isascii():
            return delta
        text = self._high_surrogate + delta
        self._high_surrogate = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._high_surrogate = text[:-1], text[-1]
        text, replaced = repair_surrogates(text)
        self.replaced = self.replaced or replaced
        return text

    def end(self) -> str:
        """Return the text held back."""
        if not self._high_surrogate:
            return ""
        self._high_surrogate, self.replaced = "", True
        return "\ufffd"
