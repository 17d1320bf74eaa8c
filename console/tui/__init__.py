"""The terminal app: a viewer and controller of runs. The only room that imports Textual."""
