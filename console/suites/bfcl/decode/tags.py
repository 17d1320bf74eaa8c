"""The text between two tags, found in linear time however often the first one stands there."""


def between(text: str, opening: str, closing: str) -> str:
    """Return what stands between the first opening tag and the next closing one.

    Raises:
        ValueError: there is no such pair.
    """
    start = text.find(opening)
    end = text.find(closing, start + len(opening)) if start >= 0 else -1
    if end < 0:
        raise ValueError(f"no {opening} tags")
    return text[start + len(opening) : end]
