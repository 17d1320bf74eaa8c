"""The panes of Home: each shows one part of the workspace and says what was chosen."""
