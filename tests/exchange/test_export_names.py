"""The command line and the app offer the same formats, and each can be written."""

import contextlib
import importlib
from collections import Counter
from pathlib import Path

import pytest
from support.graded_runs import graded_run

from console.cli.parser import parse
from console.core.fault import UsageError
from console.exchange.exports.formats import own_exports
from console.tui.actions import ACTIONS


def test_each_format_is_a_file_or_a_folder() -> None:
    assert [form.name for form in own_exports().values() if bool(form.folder) == bool(form.extension)] == []


@pytest.mark.parametrize("where", ["home", "review"])
def test_the_app_offers_each_format_by_a_letter_of_its_own(where: str) -> None:
    offered = [action for action in ACTIONS if action.menu == "export" and action.where == where]
    assert sorted(action.id.partition(".")[2].replace("_", "-") for action in offered) == sorted(own_exports())
    twice = [key for key, count in Counter(key for action in offered for key in action.keys).items() if count > 1]
    assert not twice, f"give all but one format of exchange/exports/formats.py another letter than {twice}"


@pytest.mark.parametrize("name", own_exports())
def test_the_command_line_takes_each_format(name: str) -> None:
    assert vars(parse(["export", "--format", name]))["form"] == name


@pytest.mark.parametrize("name", own_exports())
def test_the_writer_of_each_format_is_there(name: str) -> None:
    module, _, attribute = own_exports()[name].writer.partition(":")
    found = hasattr(importlib.import_module(module), attribute)
    assert found, f"{module} has no {attribute!r}, which the format {name!r} names as its writer"


@pytest.mark.parametrize("name", [form.name for form in own_exports().values() if form.folder])
def test_each_folder_is_written_or_says_why_not(name: str, tmp_path: Path) -> None:
    run = graded_run(tmp_path / "runs", "0101-0000-run", {"a": "f", "b": "p"})
    paths: list[Path] = []
    with contextlib.suppress(UsageError):  # of another benchmark
        paths = [*own_exports()[name].write_folder(run, tmp_path / "out")]
    assert all(path.exists() for path in paths)
    assert paths or name not in ("site", "verifiers-traces", "every-eval-ever")
