"""What only BFCL shows: an entry of the official data that no output can pass is called known bad."""

from console.core.outcome import Verdict
from console.tui.suite_views.suite_view import HintLabel, SuiteView


class BfclView(SuiteView):
    """Function calls against a ground truth, which the standard views show."""

    def hint_label(self, verdict: Verdict | None) -> HintLabel:
        """Say of an entry that no output can pass that it is known to be bad."""
        if verdict is not None and "known_bad" in verdict.detail:
            return HintLabel("known bad", "$undecided")
        return super().hint_label(verdict)
