"""What only one benchmark shows: case views, words of the list, notes, and its own shape of Live, by suite format.

`suite_view` is what the screens ask and `registry` finds it.
"""
