"""Names for facts in runs imported from other tools' logs, in addition to our records."""

SOURCE = "source"
"""Kind of the `Performed` record for facts of another tool's log without a field in our records."""
IN_PLACE = "in_place"
"""In a manifest's extras: the log file that the journal only indexes. In a case's data: its position there."""
NO_JUDGE = "no judge"
"""Key in the extras of an imported run's setting: reason why no judge can grade its answers."""
