"""A run that rate limits slow down says so in every text, while it is followed and after its end."""

import time
from pathlib import Path

import pytest
from support.recorded_runs import plain_run

from console.core.record import Tried

WORDS = "slowed by 1,204 × 429"


def test_a_slowed_run_says_so_while_it_is_followed_and_after_its_end(
    console, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = plain_run(home / "runs", close=False, live=True)
    key = run.start("live_simple_7-0-0")
    for _ in range(1203):
        run.write(Tried(at=run.tick(), key=key, n=1, kind="rate_limit", message="429 Too Many Requests", wait_s=1))
    monkeypatch.setattr(time, "sleep", lambda seconds: run.close("stopped"))
    followed = console("watch", "latest").err.splitlines()
    assert [line.partition(" · ")[2] for line in followed] == [WORDS, WORDS], "while it plays, and at its end"
    assert WORDS in console("show", "latest").out
    assert WORDS in console("export", "latest", "--format", "markdown", "-o", "-").out
    assert WORDS in console("export", "latest", "--format", "html", "-o", "-").out
    assert console("show", "latest", "--json").data["summary"]["tally"]["rate_limits"] == 1204
