"""What an imported conversation holds besides our own records: its source, verbatim."""

SOURCE = "source"
"""Kind of the `Performed` that keeps what a foreign log says and has no place in our records."""
