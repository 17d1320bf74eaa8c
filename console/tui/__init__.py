"""The terminal app: a viewer and controller of runs. The only package that imports Textual."""
