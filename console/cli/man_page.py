"""Manual pages in roff, generated from the same parsers as `--help`."""

import argparse
import re
from typing import Any, cast

from console import __version__
from console.cli.parser import HIDDEN, all_verbs

_COMMON = "common options"
"""Title of the options common to all verbs, described on the main page only."""


def man_page(parser: argparse.ArgumentParser) -> str:
    """Return the manual page of the program or one of its verbs.

    Args:
        parser: a loaded parser.
    """
    name = parser.prog.replace(" ", "-")
    verbs = all_verbs()
    verb = verbs.get(parser.prog.rpartition(" ")[2])
    words = verb.meaning if verb else "run, watch and understand LLM evaluations"
    is_program = parser.prog == name
    lines = [
        f'.TH {_text(name.upper())} 1 "" "eval-console {__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(words)}",
        ".SH SYNOPSIS",
        f".B {_text(parser.prog)}",
        *_synopsis(parser),
        ".SH DESCRIPTION",
        *_paragraphs(parser.description or ""),
    ]
    for group in parser._action_groups:
        if group.title != _COMMON or is_program:
            lines += _group(group)
    if parser.epilog:
        lines += [".SH NOTES", *_paragraphs(parser.epilog)]
    pages = [f"eval-console-{verb}" for verb in verbs] if is_program else ["eval-console"]
    also = ",\n".join(f".BR {_text(page)} (1)" for page in pages)
    return (
        "\n".join([*lines, ".SH SEE ALSO", *re.sub(r" \(1\),$", " (1),", also, flags=re.MULTILINE).split("\n")]) + "\n"
    )


def _synopsis(parser: argparse.ArgumentParser) -> list[str]:
    usage = " ".join(parser.format_usage().split()).removeprefix(f"usage: {parser.prog}").strip()
    return [_text(usage)] if usage else []


def _group(group: Any) -> list[str]:
    """Return a section with each argument and its help."""
    listed = cast("list[argparse.Action]", group._group_actions)
    actions = [action for action in listed if action.help is not argparse.SUPPRESS]
    if not actions:
        return []
    title = (group.title or "").upper()
    lines = [f".SH {_text(title)}"]
    for action in actions:
        if action.nargs == argparse.PARSER:  # verbs, each with a line of its own
            for verb in cast("list[argparse.Action]", cast("Any", action)._choices_actions):
                if verb.dest not in HIDDEN:
                    lines += _item(verb.dest, verb.help or "")
        else:
            lines += _item(_invocation(action), action.help or "")
    return lines


def _item(head: str, words: str) -> list[str]:
    return [".TP", f".B {_text(head)}", *_paragraphs(words)]


def _invocation(action: argparse.Action) -> str:
    """Return the syntax of an argument: `-m NAME, --model NAME`, or the metavar of a positional one."""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return metavar
    value = "" if action.nargs == 0 else f" {metavar}"
    return ", ".join(option + value for option in action.option_strings)


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        lines += [".PP"] * bool(lines) + [_text(" ".join(paragraph.split()))]
    return lines


def _text(text: str) -> str:
    escaped = text.replace("%%", "%").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
