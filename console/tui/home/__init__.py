"""The panes of Home: each shows one part of the shelf and says what was chosen."""
