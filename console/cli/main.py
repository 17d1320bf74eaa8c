"""Entry point and error boundary: every outcome becomes an exit code and at most one clear message.

Never a traceback on the terminal. Unexpected errors are written to a crash file with frames and exception types, but
without local variables and values, because those may hold prompts or keys.
"""

import contextlib
import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from console import __version__
from console.cli import open_files
from console.cli.app import open_app_with
from console.cli.exitcode import Exit
from console.cli.output import (
    Output,
    flush,
    open_missing_streams,
    separate_descriptors,
    separate_prints,
    silence_stdout,
)
from console.cli.parser import Arguments, is_interactive, parse
from console.cli.stack_size import ensure_stack_size
from console.core.fault import Fault, UsageError
from console.core.signalled import BySignal
from console.engine.forced_exit import finish, skip_shutdown

COLLECT_AFTER = (25_000, 10, 100)
"""Garbage collection thresholds (`gc.set_threshold`); cases and records are numerous, long-lived and free of cycles."""
COMPLETING = "_ARGCOMPLETE"
"""Environment variable set by the shell when it asks for completions."""


class Signalled(SystemExit, BySignal):
    """A signal asked the process to exit; unlike `sys.exit` in a suite's code, which only breaks a case."""


class Interrupted(KeyboardInterrupt, BySignal):
    """The user pressed ctrl+c; unlike a `KeyboardInterrupt` raised by a suite's code."""


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_SIGNALS = {"SIGTERM": Exit.TERMINATED, "SIGHUP": Exit.HANGUP}


def run(argv: Sequence[str]) -> int:
    """Parse, dispatch, and turn every outcome into an exit code."""
    return finish(_run(argv), flush)


def run_to_the_end(argv: Sequence[str]) -> int:
    """Run a command line as the last action of this process; exit handlers of suite code do not run."""
    gc.disable()  # until everything is loaded, as that leaves no garbage
    code = _run(argv)
    folder_code = sys.modules.get("console.suites.folder_code")  # not imported by most commands
    if folder_code is not None and folder_code.has_run():
        skip_shutdown("code of suites")
    return finish(code, flush)


def _run(argv: Sequence[str]) -> int:
    open_missing_streams()
    output = Output(machine="--json" in argv)  # honored even if the rest cannot be parsed
    try:
        if COMPLETING in os.environ:
            from console.cli.completion import complete

            complete()
        _install_signal_handlers()
        open_files.raise_limit()
        args = parse(argv)
        ensure_stack_size()
        with separate_prints():
            return _dispatch(args)
    except UsageError as error:
        return output.error(error.message, Exit.USAGE, where=error.where, hint=error.hint)
    except Fault as fault:
        return output.error(fault.message, Exit.INCONCLUSIVE, hint=fault.hint)
    except BrokenPipeError:
        silence_stdout()
        return Exit.OK
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else Exit.OK
    except ModuleNotFoundError as error:
        return _report_missing(error, output)
    except OSError as error:
        return _report_refusal(error, output)
    except Exception as error:  # last resort: one sentence and a crash file instead of a traceback
        return _report_crash(error, output)


def _dispatch(args: Arguments) -> int:
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    if args.verb is not None:
        _mark_interrupts()
        gc.set_threshold(*COLLECT_AFTER)
        with separate_descriptors() if open_files.raise_limit() >= open_files.PLENTY else contextlib.nullcontext():
            return args.handler(args)
    if args.serve:
        return _serve(args)
    if not is_interactive():
        raise UsageError(
            "the app needs a terminal for both input and output",
            hint="Headless: `eval-console run -m MODEL -s SUITE`, `runs`, `show latest`, `failures latest`; "
            "`eval-console --help` lists all verbs.",
        )
    return open_app_with(args)


def _serve(args: Arguments) -> int:
    from console.tui.serve import serve

    if args.port not in range(1, 1 << 16):
        raise UsageError(f"invalid port {args.port}", where="--port", hint="Use a number from 1 to 65535.")
    options = [f"--theme={args.theme}"] if args.theme else []
    options += ["--ascii"] if args.ascii else []
    return serve(args.workspace, options, args.port, Output().text)


def _install_signal_handlers() -> None:
    """Exit through the normal path on SIGTERM and SIGHUP, so that files are closed."""
    for name, code in _SIGNALS.items():

        def leave(_number: int, _frame: FrameType | None, code: Exit = code) -> None:
            raise Signalled(int(code))

        signal.signal(getattr(signal, name), leave)


def _mark_interrupts() -> None:
    """Distinguish ctrl+c from suite code's `KeyboardInterrupt`; not for the app, whose loop handles the signal."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted


def _report_missing(error: ModuleNotFoundError, output: Output) -> int:
    if (error.name or "console").split(".")[0] == "console":
        return _report_crash(error, output)
    hint = "In a checkout use `make run` (or .venv/bin/eval-console); elsewhere `pip install` the project again."
    return output.error(f"the package {error.name} is not installed", Exit.USAGE, hint=hint)


def _report_refusal(error: OSError, output: Output) -> int:
    """Report a file or folder refused by the system, or a full disk behind stdout; other errors are internal."""
    if error.filename is None and error.errno in _FULL:
        silence_stdout()
        return output.error(f"the output cannot be written: {error.strerror}", Exit.USAGE)
    if error.filename is None or open_files.is_shortage(error):
        return _report_crash(error, output)
    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    hint = "Make it readable and writable, or use another."
    return output.error(error.strerror or str(error), Exit.USAGE, where=where, hint=hint)


def _report_crash(error: Exception, output: Output) -> int:
    if open_files.is_shortage(error):
        return output.error(open_files.shortage_text(), Exit.USAGE)
    try:
        details = f"; details without values are in {_write_crash(error)}"
    except Exception:  # a failure to report must not hide the error itself
        details = ""
    message = f"internal error: {type(error).__name__}{details}. Finished cases are kept."
    return output.error(message, Exit.INTERNAL)


def _write_crash(error: Exception) -> Path:
    """Write frames and exception types of the whole chain, newest last."""
    import time  # imported late: rarely needed
    import traceback

    lines = [f"eval-console {__version__}, Python {sys.version.split()[0]}, {sys.platform}"]
    for link in open_files.error_chain(error):
        lines.append(type(link).__qualname__)
        lines += [
            f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(link.__traceback__)
        ]
    path = _crash_folder() / time.strftime("crash-%Y%m%dT%H%M%SZ.txt", time.gmtime())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _crash_folder() -> Path:
    import tempfile

    from console.config.paths import state_dir

    folder = state_dir() / "crashes"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir())
    return folder
