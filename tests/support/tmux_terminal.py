"""A real terminal for tests: tmux on a socket of its own, keys in, screen out, waiting for what is awaited."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest


class TmuxTerminal:
    """The app in a tmux pane."""

    def __init__(
        self, folder: Path, *arguments: str, size: tuple[int, int] = (80, 24), env: dict[str, str] | None = None
    ):
        if shutil.which("tmux") is None:
            pytest.skip("tmux is not installed")
        self.socket = folder / "tmux"
        self._pasted = folder / "pasted"
        given = {"EVAL_CONSOLE_SIM_PACE": "human", "TERM": "xterm-256color", "COLORTERM": "truecolor"} | (env or {})
        given.setdefault("XDG_STATE_HOME", os.environ.get("XDG_STATE_HOME", str(folder / "state")))  # nobody's own
        command = [sys.executable, "-m", "console", *arguments]
        script = " ".join(f"'{part}'" for part in command)
        self._tmux(
            "-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]),
            *(part for name, value in given.items() for part in ("-e", f"{name}={value}")),
            f"{script}; echo \"exit $?\"; stty -a | grep -o -- '-\\?icanon'; exec cat",
        )  # fmt: skip

    def _tmux(self, *arguments: str) -> str:
        clean = {name: value for name, value in os.environ.items() if name not in ("TMUX", "COLUMNS", "LINES")}
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments], capture_output=True, text=True, check=True, env=clean
        )
        return done.stdout

    def screen(self) -> str:
        """What is on the screen now."""
        return self._tmux("capture-pane", "-p")

    def raw(self) -> str:
        """The screen with its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        for key in keys:
            self._tmux("send-keys", key)

    def paste(self, data: bytes, *, is_typed: bool = False) -> None:
        """Paste bytes, or send them as if they were typed."""
        self._pasted.write_bytes(data)
        self._tmux("load-buffer", str(self._pasted))
        self._tmux("paste-buffer", "-r", *(() if is_typed else ("-p",)))

    def resize(self, width: int, height: int) -> None:
        """Change the size of the terminal."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def until(self, *wanted: str, seconds: float = 60.0) -> str:
        """Wait until all of these are on the screen, and return it."""
        ends = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if all(text in screen for text in wanted):
                return screen
            assert time.monotonic() < ends, f"{wanted} did not appear in {seconds} s:\n{screen}"
            time.sleep(0.04)

    def until_gone(self, text: str, seconds: float = 60.0) -> str:
        """Wait until this is no longer on the screen, and return it."""
        ends = time.monotonic() + seconds
        while text in (screen := self.screen()):
            assert time.monotonic() < ends, f"{text!r} did not go away in {seconds} s:\n{screen}"
            time.sleep(0.04)
        return screen

    def pid(self) -> int:
        """Process id of the shell in the pane."""
        return int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def close(self) -> None:
        """End the terminal, as closing its window does."""
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], capture_output=True, check=False)
