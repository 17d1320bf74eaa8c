"""Shell commands to copy; each works as is in the folder where the app was started."""

import shlex
from collections.abc import Sequence

from console.config.paths import WorkspacePaths
from console.store.runs import RunFolder


def command(verb: str, *words: str, places: WorkspacePaths) -> str:
    """Return a shell command, quoted.

    Args:
        verb: the verb of eval-console.
        words: its arguments, unquoted. May be untrusted text.
        places: paths given to the app, passed on so that the command finds the same models, data and runs.
    """
    return shlex.join(["eval-console", verb, *words, *places.flags])


def run_words(runs: Sequence[RunFolder], case: str = "") -> list[str]:
    """Return arguments that name runs, the last with the case; a name like an option becomes a path."""
    names = [str(run.path) if run.name.startswith("-") else run.name for run in runs]
    return [*names[:-1], f"{names[-1]}#{case}"] if case else names
