"""Parts of the Live screen: rows of what runs, the watched conversation, the progress line and the steering keys."""
