"""Which view a run has, by the format of its suite; of a run whose format is not known, by what it recorded.

Our own views are imported when a run is first shown. Those of other packages are imported only for a run of their
format, by `load_view`, which may take seconds and belongs in a thread. A fault in their code costs what it was to draw
and nothing else: the standard is shown in its place.
"""

from collections.abc import Callable, Collection
from functools import cache
from importlib import import_module

from console.core.fault import UsageError
from console.core.run import Manifest
from console.suites.plugins import load_point
from console.tui.suite_views.guarded import GuardedView
from console.tui.suite_views.suite_view import NoteBlock, SuiteView

GROUP = "eval_console.views"
"""Entry point group of views from other packages, by the name of their suite format."""
_OWN = {
    "aidanbench": "console.tui.suite_views.aidanbench:AidanBenchView",
    "bfcl": "console.tui.suite_views.bfcl:BfclView",
    "cavebench": "console.tui.suite_views.cavebench:CaveBenchView",
}
STANDARD = SuiteView()
"""The view of a suite that shows nothing in its own way."""
_loaded: dict[str, SuiteView] = {}
"""Views of other packages that were loaded; by format."""


def find_view(manifest: Manifest, score_names: Collection[str], format_name: str = "") -> SuiteView:
    """Return the view of a run, at once.

    Args:
        manifest: the run's.
        score_names: scores that were recorded so far.
        format_name: format of the run's suite; empty while it is not known.
    """
    by_format = _own_views().get(format_name) or _loaded.get(format_name)
    if by_format is not None:
        return by_format
    return next((view for view in _own_views().values() if view.recognizes(manifest, score_names)), STANDARD)


def load_view(format_name: str) -> str:
    """Load the view that another package offers for a format, if it does; slow, so call it in a thread.

    Returns:
        Why it cannot be shown, in a sentence; empty when it can, or when there is none.
    """
    if format_name in _OWN or format_name in _loaded:
        return ""
    from importlib import metadata

    for point in metadata.entry_points(group=GROUP, name=format_name):
        try:
            factory: Callable[[], object] = load_point(point)
            view = factory()
        except UsageError as error:
            return str(error)
        except Exception as error:  # code of another package may fail in any way
            return f"the view of {format_name} cannot be made: {type(error).__name__}: {error}"
        if not isinstance(view, SuiteView):
            return f"the view of {format_name} is no SuiteView"
        _loaded[format_name] = GuardedView(format_name, view)
    return ""


def find_note_block(kind: str) -> NoteBlock | None:
    """Return what draws notes of a kind; None: they are shown as they were recorded."""
    own = _own_note_blocks().get(kind)
    if own is not None:
        return own
    return next((view.note_blocks[kind] for view in _loaded.values() if kind in view.note_blocks), None)


@cache
def _own_views() -> dict[str, SuiteView]:
    return {name: _make(path) for name, path in _OWN.items()}


@cache
def _own_note_blocks() -> dict[str, NoteBlock]:
    return {kind: draw for view in _own_views().values() for kind, draw in view.note_blocks.items()}


def _make(path: str) -> SuiteView:
    """Import a view of ours by its name, so that what is drawn for all need not know what is drawn for one."""
    module, _, name = path.partition(":")
    view: SuiteView = getattr(import_module(module), name)()
    return view
