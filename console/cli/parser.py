"""The command line: verbs and common options. Bad input becomes a UsageError.

A verb's own options are in its module, which is imported when the verb is used, so that `--help` stays cheap.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from console import __version__
from console.cli.output import Output
from console.core.fault import UsageError, reason_of
from console.core.suggestion import nearest
from console.suites.benchmark import Benchmark, built_in

if TYPE_CHECKING:
    from console.config.paths import WorkspacePaths
    from console.store.runs import RunFolder
    from console.suites.catalog import Catalog

_VERBS = {
    "run": "run a suite with a model",
    "queue": "list the queue of runs; cancel, move, or continue it",
    "resume": "continue a run that was interrupted or stopped",
    "merge": "merge runs of one plan, such as its shards, into one run",
    "retry": "retry cases that machinery broke",
    "regrade": "grade runs again, with another judge, checker or ground truth, without calling the model",
    "judge": "let a judge compare the answers of two or more runs, in both orders",
    "branch": "continue a conversation from any step, with one change",
    "try": "try a change on the failures of a run, and estimate its effect on the whole suite",
    "watch": "follow a run",
    "review": "step through the failures of a run",
    "runs": "list runs",
    "organize": "rename, annotate, pin or archive runs",
    "models": "list the models of models.toml",
    "suites": "list suites and their categories",
    "new": "write a suite of your own, from a template or a table",
    "allow": "allow the code of a suite's folder to run",
    "show": "show a run, or one case of it",
    "failures": "group the failures of a run",
    "search": "search the conversations of all runs",
    "history": "show one case in all runs and models",
    "explain": "let a model label the failures of a run, and group them",
    "compare": "compare two or more runs: cases lost and gained, and whether the difference may be chance",
    "trends": "show the results of each model on each suite over time",
    "leaderboard": "rank all models on each suite, by its official formula",
    "tag": "tag a failure, comment on it, or mark it as reviewed",
    "dispute": "dispute the ground truth of a case, or list disputes",
    "label": "label answers yourself, blind, to see how far the judge can be trusted",
    "labels": "show, export or import people's labels",
    "suspects": "list ground truths of a suite that may be wrong, and record decisions on them",
    "keep": "keep a case as a row of a suite of your own",
    "export": "write a run as a table, report, web page or log, or in a benchmark's own layout",
    "import": "import logs and results of other tools as runs",
    "pull": "download official benchmark data",
    "doctor": "check keys, endpoints, data and terminal",
    "completion": "write the shell completion for verbs, options, models, suites and runs",
    "help": "show the help of a verb",
    "check": "grade saved outputs, one JSON line in, one out",
}
_LARGEST_INPUT = 16 << 20
"""Maximum size of a text that is read."""
_MODULES = {"import": "imports", "try": "try_fix"}
"""Modules of verbs, where they are not in `cli.verbs` under the verb's name."""
HIDDEN = {
    "engine": "play a prepared run (started by the app)",
    "runner": "play the queue of runs (started automatically)",
    "index": "bring the search index up to date (started by the app)",
}


class Verb(NamedTuple):
    """One verb of the command line."""

    meaning: str
    module: str
    """Module with the function `run`, and `arguments` if it has options of its own; its docstring is the help."""
    benchmark: Benchmark | None = None
    """The third-party benchmark that provides the verb; None for built-in verbs."""


@cache
def own_verbs() -> dict[str, Verb]:
    """Return the built-in verbs by name, in the order of the help, without hidden ones."""
    verbs = {name: Verb(meaning, f"console.cli.verbs.{_MODULES.get(name, name)}") for name, meaning in _VERBS.items()}
    for benchmark in built_in():
        verbs |= benchmark.load("verbs") if benchmark.verbs else {}
    return verbs


def all_verbs() -> dict[str, Verb]:
    """Return the verbs by name, including those of other packages, which are slow to find."""
    from console.suites.benchmarks import benchmarks_with

    verbs: dict[str, Verb] = {}
    for benchmark in benchmarks_with("verbs"):
        if not benchmark.is_built_in:
            with suppress(UsageError):  # reported by `doctor`
                offered: Mapping[str, Verb] = benchmark.load("verbs")
                verbs |= {name: verb._replace(benchmark=benchmark) for name, verb in offered.items()}
    return own_verbs() | {name: verb for name, verb in verbs.items() if name not in {*own_verbs(), *HIDDEN}}


