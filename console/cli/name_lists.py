"""Options with several items: repeated, or separated by commas."""


def split(texts: list[str]) -> tuple[str, ...]:
    """Return the comma-separated items of repeated options, in order, without duplicates."""
    items = (item.strip() for text in texts for item in text.split(","))
    return tuple(dict.fromkeys(item for item in items if item))
