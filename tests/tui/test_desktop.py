"""Clipboard programs and openers: fake programs in a PATH folder keep what they are given."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from console.core.fault import UsageError
from console.tui.desktop import clipboard_program, copy_by_program, open_outside

HOSTILE = "$(touch x) `id` \"'; rm -rf ~ \\ & é 日 \U0001f600\nline two\t"


class Programs:
    """A folder of programs that write their arguments and standard input to files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.environment = {"PATH": str(folder)}

    def add(self, name: str, ending: str = "") -> None:
        path = self._folder / name
        path.write_text(
            f"#!{sys.executable} -IS\nimport os, sys\n"
            f"open({str(path)!r} + '.words', 'w').write('\\n'.join(sys.argv[1:]))\n"
            f"open({str(path)!r} + '.input', 'wb').write(sys.stdin.buffer.read())\n"
            f"open({str(path)!r} + '.locale', 'w').write(os.environ.get('LC_CTYPE', ''))\n"
            f"print('noise')\n{ending}\n"
        )
        path.chmod(0o755)

    def words(self, name: str) -> list[str]:
        return (self._folder / f"{name}.words").read_text().splitlines()

    def input(self, name: str) -> bytes:
        return (self._folder / f"{name}.input").read_bytes()

    def has_run(self, name: str) -> bool:
        return (self._folder / f"{name}.words").exists()


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    folder = tmp_path / "bin"
    folder.mkdir()
    made = Programs(folder)
    for name in ("pbcopy", "wl-copy", "xclip", "clip.exe", "xdg-open"):
        made.add(name)
    return made


@pytest.fixture(autouse=True)
def _on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.parametrize(
    ("terminal", "command"),
    [
        ({}, []),
        ({"TERM_PROGRAM": "iTerm.app"}, []),
        ({"TERM_PROGRAM": "Apple_Terminal"}, ["pbcopy"]),
        ({"TERM_PROGRAM": "Apple_Terminal", "SSH_CONNECTION": "1 2 3 4"}, []),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "TERM_PROGRAM": "WezTerm"}, []),
        ({"VTE_VERSION": "7003", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, ["wl-copy"]),
        ({"VTE_VERSION": "7003", "DISPLAY": ":0"}, ["xclip", "-selection", "clipboard"]),
        ({"VTE_VERSION": "7003"}, []),
        ({"WSL_DISTRO_NAME": "Ubuntu"}, ["clip.exe"]),
        ({"WSL_DISTRO_NAME": "Ubuntu", "WT_SESSION": "x"}, []),
    ],
)
def test_a_program_copies_where_the_terminal_is_known_not_to(
    programs: Programs, terminal: dict[str, str], command: list[str]
) -> None:
    assert clipboard_program(programs.environment | terminal) == command


def test_terminal_app_is_known_around_tmux(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    inside = {"TERM_PROGRAM": "tmux", "__CFBundleIdentifier": "com.apple.Terminal"}
    assert clipboard_program(programs.environment | inside) == ["pbcopy"]


def test_without_the_program_the_terminal_is_left_to_it(tmp_path: Path) -> None:
    assert clipboard_program({"PATH": str(tmp_path), "TERM_PROGRAM": "Apple_Terminal"}) == []


@pytest.mark.parametrize("name", ["pbcopy", "wl-copy", "xclip"])
def test_text_is_standard_input_and_no_word(programs: Programs, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    copy_by_program([name], HOSTILE, programs.environment)
    assert programs.input(name) == HOSTILE.encode()
    assert programs.words(name) == []
    assert capfd.readouterr() == ("", "")


def test_windows_gets_its_own_encoding(programs: Programs) -> None:
    copy_by_program(["clip.exe"], HOSTILE, programs.environment)
    assert programs.input("clip.exe").decode("utf-16") == HOSTILE


def test_a_program_that_fails_is_named(programs: Programs) -> None:
    programs.add("xclip", "sys.exit(3)")
    with pytest.raises(UsageError, match="xclip could not copy: it ended with code 3"):
        copy_by_program(["xclip"], "x", programs.environment)
    with pytest.raises(UsageError, match="gone could not copy: not found"):
        copy_by_program(["gone"], "x", programs.environment)


def test_a_file_with_a_hostile_name_is_one_word(programs: Programs, tmp_path: Path) -> None:
    path = tmp_path / "-a $(touch x) 'b' ; c.html"
    path.write_text("x")
    open_outside(path, programs.environment)
    assert programs.words("xdg-open") == [str(path)]
    assert programs.input("xdg-open") == b""


def test_a_relative_path_is_no_option(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("--help").mkdir()
    open_outside("--help", programs.environment)
    assert programs.words("xdg-open") == [str(tmp_path / "--help")]


def test_links_open_if_they_are_for_the_web(programs: Programs) -> None:
    open_outside("https://example.com/a?b=c&d=e", programs.environment)
    assert programs.words("xdg-open") == ["https://example.com/a?b=c&d=e"]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "javascript:alert(1)", "https://a b", "http://a\n-x", "nothing"]
)
def test_nothing_else_is_opened(
    programs: Programs, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"does not exist|is not opened"):
        open_outside(target, programs.environment)
    assert not programs.has_run("xdg-open")


def test_each_system_has_its_opener(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wsl = programs.environment | {"WSL_DISTRO_NAME": "Ubuntu"}
    open_outside(tmp_path, wsl)
    assert programs.has_run("xdg-open"), "wslview is not installed"
    programs.add("wslview")
    open_outside(tmp_path, wsl)
    assert programs.words("wslview") == [str(tmp_path)]
    monkeypatch.setattr(sys, "platform", "darwin")
    programs.add("open")
    open_outside(tmp_path, programs.environment)
    assert programs.words("open") == [str(tmp_path)]


def test_an_opener_that_is_missing_or_fails_is_named(programs: Programs, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no xdg-open here"):
        open_outside(tmp_path, {"PATH": os.fspath(tmp_path)})
    programs.add("xdg-open", "sys.exit(4)")
    with pytest.raises(UsageError, match="xdg-open ended with code 4"):
        open_outside(tmp_path, programs.environment)


async def test_the_app_copies_by_the_program_and_says_so(
    programs: Programs, opened: Any, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.usual_runs()
    monkeypatch.setenv("TERM_PROGRAM", "Apple_Terminal")
    monkeypatch.setenv("PATH", programs.environment["PATH"])
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    async with opened() as (app, pilot):
        await pilot.press("y", "i")
        await pilot.pause()
        assert app.services.messages[-1].plain == "Copied the run's name (by pbcopy)."
        await app.workers.wait_for_complete()
        assert programs.input("pbcopy") == b"2025-01-17T1320-a"
        programs.add("pbcopy", "sys.exit(1)")
        await pilot.press("y", "i")
        await pilot.pause()
        await app.workers.wait_for_complete()
        assert "pbcopy could not copy" in app.services.messages[-1].plain
