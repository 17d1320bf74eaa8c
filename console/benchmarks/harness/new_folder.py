"""Creation of a suite's folder for a task of another harness: suite.toml, and the list of its cases."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

from console.benchmarks.harness.definition import HARNESSES, read_definition
from console.benchmarks.harness.listing import KEPT, list_cases
from console.suites.catalog import read_entry
from console.suites.new_folder import write_suite

_TOML = """\
# {subject}, played by {form} itself in the environment of this Python; nothing of it is copied.
format = "{form}"
title = {title}
{key} = {subject}
python = {python}

# score = "NAME"      the score that decides; the first, if none is named
# threshold = 1.0     its lowest value that passes
# env = ["NAME"]      environment variables for the harness; it needs no model's key

[args]
# parameters of the {key}: name = value

[roles]
# roles of the {key} that another model plays: grader = "judge", user = "user"
"""


def _from_task(form: str, root: Path, name: str, subject: str, python: str) -> tuple[list[Path], list[str]]:
    """Write a suite, list its cases, and return its files and notes on it.

    Raises:
        UsageError: an invalid name, an existing folder, or a harness that cannot list the cases.
    """
    python = str(Path(os.path.expanduser(python)).absolute()) if "/" in python else python
    text = _TOML.format(
        form=form,
        title=json.dumps(subject),
        key=HARNESSES[form].key,
        subject=json.dumps(subject),
        python=json.dumps(python),
    )
    files = write_suite(root, name, {"suite.toml": text})
    folder = root / name
    try:
        listing = list_cases(folder, read_definition(read_entry(folder)))
    except BaseException:
        shutil.rmtree(folder)
        raise
    versions = ", ".join(f"{package} {version}" for package, version in listing.versions.items())
    return [*files, folder / KEPT], [
        f"{len(listing.cases)} cases, listed by {versions}",
        *listing.repeats_words,
    ]


from_inspect = partial(_from_task, "inspect")
from_verifiers = partial(_from_task, "verifiers")
