"""Download official benchmark data: a pinned release, through your own pip configuration or from a local file."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.exchange.json_kind import JsonKind
from console.suites.benchmark import Benchmark, OfficialData
from console.suites.benchmarks import benchmarks_with
from console.suites.pull import Pull

PULL = JsonKind("pull", "pull", "Downloaded data.", {"name": "its name", "folder": "its path"})
_WEIGHTS = "minilm"
"""Name for the weights of the local embedding model, which belong to no benchmark."""


class PullArguments(Arguments):
    name: str
    from_path: Path | None
    accept_digest: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=f"data to download: {', '.join(_sources())}")
    parser.add_argument(
        "--from", dest="from_path", type=Path, metavar="PATH", help="use a local wheel, checkout or folder"
    )
    parser.add_argument(
        "--accept-digest",
        action="store_true",
        help="accept files other than the pinned ones; results are never comparable",
    )


def run(args: PullArguments) -> int:
    """Download the data and print where it is."""
    sources = _sources()
    if args.name not in sources:
        close = nearest(args.name, sources)
        hint = f"Did you mean {close}?" if close else f"These can be pulled: {', '.join(sources)}."
        raise UsageError(f"there is no data named {args.name!r}", hint=hint)
    root = args.data or find_data_roots(None).pulled
    if (
        args.from_path is not None
        and args.from_path.exists()
        and not (args.from_path.is_file() or args.from_path.is_dir())
    ):
        raise UsageError("this is neither a file nor a folder", where=str(args.from_path), hint="Save it as a file.")
    request = Pull(root, args.output.info, args.from_path, accepts_digest=args.accept_digest)
    folder = sources[args.name]()(request)
    if args.json:
        args.output.data(PULL, {"name": args.name, "folder": str(folder)})
    else:
        args.output.text(f"{args.name} is in {folder}")
    return Exit.OK


def _sources() -> dict[str, Callable[[], Callable[[Pull], Path]]]:
    """Return a loader for each pull function, by the name of its data."""
    sources = {benchmark.name: partial(_pull_of, benchmark) for benchmark in benchmarks_with("pull")}
    return {**sources, _WEIGHTS: _pull_weights}


def _pull_of(benchmark: Benchmark) -> Callable[[Pull], Path]:
    data: OfficialData = benchmark.load("pull")
    return benchmark.load_place(data.pull)


def _pull_weights() -> Callable[[Pull], Path]:
    from console.suites.minilm_pull import pull

    return pull
