"""`Stale`: parts of the Review screen to redraw."""

from enum import Flag, auto


class Stale(Flag):
    """Parts of the screen to redraw."""

    NOTHING = 0
    LIST = auto()
    CASE = auto()
    FIGURES = auto()
