"""Names for facts that runs imported from other tools' logs hold in addition to our records."""

SOURCE = "source"
"""Kind of the `Performed` record for facts of a foreign log that have no place in our records."""
IN_PLACE = "in_place"
"""In a manifest's extras: the log file that the journal only indexes. In a case's data: its position there."""
NO_JUDGE = "no judge"
"""Key in the extras of an imported run's setting: why no judge can grade its answers."""
