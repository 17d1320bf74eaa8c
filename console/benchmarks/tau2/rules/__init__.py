"""Rules of the verdict: tasks, replay, evaluation, metrics and blame. Pure."""
