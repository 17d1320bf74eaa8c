"""Write what a shell needs to complete verbs, options, models, suites, categories and runs.

bash: `eval "$(eval-console completion bash)"` in ~/.bashrc. zsh: the same in ~/.zshrc, after compinit.
fish: `eval-console completion fish > ~/.config/fish/completions/eval-console.fish`.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments

SHELLS = ("bash", "zsh", "fish")


class CompletionArguments(Arguments):
    """Options of `completion`."""

    shell: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(args: CompletionArguments) -> int:
    """Write it."""
    from argcomplete.shell_integration import shellcode

    text = shellcode(["eval-console"], shell=args.shell)
    if args.json:
        args.output.data("completion", {"shell": args.shell, "text": text})
    else:
        args.output.file(text)
    return Exit.OK
