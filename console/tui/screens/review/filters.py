"""`FilterActions`: what Review lists and how it is grouped, by keys and by what is typed into the find bar."""

from collections.abc import Callable

from console.insight.failures import GroupBy
from console.tui.sanitize import literal
from console.tui.screens.review.controller import NOT_REVIEWED, ReviewController
from console.tui.screens.review.search import RunSearch
from console.tui.services import Services

_GROUPING_KEY = "review.by"
"""Under which the grouping is remembered."""


class FilterActions:
    """Filters and groups the list."""

    def __init__(
        self, services: Services, controller: ReviewController, search: RunSearch, draw: Callable[[], None]
    ) -> None:
        """Filter the controller's list, also by what the search finds in conversations; `draw` draws what is stale."""
        self._services = services
        self._controller = controller
        self._search = search
        self._draw = draw

    def narrow(self, text: str, *, done: bool) -> None:
        """Apply the filter being typed; when `done`, announce what is wrong with it."""
        mistake = self._controller.narrow(text, done=done)
        if mistake and done:
            self._services.notify(literal(mistake), severity="warning")
        self._search.look_for(self._controller.triage.narrow.words)
        self._controller.relist()
        self._draw()

    def action_filter_fail(self) -> None:
        """List only what failed."""
        self._set_scope("is:failed")

    def action_filter_all(self) -> None:
        """List everything, passes too."""
        self._set_scope("")

    def action_filter_broken(self) -> None:
        """List only what is broken."""
        self._set_scope("is:broken")

    def action_filter_disputed(self) -> None:
        """List only cases whose ground truth is disputed, passed ones too."""
        self._set_scope("is:disputed")

    def action_filter_untagged(self) -> None:
        """List only what nobody has tagged."""
        self._add("tag:none")

    def action_filter_unseen(self) -> None:
        """List only what nobody has dealt with."""
        self._add(NOT_REVIEWED)

    def action_filter_reason(self) -> None:
        """List only the current case's reason."""
        rollout = self._controller.rollout
        if rollout is not None and rollout.reason:
            subject = [_term("subject", rollout.subject)] if rollout.subject else []
            self._add(_term("error", rollout.reason), *subject)

    def action_filter_category(self) -> None:
        """List only the current case's category."""
        rollout = self._controller.rollout
        if rollout is not None and rollout.category:
            self._add(_term("cat", rollout.category))

    def action_filter_clear(self) -> None:
        """List what Review opens on again."""
        self._controller.clear_filter()
        self._draw()

    def _set_scope(self, text: str) -> None:
        self._controller.set_scope(text)
        self._draw()

    def _add(self, *terms: str) -> None:
        self._controller.add_to_filter(*terms)
        self._draw()

    def restore_grouping(self) -> None:
        """Group as the reader did when the app was last open."""
        by = self._services.ui_state.text(_GROUPING_KEY)
        if by in {grouping.value for grouping in GroupBy}:
            self._controller.triage.regroup(GroupBy(by))

    def _group(self, by: GroupBy) -> None:
        self._controller.regroup(by)
        self._services.ui_state.keep(_GROUPING_KEY, by.value)
        self._draw()

    def action_group_reason(self) -> None:
        """Group by reason."""
        self._group(GroupBy.REASON)

    def action_group_error(self) -> None:
        """Group by the official error type."""
        self._group(GroupBy.ERROR)

    def action_group_parameter(self) -> None:
        """Group by what the grader named."""
        self._group(GroupBy.PARAMETER)

    def action_group_category(self) -> None:
        """Group by category."""
        self._group(GroupBy.CATEGORY)

    def action_group_function(self) -> None:
        """Group by function."""
        self._group(GroupBy.FUNCTION)

    def action_group_tag(self) -> None:
        """Group by tag."""
        self._group(GroupBy.TAG)

    def action_group_none(self) -> None:
        """Do not group."""
        self._group(GroupBy.NONE)


def _term(field: str, value: str) -> str:
    """Return a filter term for a recorded value; quotes and commas in it cannot be searched for and end it."""
    return f'{field}:"{value.split(chr(34))[0].split(",")[0]}"'
