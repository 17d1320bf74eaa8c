"""The `eval-console` command: starts the app or a headless verb, and imports only what is needed."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    from console.cli.main import run

    return run(sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
