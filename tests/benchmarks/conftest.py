"""The command line and the app, for tests of what a benchmark shows in them."""

from cli.conftest import console, finished, home
from tui.conftest import all_hostile, assert_frame, frame, hostile, hostile_some, opened, settle_fixture, workspace

__all__ = [
    "all_hostile",
    "assert_frame",
    "console",
    "finished",
    "frame",
    "home",
    "hostile",
    "hostile_some",
    "opened",
    "settle_fixture",
    "workspace",
]
