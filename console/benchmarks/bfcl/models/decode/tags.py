"""The text between two tags, found in linear time however often the first one stands there."""


def between(text: str, opening: str, closing: str) -> str:
    """Return what stands between the first opening tag and the next closing one.

    Raises:
        ValueError: there is no such pair.
    """
    parts = all_between(text, opening, closing, most=1)
    if not parts:
        raise ValueError(f"no {opening} tags")
    return parts[0]


def all_between(text: str, opening: str, closing: str, most: int = -1) -> list[str]:
    """Return what stands between every opening tag and the closing one next to it, without overlaps.

    Args:
        text: to be searched.
        opening: the first tag.
        closing: the second tag.
        most: how many are looked for; negative: all.
    """
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
