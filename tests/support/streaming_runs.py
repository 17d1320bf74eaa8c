"""Six runs that never end: they stream, score, break and close in the loop of the app that shows them."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from support.fake_engine import FakeEngine
from support.recorded_runs import QUESTION, call_reply
from support.suite_runs import ANSWERS

from console.core.case import Key
from console.core.chat import Reply, Usage
from console.core.live import Activity, Status
from console.core.outcome import Outcome
from console.core.record import Scored, Tried

RUNS = 6
_AT_ONCE = 6
_CASES = 400
"""Planned rollouts of a run; it closes somewhat earlier, and another takes its place."""
_SUITES = (("bfcl", "bfcl"), ("aidan", "aidanbench"), ("recorded", ""), ("cave", "cavebench"), ("talk", "dialogue"))
_WORDS = (
    "the ",
    "**bold** ",
    "\n",
    "```python\nx = 1\n",
    '{"a": [1, 2',
    "漢字 ",
    "\x1b[31m",
    "word " * 40,
    "| a | b |\n",
)
_ENDS = (Outcome.PASSED, Outcome.FAILED, Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED)


class StreamingRun:
    """One run, whose conversations move by one small step at a time."""

    def __init__(self, root: Path, number: int, rng: random.Random) -> None:
        suite, form = _SUITES[number % len(_SUITES)]
        name = f"2026-01-01T0000-{suite}-{number:04}"
        self.engine = FakeEngine(root, cases=_CASES, name=name, suite=suite, format=form)
        self._rng = rng
        self._number = 0
        self._calls: dict[Key, int] = {}
        self._turns: dict[Key, int] = {}

    def step(self) -> None:
        """Let something happen to one conversation."""
        rng = self._rng
        if len(self._calls) < _AT_ONCE and (not self._calls or rng.random() < 0.3):
            self._start()
            return
        key = rng.choice(list(self._calls))
        if rng.random() < 0.9:
            kind = rng.choice(("text", "text", "reasoning", "tool"))
            self.engine.publisher.text(key, self._calls[key], kind, rng.choice(_WORDS))
        elif rng.random() < 0.1:
            self._retry(key)
        else:
            self._answer(key)
        states = [Activity(key, rng.choice(("streaming", "judging", "waiting"))) for key in self._calls]
        self.engine.status = Status(rng.choice(("running", "running", "paused")), 4, states)

    @property
    def is_spent(self) -> bool:
        return self._number > _CASES // 4

    def _start(self) -> None:
        self._number += 1
        key = self.engine.recorder.start(f"case_{self._number}", f"category_{self._number % 4}", QUESTION)
        self._calls[key], self._turns[key] = 1, 0
        self._begin(key)

    def _begin(self, key: Key) -> None:
        messages = [{"role": "user", "content": f"{QUESTION} {self._calls[key]}"}]
        self.engine.begin(key, self._calls[key], turn=self._turns[key], messages=messages)

    def _retry(self, key: Key) -> None:
        recorder, n = self.engine.recorder, self._calls[key]
        recorder.write(Tried(recorder.tick(), key=key, n=n, kind="server", message="502", partial="half"))
        self.engine.publisher.restarted(key, n)

    def _answer(self, key: Key) -> None:
        recorder, n, turn = self.engine.recorder, self._calls[key], self._turns[key]
        replies = (call_reply("get_weather", '{"city": "Rome"}'), Reply(self._rng.choice(ANSWERS), usage=Usage(9, 9)))
        recorder.ask(key, QUESTION, self._rng.choice(replies), n=n, turn=turn)
        self.engine.publisher.ended(key, n)
        if self._rng.random() < 0.3:
            recorder.write(Scored(recorder.tick(), key=key, name="novelty", value=0.5, threshold=0.15, turn=turn))
        if self._rng.random() < 0.5:
            self._calls[key], self._turns[key] = n + 1, turn + self._rng.choice((0, 1))
            self._begin(key)
        else:
            outcome = self._rng.choice(_ENDS)
            reason = "" if outcome is Outcome.PASSED else "value_error:string"
            recorder.finish(key, outcome, reason, "unit", messages=["Invalid value"], output=[{"f": {"a": 1}}])
            del self._calls[key], self._turns[key]


class StreamingRuns:
    """The six of them; one that is played is closed, and a new one begins."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self._root, self._rng, self._number = root, rng, 0
        self.runs: list[StreamingRun] = []

    async def fill(self) -> None:
        while len(self.runs) < RUNS:
            run = StreamingRun(self._root, self._number, self._rng)
            self._number += 1
            await run.engine.__aenter__()
            self.runs.append(run)

    async def step(self) -> None:
        """Let something happen to one run."""
        run = self._rng.choice(self.runs)
        run.step()
        if run.is_spent:
            self.runs.remove(run)
            await run.engine.end(self._rng.choice(("completed", "stopped", "budget")))
            await self.fill()


@asynccontextmanager
async def streaming_runs(root: Path, rng: random.Random) -> AsyncIterator[StreamingRuns]:
    """Start six runs in a folder."""
    runs = StreamingRuns(root, rng)
    async with AsyncExitStack() as stack:
        await runs.fill()
        yield runs
        for run in runs.runs:
            await stack.enter_async_context(run.engine)
