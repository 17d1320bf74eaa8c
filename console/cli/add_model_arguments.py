"""Options of `models add`."""

import argparse

from console.cli.parser import Arguments


class AddModelArguments(Arguments):
    """Options of `models add`."""

    words: list[str]
    look: bool
    address: str | None
    id: str | None
    name: str | None
    key_env: str | None
    mode: str | None
    no_try: bool


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `models add`."""
    parser.add_argument(
        "words", nargs="*", metavar="add | add SERVER", help="add a model of this server to models.toml"
    )
    parser.add_argument("--look", action="store_true", help="add: look for servers on this machine")
    parser.add_argument("--address", metavar="URL", help="add: address of the server, up to and including /v1")
    parser.add_argument("--id", metavar="ID", help="add: the server's name for the model (default: list its models)")
    parser.add_argument("--name", metavar="NAME", help="add: name in models.toml (default: from the id)")
    parser.add_argument("--key-env", metavar="VARIABLE", help="add: environment variable that holds the key")
    parser.add_argument(
        "--mode", choices=("fc", "prompt"), help="add: how tools are passed (default: what the trial call shows)"
    )
    parser.add_argument("--no-try", action="store_true", help="add: do not call the model")
