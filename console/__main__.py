"""The `eval-console` command: starts the app or a headless verb, and imports only what is needed.

Windows lacks file locks, process groups and sockets that the rest is built on, so nothing else is imported there.
"""

import sys

_NOT_ON_WINDOWS = """\
eval-console: Windows is supported through WSL 2 only
  Install it with `wsl --install`, then install and start eval-console in its Linux shell.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    if sys.platform == "win32":
        sys.stderr.write(_NOT_ON_WINDOWS)
        return 2
    from console.cli.main import run, run_to_the_end

    return run_to_the_end(sys.argv[1:]) if argv is None else run(argv)


if __name__ == "__main__":
    sys.exit(main())
