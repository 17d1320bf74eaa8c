"""Shell completion of verbs, options and existing values, such as models and runs.

Values are completed by their metavar in the help (RUN, NAME …) and by option, so that a new verb needs no code here.
Values of an invalid file are not offered.
"""

import argparse
import contextlib
import os
import shlex
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, cast

from console.cli.parser import HIDDEN, Arguments, Parser, VerbParser, all_verbs, build, verbs_of
from console.core.fault import UsageError

Values = Callable[[Arguments, str], Iterable[str]]
"""Function from the words on the line and a prefix to matching words."""
MOST_RUNS = 200
"""Number of newest runs offered."""
MOST_BYTES = 20_000_000
"""Maximum size of a journal whose cases are offered, as the user is waiting."""


def complete() -> None:
    """Answer the shell and exit the process."""
    import argcomplete

    _keep_hash_signs()
    parser = build(all_verbs())
    prepare(parser, os.environ.get("COMP_LINE", ""))
    argcomplete.autocomplete(parser, exclude=list(HIDDEN), always_complete_options=False)


def _keep_hash_signs() -> None:
    """Make argcomplete treat RUN#CASE as one word: its splitter treats `#` as a comment."""
    from argcomplete.packages import _shlex

    class Splitter(_shlex.shlex):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)  # pyright: ignore[reportUnknownMemberType]
            self.commenters = ""

    _shlex.shlex = Splitter


def prepare(parser: Parser, line: str) -> None:
    """Load the verbs that a line names, as they load lazily, and attach their completers.

    Args:
        parser: parser of the whole command line.
        line: line as typed so far; quotes may be open.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    parsers: list[argparse.ArgumentParser] = [parser]
    for word in words:
        chosen = verbs_of(parsers[-1]).get(word)
        if isinstance(chosen, VerbParser):
            chosen.load()
            parsers.append(chosen)
    for each in parsers:
        for action in each._actions:
            values = BY_OPTION.get(action.dest) or BY_WORD.get(str(action.metavar))
            if values is not None and not action.choices:
                action.completer = _completer(values)  # pyright: ignore[reportAttributeAccessIssue]


def _completer(values: Values) -> Callable[..., list[str]]:
    def offer(*, prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
        filled = Arguments(**{"models": None, "data": None, "runs": None} | vars(parsed_args))
        with contextlib.suppress(UsageError, OSError, ValueError):
            return [value for value in values(filled, prefix) if value.startswith(prefix)]
        return []

    return offer


def model_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the models of models.toml and the simulated ones."""
    from console.config.models import load_models
    from console.config.paths import find_models_file

    return load_models(find_models_file(args.models), args.data).models


def suite_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return all suites or, after a slash, the suite's categories and groups of categories."""
    catalog = args.catalog
    name, slash, _ = prefix.partition("/")
    if not slash:
        return [entry.name for entry in catalog.entries()]
    return [f"{name}/{category}" for category in _categories(args, [name])]


def suite_words(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the words that can follow `suites`."""
    return [*suite_names(args, prefix), "check", "schema"]


def category_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the categories of the suites on the line, except those already listed."""
    chosen = cast("str | list[str] | None", getattr(args, "suite", None)) or []
    suites = [chosen] if isinstance(chosen, str) else chosen
    before, comma, _ = prefix.rpartition(",")
    return [f"{before}{comma}{name}" for name in _categories(args, [suite.partition("/")[0] for suite in suites])]


def _categories(args: Arguments, suites: Iterable[str]) -> Iterable[str]:

    catalog = args.catalog
    names = [item for suite in suites for item in catalog.open(suite).categories()]
    return dict.fromkeys([*(item.group for item in names if item.group), *(item.name for item in names)])


def run_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the newest runs."""
    from console.store.run_list import list_runs

    root = args.runs_root
    return ["latest", *(run.name for run in islice(list_runs(root), MOST_RUNS))]


def case_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the newest runs or, after a `#`, the cases of that run, failures first."""
    name, mark, _ = prefix.partition("#")
    if not mark:
        return run_names(args, prefix)
    from console.cli.history import read_overview
    from console.store.journal_file import journal_status

    folder = args.find_run(name or "latest")
    if journal_status(folder.journal_path).size > MOST_BYTES:
        return []
    rollouts = sorted(read_overview(folder).rollouts.values(), key=lambda rollout: not rollout.is_failure)
    return dict.fromkeys(f"{name}#{rollout.key.case}" for rollout in rollouts)


def preset_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the presets."""
    from console.config.paths import presets_files
    from console.config.preset import load_presets

    return load_presets(presets_files()).presets


def theme_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the color themes of the app."""
    from console.tui.themes import NAMES

    return NAMES


def verb_names(args: Arguments, prefix: str) -> Iterable[str]:
    """Return the verbs."""
    return all_verbs()


BY_OPTION: dict[str, Values] = {
    "model": model_names,
    "judge": model_names,
    "user": model_names,
    "embedding": model_names,
    "ping": model_names,
    "model_to_try": model_names,
    "suite": suite_names,
    "category": category_names,
    "test_category": category_names,
    "preset": preset_names,
    "theme": theme_names,
    "verb_words": verb_names,
    "words": suite_words,
}
BY_WORD: dict[str, Values] = {"RUN": run_names, "RUN#CASE": case_names, "RUN[#CASE]": case_names, "MODEL": model_names}
