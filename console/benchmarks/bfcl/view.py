"""View of BFCL: marks official entries that no output can pass."""

from console.core.outcome import Verdict
from console.tui.suite_views.suite_view import HintLabel, SuiteView


class BfclView(SuiteView):
    """The standard views, with a label for known bad entries."""

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        """Return the label of entries that no output can pass, or the default."""
        if verdict is not None and "known_bad" in verdict.detail:
            return HintLabel("known bad", "$undecided")
        return super().hint_label(verdict)
