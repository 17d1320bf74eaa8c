"""Opening the app with the options of a command line."""

from console.cli.parser import Arguments


def open_app_with(args: Arguments, *, run: str = "", case: str = "") -> int:
    """Open the app, at a run (and case) if its folder is given, and return the exit code.

    Raises:
        UsageError: there is no terminal, or a folder or theme that was named is not there.
    """
    from console.config.paths import find_runs_root  # here, as `--help` comes this way and needs neither
    from console.tui.start import open_app

    find_runs_root(args.runs)
    return open_app(
        models=args.models,
        data=args.data,
        runs=args.runs,
        run=run,
        case=case,
        theme=args.theme or "",
        ascii=args.ascii,
        mouse=not args.no_mouse,
    )
