"""A machine that cannot confine code: a run of cave-bench is refused, or says what it was allowed to do."""

import sys
from typing import Any

import pytest

from console.sandbox import probe
from console.sandbox.level import Level

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined")
RUN = ("run", "-m", "sim/careful", "-s", "cave-starter", "--category", "kitchen", "--mode", "json", "--yes")


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "reached_level", lambda: Level(network=True))


def test_it_is_refused_with_what_stays_open_and_the_flag(console: Any, weak: None) -> None:
    ended = console(*RUN)
    assert ended.code == 2
    assert "can reach files, processes of this machine; sandbox: files ✘ net ✔" in ended.err
    assert "--option i_trust_this_model=true" in ended.err


def test_with_the_flag_it_runs_and_says_so(console: Any, weak: None) -> None:
    ended = console(*RUN, "--option", "i_trust_this_model=true")
    assert ended.code == 0, ended.err
    assert "can reach files, processes of this machine" in ended.err


def test_the_flag_says_nothing_where_code_is_confined(console: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "reached_level", lambda: Level(files=True, network=True, processes=True))
    ended = console(*RUN, "--option", "i_trust_this_model=true")
    assert ended.code == 0, ended.err
    assert "can reach" not in ended.err
