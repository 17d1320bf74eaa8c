"""The desktop around the terminal: its clipboard, and its opener of links and files.

Programs receive text on standard input and paths as single arguments, without a shell; their output is dropped.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from console.core.fault import UsageError, reason_of

_PATIENCE_S = 5.0
_LINKS = ("http://", "https://")


def clipboard_program(environment: Mapping[str, str]) -> list[str]:
    """Return the command that sets the clipboard in terminals known to ignore OSC 52; empty for other terminals.

    Also empty over SSH, where a program would set the clipboard of the wrong machine.
    """
    if environment.get("SSH_CONNECTION") or not _is_deaf(environment):
        return []
    for command in _clipboard_commands(environment):
        if _find(command[0], environment):
            return command
    return []


def _is_deaf(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to ignore OSC 52: Terminal.app, also around tmux, and those built on VTE."""
    is_terminal_app = environment.get("TERM_PROGRAM") == "Apple_Terminal"
    around_tmux = environment.get("__CFBundleIdentifier") == "com.apple.Terminal"
    is_windows_console = _is_wsl(environment) and not (environment.keys() & {"WT_SESSION", "TERM_PROGRAM"})
    return is_terminal_app or around_tmux or "VTE_VERSION" in environment or is_windows_console


def _clipboard_commands(environment: Mapping[str, str]) -> list[list[str]]:
    if sys.platform == "darwin" or environment.get("TERM_PROGRAM") == "Apple_Terminal":
        return [["pbcopy"]]
    commands = [["wl-copy"]] if environment.get("WAYLAND_DISPLAY") else []
    commands += [["xclip", "-selection", "clipboard"]] if environment.get("DISPLAY") else []
    return [*commands, ["clip.exe"]] if _is_wsl(environment) else commands


def copy_by_program(command: Sequence[str], text: str, environment: Mapping[str, str]) -> None:
    """Hand text to a clipboard program.

    Raises:
        UsageError: it failed.
    """
    # clip.exe expects the console's code page without a byte order mark; pbcopy expects the encoding of LANG.
    data = b"\xff\xfe" + text.encode("utf-16-le") if command[0] == "clip.exe" else text.encode()
    path = _find(command[0], environment)
    if path is None:
        raise UsageError(f"{command[0]} could not copy: not found")
    try:
        done = subprocess.run(  # noqa: S603  a program of ours to name; the text goes to its standard input
            [path, *command[1:]],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**environment, "LC_CTYPE": "UTF-8"} if command[0] == "pbcopy" else dict(environment),
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{command[0]} could not copy: {reason_of(error)}") from None
    if done.returncode:
        raise UsageError(f"{command[0]} could not copy: it ended with code {done.returncode}")


def open_outside(target: str | Path, environment: Mapping[str, str] | None = None) -> None:
    """Open a link, a file or a folder in the desktop's program for it.

    Raises:
        UsageError: the target is none of these, or no program can open it.
    """
    environment = os.environ if environment is None else environment
    word = _openable(target)
    name = _opener(environment)
    path = _find(name, environment)
    if path is None:
        raise UsageError(f"{word} cannot be opened: there is no {name} here", hint="Open it yourself.")
    try:
        process = subprocess.Popen(  # noqa: S603  the word is a path from the root or a link, so never an option
            [path, word],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
        )
        code = process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return  # the program itself, which stays open
    except OSError as error:
        raise UsageError(f"{word} cannot be opened with {name}: {reason_of(error)}") from None
    if code:
        raise UsageError(f"{word} cannot be opened: {name} ended with code {code}")


def _openable(target: str | Path) -> str:
    text = str(target)
    if text.startswith(_LINKS):
        if any(ord(character) <= 32 or ord(character) == 127 for character in text):
            raise UsageError("the link has blanks or control characters and is not opened")
        return text
    path = Path(target).absolute()
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    return str(path)


def _opener(environment: Mapping[str, str]) -> str:
    if sys.platform == "darwin":
        return "open"
    return "wslview" if _is_wsl(environment) and _find("wslview", environment) else "xdg-open"


def _is_wsl(environment: Mapping[str, str]) -> bool:
    return "WSL_DISTRO_NAME" in environment


def _find(program: str, environment: Mapping[str, str]) -> str | None:
    return shutil.which(program, path=environment.get("PATH", os.defpath))
