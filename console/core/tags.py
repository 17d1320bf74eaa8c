"""What stands between `<name>` and `</name>`, found in one pass however often either of them occurs."""

from collections.abc import Iterator


def tag_contents(text: str, tag: str) -> Iterator[str]:
    """Yield the content of each pair of a tag, in order and as written.

    A pair begins at the first opening tag that is not inside an earlier pair and ends at the next closing one, whatever
    stands between them; so the result is that of searching for `<tag>(.*?)</tag>` over lines, whose time grows with the
    square of the number of opening tags that nothing closes.
    """
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    while start >= 0:
        start += len(opening)
        end = text.find(closing, start)
        if end < 0:
            return
        yield text[start:end]
        start = text.find(opening, end + len(closing))
