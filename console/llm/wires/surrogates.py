"""Lone UTF-16 surrogates, which JSON can carry and no file and no terminal can.

Halves that belong together, even from two deltas of a stream, become the character they are; a lone one becomes U+FFFD
and is flagged, so that every text that leaves this room is valid Unicode.
"""

FLAG = "surrogates replaced"


def repair_surrogates(text: str) -> tuple[str, bool]:
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
    """Repairs the surrogates of a text that arrives in deltas."""

    def __init__(self) -> None:
        self._first_half = ""
        self.replaced = False

    def feed(self, delta: str) -> str:
        """Return the delta repaired; a first half at its end is kept back until the second may come."""
        if not self._first_half and delta.isascii():
            return delta
        text = self._first_half + delta
        self._first_half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._first_half = text[:-1], text[-1]
        text, replaced = repair_surrogates(text)
        self.replaced = self.replaced or replaced
        return text

    def end(self) -> str:
        """Return what was kept back."""
        if not self._first_half:
            return ""
        self._first_half, self.replaced = "", True
        return "\ufffd"
