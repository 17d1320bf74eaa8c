"""Write the shell completion for verbs, options, models, suites, categories and runs.

bash: `eval "$(eval-console completion bash)"` in ~/.bashrc. zsh: the same in ~/.zshrc, after compinit. fish:
`eval-console completion fish > ~/.config/fish/completions/eval-console.fish`.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.exchange.json_kind import JsonKind

COMPLETION = JsonKind(
    "completion",
    "completion",
    "The completion script of a shell.",
    {"shell": "its name", "text": "script for the shell to evaluate"},
)

SHELLS = ("bash", "zsh", "fish")


class CompletionArguments(Arguments):
    shell: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(args: CompletionArguments) -> int:
    """Write the completion script."""
    from argcomplete.shell_integration import shellcode

    text = shellcode(["eval-console"], shell=args.shell)
    if args.json:
        args.output.data(COMPLETION, {"shell": args.shell, "text": text})
    else:
        args.output.file(text)
    return Exit.OK