class Arguments(argparse.Namespace):
    """Options of every verb."""

    verb: str | None
    models: Path | None
    data: Path | None
    runs: Path | None
    json: bool
    quiet: bool
    no_color: bool
    yes: bool
    theme: str | None
    serve: bool
    port: int
    ascii: bool
    no_mouse: bool
    handler: Callable[["Arguments"], int]

    @property
    def workspace(self) -> "WorkspacePaths":
        from console.config.paths import WorkspacePaths  # imported late: `--help` needs no msgspec

        return WorkspacePaths(self.models, self.data, self.runs)

    @property
    def runs_root(self) -> Path:
        """The folder of runs, which exists."""
        from console.config.paths import find_runs_root

        return find_runs_root(self.runs)

    @property
    def catalog(self) -> "Catalog":
        """The installed suites."""
        from console.config.paths import find_data_roots
        from console.suites.catalog import Catalog

        return Catalog(find_data_roots(self.data))

    def find_run(self, name: str) -> "RunFolder":
        """Return the run of this name (see `store.run_list.find_run`)."""
        from console.store.run_list import find_run

        return find_run(self.runs_root, name)

    @property
    def output(self) -> Output:
        return Output(machine=self.json, quiet=self.quiet, color=not self.no_color, ascii_only=self.ascii)


