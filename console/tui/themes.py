"""Themes: colours by role: pass, fail, broken, undecided, live, expected, actual, muted.

Pass is blue and fail is orange, so that red-green blindness does not matter; every coloured thing also has a mark or
a word. Text has a contrast of at least 4.5 on whatever it stands on, 7 in the theme made for that; a test holds it.
"""

from collections.abc import Mapping
from typing import Any, cast

from textual.dom import DOMNode
from textual.theme import Theme

DARK_ROLES = {
    "pass": "#6cb6ff",
    "fail": "#f69d50",
    "broken": "#e884b8",
    "undecided": "#dcbdfb",
    "live": "#6bc8b0",
    "expected": "#6cb6ff",
    "actual": "#f69d50",
    "muted": "#98a2ad",
    "focus": "#6bc8b0",
    "line": "#373e47",
    "cursor": "#26354a",
    "cursor-text": "#f0f4f8",
    "cursor-away": "#22272e",
    "cursor-away-text": "#cdd5de",
    "hit": "#57471a",
    "hit-text": "#ffe08a",
}
LIGHT_ROLES = {
    "pass": "#0a58b0",
    "fail": "#a64500",
    "broken": "#a0205f",
    "undecided": "#6a3fb0",
    "live": "#0c6e5c",
    "expected": "#0a58b0",
    "actual": "#a64500",
    "muted": "#59616b",
    "focus": "#0c6e5c",
    "line": "#c5ccd3",
    "cursor": "#d6e4f5",
    "cursor-text": "#0d1722",
    "cursor-away": "#e9edf1",
    "cursor-away-text": "#222a33",
    "hit": "#ffe9a8",
    "hit-text": "#5a4300",
}
CONTRAST_ROLES = {
    "pass": "#66b3ff",
    "fail": "#ffb000",
    "broken": "#ff8acd",
    "undecided": "#e0c3ff",
    "live": "#5cffd1",
    "expected": "#66b3ff",
    "actual": "#ffb000",
    "muted": "#d0d0d0",
    "focus": "#ffff00",
    "line": "#8a8a8a",
    "cursor": "#ffffff",
    "cursor-text": "#000000",
    "cursor-away": "#202020",
    "cursor-away-text": "#ffffff",
    "hit": "#ffff00",
    "hit-text": "#000000",
}
ANSI_ROLES = {
    "pass": "ansi_blue",
    "fail": "ansi_yellow",
    "broken": "ansi_magenta",
    "undecided": "ansi_cyan",
    "live": "ansi_green",
    "expected": "ansi_blue",
    "actual": "ansi_yellow",
    "muted": "ansi_bright_black",
    "focus": "ansi_green",
    "line": "ansi_bright_black",
    "cursor": "ansi_white",
    "cursor-text": "ansi_black",
    "cursor-away": "ansi_default",
    "cursor-away-text": "ansi_default",
    "hit": "ansi_yellow",
    "hit-text": "ansi_black",
}

DARK = "console-dark"
LIGHT = "console-light"
CONTRAST = "console-contrast"
ANSI = "console-ansi"
NAMES = (DARK, LIGHT, CONTRAST, ANSI)


def _common(roles: Mapping[str, str]) -> dict[str, str]:
    return {
        **roles,
        "border": roles["focus"],
        "border-blurred": roles["line"],
        "footer-key-foreground": roles["focus"],
        "block-cursor-background": roles["cursor"],
        "block-cursor-foreground": roles["cursor-text"],
        "input-cursor-background": roles["focus"],
        "scrollbar": roles["line"],
        "scrollbar-hover": roles["muted"],
        "scrollbar-active": roles["focus"],
    }


def themes() -> tuple[Theme, ...]:
    """Return our own themes, in the order in which `Theme: next` goes through them."""
    return (
        Theme(
            name=DARK, primary="#6bc8b0", secondary="#6cb6ff", accent="#6bc8b0", warning="#f69d50", error="#e884b8",
            success="#6cb6ff", foreground="#d1d9e0", background="#15191e", surface="#15191e", panel="#1d232a",
            variables={**_common(DARK_ROLES), "scrollbar-background": "#15191e"},
        ),
        Theme(
            name=LIGHT, primary="#0c6e5c", secondary="#0a58b0", accent="#0c6e5c", warning="#a64500", error="#a0205f",
            success="#0a58b0", foreground="#1d252e", background="#fbfcfd", surface="#fbfcfd", panel="#eef1f4",
            dark=False, variables={**_common(LIGHT_ROLES), "scrollbar-background": "#fbfcfd"},
        ),
        Theme(
            name=CONTRAST, primary="#ffff00", secondary="#66b3ff", accent="#ffff00", warning="#ffb000",
            error="#ff8acd", success="#66b3ff", foreground="#ffffff", background="#000000", surface="#000000",
            panel="#1a1a1a", text_alpha=1.0, variables={**_common(CONTRAST_ROLES), "scrollbar-background": "#000000"},
        ),
        Theme(
            name=ANSI, primary="ansi_green", secondary="ansi_blue", accent="ansi_green", warning="ansi_yellow",
            error="ansi_magenta", success="ansi_blue", foreground="ansi_default", background="ansi_default",
            surface="ansi_default", panel="ansi_default", boost="ansi_default", ansi=True,
            variables={**_common(ANSI_ROLES), "scrollbar-background": "ansi_default",
                       "ansi-background": "ansi_black", "ansi-foreground": "ansi_white",
                       "screen-selection-background": "ansi_white", "screen-selection-foreground": "ansi_black"},
        ),
    )  # fmt: skip


def choose_theme(environment: Mapping[str, str], remembered: str = "") -> str:
    """Return the theme a terminal can show: the plain one for NO_COLOR and few colours, else what was chosen last."""
    if environment.get("NO_COLOR") or environment.get("TERM", "") in ("dumb", "linux", "vt100", "vt220"):
        return ANSI
    return remembered if remembered in NAMES else DARK


def has_black_on_white_cursor(node: DOMNode) -> bool:
    """Whether the cursor line is black on white, so that whatever it holds must give up its own colours."""
    return cast(Any, node).app.theme == CONTRAST


def is_ansi(node: DOMNode) -> bool:
    """Whether the app uses the terminal's own colours, which may be none: what must stand out is then reversed."""
    return cast(Any, node).app.native_ansi_color
