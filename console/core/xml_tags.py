"""Extraction of the content between `<name>` and `</name>` in linear time."""

from collections.abc import Iterator


def tag_contents(text: str, tag: str) -> Iterator[str]:
    """Yield the content of each pair of a tag, in order and verbatim."""
    return contents_between(text, f"<{tag}>", f"</{tag}>")


def contents_between(text: str, opening: str, closing: str) -> Iterator[str]:
    """Yield the content between each pair of marks, in order and verbatim.

    A pair begins at the first opening mark outside an earlier pair and ends at the next closing one. The result equals
    searching for `opening(.*?)closing` over lines, which takes quadratic time if many opening marks are never closed.
    """
    start = text.find(opening)
    while start >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        yield text[start:end]
        start = text.find(opening, end + len(closing))
