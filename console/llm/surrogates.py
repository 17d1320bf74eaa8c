"""Half characters: JSON can carry lone UTF-16 surrogates, which no file and no terminal can.

Halves that belong together, even from two deltas of a stream, become the character they are; a lone one becomes U+FFFD
and is flagged, so that every text that leaves this room is valid Unicode.
"""

FLAG = "surrogates replaced"


def mend(text: str) -> tuple[str, bool]:
    """Return the text with surrogates joined or replaced, and whether any had to be replaced."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return joined, _lone(text)
    return text, False


def _lone(text: str) -> bool:
    try:
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return True
    return False


class SurrogateJoiner:
    """Mends a text that arrives in deltas."""

    def __init__(self) -> None:
        """Begin a text."""
        self._held = ""
        self.replaced = False

    def feed(self, delta: str) -> str:
        """Return the delta mended; a first half at its end is held back until the second may come."""
        if not self._held and delta.isascii():
            return delta
        text = self._held + delta
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        text, replaced = mend(text)
        self.replaced = self.replaced or replaced
        return text

    def end(self) -> str:
        """Return what was held back."""
        if not self._held:
            return ""
        self._held, self.replaced = "", True
        return "\ufffd"
