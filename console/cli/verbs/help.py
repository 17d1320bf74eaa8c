"""Show the help of a verb, like `VERB --help`; without a verb, that of the program.

With --man, as a page for `man`: `eval-console help --man run | man -l -`.
"""

import argparse
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.man_page import man_page
from console.cli.parser import Arguments, VerbParser, all_verbs, build, verbs_of
from console.core.fault import UsageError
from console.core.suggestion import nearest


class HelpArguments(Arguments):
    verb_words: list[str]
    man: bool
    folder: Path | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's name and the format."""
    parser.add_argument(
        "verb_words", metavar="VERB", nargs="*", help="a verb, such as run, followed by its phase if it has any"
    )
    parser.add_argument("--man", action="store_true", help="format it as a man page")
    parser.add_argument("-o", dest="folder", type=Path, metavar="FOLDER", help="folder for the pages of all verbs")


def run(args: HelpArguments) -> int:
    """Show the help, or write the pages."""
    if args.folder is not None:
        if args.verb_words or not args.man:
            raise UsageError(
                "only applies to the pages of all verbs", where="-o", hint="Write `eval-console help --man -o FOLDER`."
            )
        return _write_pages(args, args.folder)
    if args.man:
        args.output.file(man_page(_parser_of(args.verb_words)))
        return Exit.OK
    try:
        build(all_verbs()).parse_args([*args.verb_words, "--help"])
    except SystemExit:
        return Exit.OK
    raise AssertionError("--help ends the parsing")


def _write_pages(args: HelpArguments, folder: Path) -> int:
    verbs = all_verbs()
    try:
        for words in ([], *([verb] for verb in verbs)):
            parser = _parser_of(words)
            (folder / f"{parser.prog.replace(' ', '-')}.1").write_text(man_page(parser), encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be written to: {why}", where=str(folder), hint="Give an existing folder.") from None
    args.output.info(f"{len(verbs) + 1} pages are in {folder}; MANPATH or `man -l FILE` finds them")
    return Exit.OK


def _parser_of(words: list[str]) -> argparse.ArgumentParser:
    """Return the parser of a verb, or of the program."""
    parser: argparse.ArgumentParser = build(all_verbs())
    for word in words:
        choices = verbs_of(parser)
        if word not in choices:
            close = nearest(word, list(choices))
            hint = f"Did you mean {close}?" if close else "See `eval-console help`."
            raise UsageError(f"unknown verb {word!r}", hint=hint)
        parser = choices[word]
        if isinstance(parser, VerbParser):
            parser.load()
    return parser
