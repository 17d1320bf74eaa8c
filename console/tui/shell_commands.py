"""Shell commands that readers copy: each runs as it stands, in the folder where the app was opened."""

import shlex
from collections.abc import Sequence

from console.config.paths import WorkspacePaths
from console.store.runs import RunFolder


def command(verb: str, *words: str, places: WorkspacePaths) -> str:
    """Return the command of a verb.

    Args:
        verb: its name.
        words: what comes after it, unquoted. May be foreign text.
        places: where the app was told to look for models, data and runs, so that the command finds the same.
    """
    named = (("--models", places.models), ("--data", places.data), ("--runs", places.runs))
    options = [word for option, path in named if path is not None for word in (option, str(path))]
    return shlex.join(["eval-console", verb, *words, *options])


def run_words(runs: Sequence[RunFolder], case: str = "") -> list[str]:
    """Return how a command names runs, with a case the last one: by path where a name would be taken for an option."""
    names = [str(run.path) if run.name.startswith("-") else run.name for run in runs]
    return [*names[:-1], f"{names[-1]}#{case}"] if case else names
