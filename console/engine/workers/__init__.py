"""A run that workers play: the engine stays the one writer of its journal, and workers hold nothing that must last."""
