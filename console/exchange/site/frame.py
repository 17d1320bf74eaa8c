"""What every page of a site has: head, content policy, landmarks, skip link, and links that keys follow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from console.exchange.exports.html_parts import SIMULATED, safe

_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded but the style sheet and the scripts beside the pages."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page of the site."""

    label: str
    """Foreign text."""
    href: str
    key: str = ""
    """The key that follows it; empty: none."""


def anchor(link: Link) -> str:
    """Return a link; its key is said to screen readers, too."""
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
    simulated: bool = False,
) -> str:
    """Return a whole page.

    Args:
        title: heading and title. Foreign text.
        body: what stands below the heading, HTML.
        root: the way from the page to the site's root, such as `../`.
        up: the pages above this one.
        scripts: further scripts, from the root.
        simulated: whether any of it comes from a simulated model.
    """
    mark = "simulated: " if simulated else ""
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
        SIMULATED if simulated else "",
        *body,
        "</main></body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def scrolling(label: str, table: str) -> str:
    """Return a wide table that scrolls by itself, with the keyboard, too, instead of the whole page."""
    return f'<div class="wide" role="region" aria-label="{safe(label)}" tabindex="0">{table}</div>' if table else ""
