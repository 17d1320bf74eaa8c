"""Code of a suite that does not let go of the loop is ended and named; the other conversations go on."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from console.engine import stall_limit

SUITE = """
import re, time
from console.authoring import Case, Chat, SimpleSuite, verdict

class Stuck(SimpleSuite):
    def cases(self, categories, setting):
        for name in ("good", "loops", "sleeps", "gathers", "judges", "fine"):
            yield Case(name, "all", {})

    async def play(self, case, stage, setting):
        chat = Chat(stage, script=["yes"])
        await chat.say(case.id)
        if case.id == "loops":
            while True:
                pass
        if case.id == "sleeps":
            time.sleep(600)
        if case.id == "gathers":
            import asyncio
            await asyncio.gather(self.never_ends())
        return case.id

    async def never_ends(self):
        while True:
            try:
                time.sleep(600)
            finally:
                pass

    def score(self, case, output, setting):
        if output == "judges":
            re.search("(a+)+$", "a" * 60 + "b")
        return verdict(True)
"""


def test_code_that_keeps_the_loop_costs_its_case_and_is_named(
    console: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_limit, "LIMIT_S", 0.3)
    folder = home / "data" / "stuck"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('module = "suite.py"\n')
    (folder / "suite.py").write_text(SUITE)
    assert console("allow", "stuck").code == 0
    ended = console("run", "-m", "sim/careful", "-s", "stuck", "--name", "stuck", "--json", "--quiet")
    assert ended.data["report"]["outcomes"] == {"passed": 2, "broken": 4}
    for case, place in (("loops", "in play"), ("sleeps", "in play"), ("gathers", "never_ends"), ("judges", "in score")):
        shown = console("show", f"stuck#{case}").out
        assert "it blocked all conversations for 0.3 s without an `await`" in shown
        assert "suite.py:" in shown
        assert place in shown


async def test_code_of_nobody_is_left_alone_and_an_alarm_that_was_set_goes_off_afterwards() -> None:
    loop, rings, rung = asyncio.get_running_loop(), list[int](), asyncio.Event()

    def ring(number: int, frame: object) -> None:
        rings.append(number)
        loop.call_soon_threadsafe(rung.set)

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with stall_limit.StallLimit(loop, lambda name: False, limit_s=0.1).watching():
            time.sleep(0.4)  # noqa: ASYNC251 - it is about code that blocks
            rings_while_watched = len(rings)  # afterwards the alarm is due at once
        assert not rings_while_watched
        await asyncio.wait_for(rung.wait(), 30)
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


async def test_time_that_other_code_took_is_not_laid_to_a_suite_that_follows_in_the_same_turn() -> None:
    suite: dict[str, Any] = {"time": time}
    source = "def work(ends):\n    while time.monotonic() < ends:\n        pass\n"
    exec(compile(source, "/suite.py", "exec"), suite)
    limit = stall_limit.StallLimit(asyncio.get_running_loop(), lambda name: name == "/suite.py", limit_s=0.4)
    with limit.watching():
        time.sleep(0.7)  # noqa: ASYNC251 - it is about code that blocks
        suite["work"](time.monotonic() + 0.1)
