"""Texts that would hurt a terminal, a markup parser or a layout."""

HOSTILE = (
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x9b31m\x9d52;c;eA==\x9c",
    "a\u202eb\u2066c\u2069d\u200fe",
    "zero\u200bwidth\ufeff\u2060\U000e0041",
    "lone \ud83d surrogate \udc00",
    "[/x][red]not red[/red][@click=app.quit]click[/]",
    "[link=http://evil.example]x[/link] [[[ ]]] \\[",
    "back\x08space\rreturn\x0bvertical\x0cform\x7fdelete\x00nul",
    "$fail $(rm -rf) `id` %s {0} {self.__class__}",
    "👩‍👩‍👧 é́́́ 漢字かな ﷽ 𝕏",
    "line\u2028sep\u2029par\x85nel",
)
"""Texts that would hurt a terminal, a markup parser or a layout."""
