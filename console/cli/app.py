"""Opens the app with the options of a command line."""

import signal

from console.cli.output import join_descriptors
from console.cli.parser import Arguments


def open_app_with(args: Arguments, *, screen: str = "review", run: str = "", case: str = "") -> int:
    """Open the app, with Live or Review of a run (and case) if given, and return the exit code."""
    # Imported late: `--help` needs neither.
    from console.config.paths import find_runs_root, make_new_folder
    from console.tui.start import run_app

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # replaced by the app's loop
    root = find_runs_root(args.runs, may_be_new=True)
    if args.runs is not None and not root.exists():
        make_new_folder(root)
    join_descriptors()
    theme, mouse = args.theme or "", not args.no_mouse
    return run_app(args.workspace, screen=screen, run=run, case=case, theme=theme, ascii=args.ascii, mouse=mouse)
