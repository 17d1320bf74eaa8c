"""Extraction of text between tags in linear time."""


def between(text: str, opening: str, closing: str) -> str:
    """Return the text between the first opening tag and the next closing tag.

    Raises:
        ValueError: no such pair.
    """
    parts = all_between(text, opening, closing, most=1)
    if not parts:
        raise ValueError(f"no {opening} tags")
    return parts[0]


def all_between(text: str, opening: str, closing: str, most: int = -1) -> list[str]:
    """Return the texts between opening tags and the next closing tag; at most `most` unless negative."""
    parts: list[str] = []
    position = 0
    while len(parts) != most:
        start = text.find(opening, position)
        end = text.find(closing, start + len(opening)) if start >= 0 else -1
        if end < 0:
            break
        parts.append(text[start + len(opening) : end])
        position = end + len(closing)
    return parts
