"""The frame of every site page: head, content policy, landmarks, skip link, and links with keys."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.exchange.exports.html_parts import safe, simulated_notice

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; media-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Allows only the style sheet, the scripts next to the pages, and pictures and sound in the pages."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page of the site."""

    label: str
    """Untrusted text."""
    href: str
    key: str = ""
    """Shortcut key; empty if there is none."""


def anchor(link: Link) -> str:
    """Return a link; its key is announced to screen readers."""
    key = f' data-key="{link.key}" aria-keyshortcuts="{_shortcut(link.key)}"' if link.key else ""
    return f'<a href="{safe(link.href)}"{key}>{safe(link.label)}</a>'


def _shortcut(key: str) -> str:
    return f"Shift+{key}" if key.isupper() else key


def site_page(
    title: str,
    body: Iterable[str],
    *,
    root: str = "",
    up: Sequence[Link] = (),
    scripts: Sequence[str] = (),
    simulated_note: str = "",
) -> str:
    """Return a page.

    Args:
        title: heading and title. Untrusted text.
        body: HTML below the heading.
        root: relative path from the page to the site's root, such as `../`.
        up: the pages above this one.
        scripts: additional scripts, relative to the root.
        simulated_note: which models were simulated; empty if none were.
    """
    mark = f"{safe(simulated_note)}: " if simulated_note else ""
    loads = "".join(f'<script src="{root}{name}" defer></script>' for name in (*scripts, "site.js"))
    trail = f'<nav aria-label="Site">{" › ".join(map(anchor, up))}</nav>' if up else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{mark}{safe(title)}</title><link rel="stylesheet" href="{root}site.css">{loads}</head><body>',
        f'<header><a class="skip" href="#main">Skip to content</a>{trail}</header>',
        f'<main id="main" tabindex="-1"><h1>{safe(title)}</h1>',
        simulated_notice(simulated_note),
        *body,
        "</main></body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def scrolling(label: str, table: str) -> str:
    """Wrap a wide table so that it scrolls separately, also with the keyboard."""
    return f'<div class="wide" role="region" aria-label="{safe(label)}" tabindex="0">{table}</div>' if table else ""
