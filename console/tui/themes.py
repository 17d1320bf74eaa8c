"""Themes: colors by role: pass, fail, broken, undecided, live, expected, actual, muted.

Pass is blue and fail is orange, readable with red-green blindness; every color is paired with a symbol or a word. Text
has a contrast ratio of at least 4.5 against its background, 7 in the high-contrast theme; a test checks this.
"""

from collections.abc import Mapping
from typing import Any, cast

from textual.dom import DOMNode
from textual.theme import Theme

DARK = "console-dark"
LIGHT = "console-light"
CONTRAST = "console-contrast"
ANSI = "console-ansi"
NAMES = (DARK, LIGHT, CONTRAST, ANSI)

_COLORS = {
    "pass": ("#6cb6ff", "#0a58b0", "#66b3ff", "ansi_blue"),
    "fail": ("#f69d50", "#a64500", "#ffb000", "ansi_yellow"),
    "broken": ("#e884b8", "#a0205f", "#ff8acd", "ansi_magenta"),
    "undecided": ("#dcbdfb", "#6a3fb0", "#e0c3ff", "ansi_cyan"),
    "live": ("#6bc8b0", "#0c6e5c", "#5cffd1", "ansi_green"),
    "expected": ("#6cb6ff", "#0a58b0", "#66b3ff", "ansi_blue"),
    "actual": ("#f69d50", "#a64500", "#ffb000", "ansi_yellow"),
    "muted": ("#98a2ad", "#59616b", "#d0d0d0", "ansi_bright_black"),
    "focus": ("#6bc8b0", "#0c6e5c", "#ffff00", "ansi_green"),
    "line": ("#373e47", "#c5ccd3", "#8a8a8a", "ansi_bright_black"),
    "cursor": ("#26354a", "#d6e4f5", "#ffffff", "ansi_white"),
    "cursor-text": ("#f0f4f8", "#0d1722", "#000000", "ansi_black"),
    "cursor-away": ("#22272e", "#e9edf1", "#202020", "ansi_default"),
    "cursor-away-text": ("#cdd5de", "#222a33", "#ffffff", "ansi_default"),
    "hit": ("#57471a", "#ffe9a8", "#ffff00", "ansi_yellow"),
    "hit-text": ("#ffe08a", "#5a4300", "#000000", "ansi_black"),
}
"""Color of each role in each theme, in the order of `NAMES`."""


def roles_of(name: str) -> dict[str, str]:
    """Return the color of each role in one of our themes."""
    index = NAMES.index(name)
    return {role: colors[index] for role, colors in _COLORS.items()}


def _variables(name: str, background: str) -> dict[str, str]:
    roles = roles_of(name)
    return {
        **roles,
        "border": roles["focus"],
        "border-blurred": roles["line"],
        "footer-key-foreground": roles["focus"],
        "block-cursor-background": roles["cursor"],
        "block-cursor-foreground": roles["cursor-text"],
        "input-cursor-background": roles["focus"],
        "scrollbar": roles["line"],
        "scrollbar-background": background,
        "scrollbar-hover": roles["muted"],
        "scrollbar-active": roles["focus"],
    }


def themes() -> tuple[Theme, ...]:
    """Return our themes, in the order in which `Theme: next` cycles through them."""
    return (
        Theme(
            name=DARK, primary="#6bc8b0", secondary="#6cb6ff", accent="#6bc8b0", warning="#f69d50", error="#e884b8",
            success="#6cb6ff", foreground="#d1d9e0", background="#15191e", surface="#15191e", panel="#1d232a",
            variables=_variables(DARK, "#15191e"),
        ),
        Theme(
            name=LIGHT, primary="#0c6e5c", secondary="#0a58b0", accent="#0c6e5c", warning="#a64500", error="#a0205f",
            success="#0a58b0", foreground="#1d252e", background="#fbfcfd", surface="#fbfcfd", panel="#eef1f4",
            dark=False, variables=_variables(LIGHT, "#fbfcfd"),
        ),
        Theme(
            name=CONTRAST, primary="#ffff00", secondary="#66b3ff", accent="#ffff00", warning="#ffb000",
            error="#ff8acd", success="#66b3ff", foreground="#ffffff", background="#000000", surface="#000000",
            panel="#1a1a1a", text_alpha=1.0, variables=_variables(CONTRAST, "#000000"),
        ),
        Theme(
            name=ANSI, primary="ansi_green", secondary="ansi_blue", accent="ansi_green", warning="ansi_yellow",
            error="ansi_magenta", success="ansi_blue", foreground="ansi_default", background="ansi_default",
            surface="ansi_default", panel="ansi_default", boost="ansi_default", ansi=True,
            variables={**_variables(ANSI, "ansi_default"),
                       "ansi-background": "ansi_black", "ansi-foreground": "ansi_white",
                       "screen-selection-background": "ansi_white", "screen-selection-foreground": "ansi_black"},
        ),
    )  # fmt: skip


def choose_theme(environment: Mapping[str, str], remembered: str = "") -> str:
    """Return the ANSI theme for NO_COLOR or a terminal with few colors, else the remembered one."""
    if environment.get("NO_COLOR") or environment.get("TERM", "") in ("dumb", "linux", "vt100", "vt220"):
        return ANSI
    return remembered if remembered in NAMES else DARK


def has_black_on_white_cursor(node: DOMNode) -> bool:
    """Return whether the cursor row is black on white, so that its contents must drop their own colors."""
    return cast(Any, node).app.theme == CONTRAST


def is_ansi(node: DOMNode) -> bool:
    """Return whether the app uses the terminal's own colors; there may be none, so highlights are reversed instead."""
    return cast(Any, node).app.native_ansi_color
