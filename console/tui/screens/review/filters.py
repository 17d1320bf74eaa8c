"""What Review lists: filters and groupings, as action methods."""

from console.core.fault import UsageError
from console.insight.failures import GroupBy
from console.insight.filter import Filter, read_filter
from console.tui.sanitize import literal
from console.tui.screens.review.search import Finding
from console.tui.screens.review.triage import FAILURES

UNSEEN = "!is:reviewed"
"""What nobody has dealt with."""
_SCOPES = {
    FAILURES: "failures",
    "": "everything",
    "is:failed": "failed only",
    "is:broken": "broken only",
    "is:disputed": "disputed only",
}


_BY = {GroupBy.ERROR: "error type"}


class Choosing(Finding):
    """Filters and groups of the list."""

    filter_mistake = ""
    """What is wrong with the filter being typed."""

    def chosen_words(self) -> str:
        """Return in words what is listed; parts may be foreign text."""
        scope = _SCOPES.get(self.triage.scope.text, self.triage.scope.text)
        scope = "all loops" if self.loops and not self.triage.scope.text else scope
        by = "" if self.triage.by is GroupBy.NONE else f"by {_BY.get(self.triage.by, self.triage.by.value)}"
        return " · ".join(part for part in (scope, by, self.triage.narrow.text) if part)

    def narrow_to(self, text: str, *, done: bool) -> None:
        """Apply the filter being typed; one that cannot be read filters nothing and says why."""
        try:
            self.triage.narrow = read_filter(text)
            self.filter_mistake = ""
        except UsageError as error:
            self.triage.narrow = Filter()
            self.filter_mistake = f"{error.message}. {error.hint}"
            if done:
                self.services.notify(literal(str(error)), severity="warning")
                self.filter_mistake = ""
        self.look_for_words()
        self.relist()

    def _show_scope(self, text: str) -> None:
        self.triage.scope = read_filter(text)
        self.relist()

    def _add(self, term: str) -> None:
        text = f"{self.triage.narrow.text} {term}".strip()
        self.triage.narrow = read_filter(text)
        self.relist()

    def action_filter_fail(self) -> None:
        """List only what failed."""
        self._show_scope("is:failed")

    def action_filter_all(self) -> None:
        """List everything, passes too."""
        self._show_scope("")

    def action_filter_broken(self) -> None:
        """List only what is broken."""
        self._show_scope("is:broken")

    def action_filter_disputed(self) -> None:
        """List only cases whose ground truth is disputed, passed ones too."""
        self._show_scope("is:disputed")

    def action_filter_untagged(self) -> None:
        """List only what nobody has tagged."""
        self._add("tag:none")

    def action_filter_unseen(self) -> None:
        """List only what nobody has dealt with."""
        self._add(UNSEEN)

    def action_filter_reason(self) -> None:
        """List only the current case's reason."""
        rollout = self.rollout
        if rollout is not None and rollout.reason:
            self._add(_term("error", rollout.reason))
            if rollout.subject:
                self._add(_term("subject", rollout.subject))

    def action_filter_category(self) -> None:
        """List only the current case's category."""
        rollout = self.rollout
        if rollout is not None and rollout.category:
            self._add(_term("cat", rollout.category))

    def action_filter_clear(self) -> None:
        """List what Review opens on again."""
        self.triage.scope, self.triage.narrow = read_filter(self.triage.home), Filter()
        self.relist()

    def group_as_before(self) -> None:
        """Group as the reader did when the app was last open."""
        by = self.services.ui_state.text("review.by")
        if by in {one.value for one in GroupBy}:
            self.triage.regroup(GroupBy(by))

    def _group(self, by: GroupBy) -> None:
        self.triage.regroup(by)
        self.services.ui_state.keep("review.by", by.value)
        self.relist()

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
