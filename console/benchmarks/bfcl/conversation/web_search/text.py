"""Conversion of HTML to plain text (`truncate`) or Markdown (`markdown`), without scripts, styles and templates.

Accepts malformed HTML.
"""

import re
from html.parser import HTMLParser

_LEFT_OUT = frozenset(("script", "style", "template"))
_BLOCKS = frozenset(
    (
        "p",
        "div",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "nav",
        "aside",
        "ul",
        "ol",
        "table",
        "form",
        "figure",
    )
)
_MARKS = {"b": "**", "strong": "**", "i": "_", "em": "_", "code": "`"}
_TRAILING = re.compile(r"[ \t\r\f\v]+\n")


class _Reader(HTMLParser):
    """Collects visible text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _LEFT_OUT:
            self._hidden.append(tag)
        elif not self._hidden:
            self.open_tag(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.pop()
            return
        self.close_tag(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text(data)

    def open_tag(self, tag: str, attributes: dict[str, str | None]) -> None:
        """Handle the start of an element."""

    def close_tag(self, tag: str) -> None:
        """Handle the end of an element."""

    def text(self, data: str) -> None:
        self.parts.append(data)


class _MarkdownReader(_Reader):
    """Converts headings, links, lists and emphasis to Markdown."""

    def __init__(self) -> None:
        super().__init__()
        self._lists: list[int | None] = []
        self._links: list[str] = []
        self._verbatim = 0

    def open_tag(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n\n")
        if tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif re.fullmatch("h[1-6]", tag):
            self.parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self.parts.append(f"\n{self._bullet()}")
        elif tag == "a":
            self._links.append(attributes.get("href") or "")
            self.parts.append("[")
        elif tag == "pre":
            self._verbatim += 1
            self.parts.append("\n\n```\n")
        else:
            self.parts.append({"br": "\n", "tr": "\n", "hr": "\n\n* * *\n\n"}.get(tag, _MARKS.get(tag, "")))

    def close_tag(self, tag: str) -> None:
        if tag in _BLOCKS or re.fullmatch("h[1-6]", tag):
            self.parts.append("\n\n")
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "a" and self._links:
            self.parts.append(f"]({self._links.pop()})")
        elif tag == "pre" and self._verbatim:
            self._verbatim -= 1
            self.parts.append("\n```\n\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        else:
            self.parts.append(_MARKS.get(tag, ""))

    def text(self, data: str) -> None:
        if not self._verbatim:
            data = re.sub(r"\s+", " ", data)
            if not self.parts or self.parts[-1].endswith("\n"):
                data = data.lstrip()
        if data:
            self.parts.append(data)

    def _bullet(self) -> str:
        indent = "  " * len(self._lists)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}* "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "


def plain_text(html: str) -> str:
    """Return the text of a page, stripped, one text node per line."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "\n".join(text for part in reader.parts if (text := part.strip()))


def markdown(html: str) -> str:
    """Convert a page to Markdown, without images, forms and layout."""
    reader = _MarkdownReader()
    reader.feed(html)
    reader.close()
    joined = _TRAILING.sub("\n", "".join(reader.parts))
    return re.sub(r"\n{3,}", "\n\n", joined).strip("\n") + "\n"
