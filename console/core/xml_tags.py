"""What stands between `<name>` and `</name>`, found in one pass however often either of them occurs."""

from collections.abc import Iterator


def tag_contents(text: str, tag: str) -> Iterator[str]:
    """Yield the content of each pair of a tag, in order and as written."""
    return contents_between(text, f"<{tag}>", f"</{tag}>")


def contents_between(text: str, opening: str, closing: str) -> Iterator[str]:
    """Yield what stands between each pair of two marks, in order and as written.

    A pair begins at the first opening mark that is not inside an earlier pair and ends at the next closing one. So the
    result is that of searching for `opening(.*?)closing` over lines, whose time grows with the square of the number of
    opening marks that nothing closes.
    """
    start = text.find(opening)
    while start >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        yield text[start:end]
        start = text.find(opening, end + len(closing))
