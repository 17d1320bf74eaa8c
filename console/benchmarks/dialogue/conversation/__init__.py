"""Playing a case: turns, canned tool results, judges."""