def read_input(path: Path) -> str:
    """Return the text of a file given as an option; `-` is stdin."""
    try:
        with nullcontext(sys.stdin) if path == Path("-") else path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_INPUT + 1)  # a device may never end
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path)) from None
    if len(text) > _LARGEST_INPUT:
        raise UsageError(f"is larger than {_LARGEST_INPUT >> 20} MiB", where=str(path))
    return text


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises UsageError, with the nearest known word."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Disable abbreviations of options: their meaning would change with every new option."""
        super().__init__(*args, **options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Convert argparse's error to a UsageError."""
        raise UsageError(_with_nearest(message), hint=f"See `{self.prog} --help`.")

    def check_before_verb(self, argv: Sequence[str]) -> str:
        """Check that only common options precede the verb; otherwise argparse would mistake a value for the verb."""
        words = iter(argv)
        for word in words:
            if not word.startswith("-"):
                return word
            name, _, value = word.partition("=")
            option = self._option_string_actions.get(name)
            if option is None:
                close = _nearest_option(name, self._option_string_actions)
                hint = f"Did you mean {close}?" if close else "Put a verb's options after it."
                raise UsageError(f"unknown option {name!r}", hint=f"{hint} See `{self.prog} --help`.")
            if option.nargs is None and not value:
                next(words, None)
        return ""

    def print_help(self, file: Any = None) -> None:
        Output().file(self.format_help())


class _HelpFormatter(argparse.HelpFormatter):
    """Keeps paragraphs, and the lines of those that are indented, such as examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        parts = (part if part.startswith("  ") else fill(part, width, indent) for part in text.split("\n\n"))
        return "\n\n".join(parts)


class VerbParser(Parser):
    """The parser of one verb, created lazily by `load`, as creating all of them would delay every start.

    `load` also imports the verb's module.
    """

    module: str = ""
    benchmark: Benchmark | None = None
    """The third-party benchmark that provides the verb."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def __repr__(self) -> str:
        """Return the verb's name: argparse's own text needs a loaded parser."""
        return f"VerbParser({self.module!r})"

    def load(self) -> None:
        """Create the parser unless that was already done."""
        if self.module:
            super().__init__(**self._options)
            verb = self.benchmark.load_place(self.module) if self.benchmark else importlib.import_module(self.module)
            self.module = ""
            self.description, self.formatter_class = (verb.__doc__ or "").strip(), _HelpFormatter
            if arguments := getattr(verb, "arguments", None):
                arguments(self)
            add_common(self, default=argparse.SUPPRESS)
            self.set_defaults(handler=verb.run)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Add the verb's options, then parse, rejecting unknown arguments."""
        self.load()
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.refuse(left[0].partition("=")[0])
        return parsed, left

    def refuse(self, word: str) -> NoReturn:
        """Raise for an unknown word, suggesting the nearest option."""
        is_option = word.startswith("-")
        close = _nearest_option(word, self._option_string_actions) if is_option else None
        hint = f"Did you mean {close}? " if close else ""
        raise UsageError(
            f"unknown {'option' if is_option else 'argument'} {word!r}", hint=f"{hint}See `{self.prog} --help`."
        )


def _nearest_option(word: str, options: Iterable[str]) -> str | None:
    """Return the most similar option, ignoring the dashes that all of them share."""
    by_name = {option.lstrip("-"): option for option in options}
    close = nearest(word.lstrip("-"), by_name)
    return by_name[close] if close else None


def build(verbs: Mapping[str, Verb]) -> Parser:
    """Return the parser of the whole command line with these verbs, and the hidden ones."""
    parser = Parser(
        prog="eval-console",
        description="Run, watch and understand LLM evaluations. Without a verb, the app opens.",
        epilog="Exit codes: 0 ok, 1 below --fail-under or worse, 2 usage or configuration, 3 inconclusive, "
        "4 stopped by a cap, 5 locked or nothing to resume, 130/143/129 signals.",
    )
    parser.add_argument("--version", action="version", version=f"eval-console {__version__}")
    add_common(parser, default=None)
    screen = parser.add_argument_group("options of the app")
    screen.add_argument(
        "--serve", action="store_true", help="open the app in a browser on this machine (needs the extra serve)"
    )
    screen.add_argument("--port", type=int, default=8765, metavar="N", help="port on 127.0.0.1 for --serve")
    parsers = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", parser_class=VerbParser)
    for name, verb in verbs.items():
        of_verb = parsers.add_parser(name, help=verb.meaning)
        of_verb.module, of_verb.benchmark = verb.module, verb.benchmark
    for name in HIDDEN:
        parsers.add_parser(name).module = f"console.cli.verbs.{name}"
    return parser


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return a parser's verbs by name; a `VerbParser` must be loaded to know its options."""
    choices = next((action.choices for action in parser._actions if action.nargs == argparse.PARSER), None)
    return dict(cast("Mapping[str, argparse.ArgumentParser]", choices or {}))


def add_common(parser: argparse.ArgumentParser, *, default: Any) -> None:
    """Add the common options; verbs pass SUPPRESS to keep an option given before the verb."""
    off = False if default is None else default
    common = parser.add_argument_group("common options")
    common.add_argument("--models", type=Path, metavar="PATH", default=default, help="models file")
    common.add_argument("--data", type=Path, metavar="PATH", default=default, help="folder of suites")
    common.add_argument("--runs", type=Path, metavar="PATH", default=default, help="folder of runs")
    common.add_argument("--json", action="store_true", default=off, help="JSON on stdout")
    common.add_argument("--quiet", action="store_true", default=off, help="no progress output")
    common.add_argument("--no-color", action="store_true", default=off, help="no colors")
    common.add_argument("--yes", action="store_true", default=off, help="do not ask for confirmation")
    common.add_argument("--ascii", action="store_true", default=off, help="use ASCII symbols only")
    common.add_argument("--theme", metavar="NAME", default=default, help="color theme of the app")
    common.add_argument("--no-mouse", action="store_true", default=off, help="leave the mouse to the terminal")


def parse(argv: Sequence[str]) -> Arguments:
    """Parse a command line.

    Raises:
        UsageError: an unknown verb or option, or an invalid value.
        SystemExit: after `--help` and `--version`, with code 0.
    """
    parser = build(own_verbs())
    verb = parser.check_before_verb(argv)
    if verb and verb not in verbs_of(parser):
        parser = build(all_verbs())
    return parser.parse_args(argv, namespace=Arguments())


def _with_nearest(message: str) -> str:
    """Shorten argparse's list of choices to the nearest one, and its list of missing arguments."""
    if message.startswith("argument ") and message.endswith(": expected one argument"):
        return f"{message.removeprefix('argument ').removesuffix(': expected one argument')} needs a value"
    missing = message.removeprefix("the following arguments are required: ")
    if missing != message:
        return f"{missing.replace(', ', ' and ')} {'are' if ', ' in missing else 'is'} required"
    if "invalid choice: " not in message:
        return message
    head, _, rest = message.partition("invalid choice: ")
    word = rest.split(" (choose", 1)[0].strip("'\"")
    choices = [item.strip(" '\")") for item in rest.partition("choose from ")[2].split(",")]
    kind = head.replace("argument ", "").strip(": ").lower()
    close = nearest(word, [item for item in choices if item not in HIDDEN])
    return f"unknown {kind} {word!r}" + (f"; did you mean {close}?" if close else "")


def is_interactive() -> bool:
    """Return whether the app can be opened: stdin and stdout must be terminals."""
    from console.tui.serve import is_served

    return is_served() or (sys.stdin.isatty() and sys.stdout.isatty())
