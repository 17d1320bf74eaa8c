"""What decides verdicts: tasks, replay, evaluation, metrics and blame. Pure."""
