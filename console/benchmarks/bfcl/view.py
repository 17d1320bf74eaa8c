"""BFCL's view: official entries that no output can pass are labeled as known bad."""

from console.core.outcome import Verdict
from console.tui.suite_views.suite_view import HintLabel, SuiteView


class BfclView(SuiteView):
    """The standard view with another hint label."""

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        if verdict is not None and "known_bad" in verdict.detail:
            return HintLabel("known bad", "$undecided")
        return super().hint_label(verdict)
