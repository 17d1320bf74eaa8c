"""What runs of other tools' logs hold besides our own records."""

SOURCE = "source"
"""Kind of the `Performed` that keeps what a foreign log says and has no place in our records."""
IN_PLACE = "in_place"
"""In the extras of a manifest: the log file that its journal only lists; in the data of a case: its place in it."""
