"""Writes real runs with the store, for tests and benchmarks of the screens: journals as an engine would leave them."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.run_suites import ReviewedSuite

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, TokenLogprob, ToolCall, Usage
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.looks import Contender, Look, LookPlan, Question, Rule, Until
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Closed, Finished, Looked, Noted, Opened, Scored, Started, Tried
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.lock import RunLock
from console.store.runs import RunFolder, create_run

AT = 1_800_000_000.0
SYSTEM = "You are an expert in composing functions.\nYou may call several.\nReturn only the calls.\nNothing else.\n"


class Recorder:
    """One run being written; `live` holds the lock, as an engine does."""

    def __init__(
        self, root: Path, *, cases: int, name: str = "0117-1420-bfcl-live-gpt-x", live: bool = False, **more: Any
    ):
        model = more.pop("model", ModelFacts("gpt-x", price_in=1.0, price_out=2.0))
        suite = more.pop("suite", "recorded")
        setting = more.pop("setting", Setting())
        manifest = Manifest(id=name, at=AT, suite=suite, model=model, setting=setting, cases=cases, **more)
        self.folder: RunFolder = create_run(root, manifest)
        self.lock = RunLock(self.folder.lock_path) if live else None
        self.writer = JournalWriter(self.folder.journal_path)
        self.at = time.time() if live else AT
        self.write(Opened(at=self.at, pid=1))

    def write(self, record: AnyRecord) -> None:
        self.writer.append(record)

    def tick(self, seconds: float = 0.5) -> float:
        self.at += seconds
        return self.at

    def start(
        self,
        id: str,
        category: str = "live_multiple",
        title: str = "",
        attempt: int = 1,
        rollout: int = 0,
        **data: Any,
    ) -> Key:
        key = Key(id, rollout, attempt)
        self.write(Started(at=self.tick(0.1), key=key, case=Case(id, category, data, title=title)))
        return key

    def ask(self, key: Key, question: str, reply: Reply, *, n: int = 1, **more: Any) -> None:
        messages: list[dict[str, Any]] = more.pop("messages", None) or [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": question},
        ]
        digest = more.pop("digest", "")
        self.write(Asked(at=self.tick(), key=key, n=n, digest=digest, reply=reply, messages=messages, **more))

    def finish(self, key: Key, outcome: Outcome, reason: str = "", subject: str = "", **more: Any) -> None:
        messages = more.pop("messages", ())
        verdict = Verdict(outcome, reason or None, subject, tuple(messages), detail=more.pop("detail", {}))
        known: dict[str, Any] = {
            "seconds": 1.9,
            "input_tokens": 1131,
            "output_tokens": 41,
            "cost_usd": 0.004,
            "calls": 1,
        }
        self.write(Finished(at=self.tick(0.1), key=key, verdict=verdict, **(known | more)))

    def close(self, reason: str = "completed", message: str = "") -> RunFolder:
        self.write(Closed(at=self.tick(0.1), reason=reason, message=message))
        return self.leave()

    def leave(self) -> RunFolder:
        self.writer.close()
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        return self.folder


def call_reply(name: str, arguments: str, **more: Any) -> Reply:
    call = ToolCall("call_1", name, arguments)
    return Reply(None, (call,), finish="tool_calls", usage=Usage(1131, 41), latency_s=1.9, **more)


QUESTION = "What's the weather in Chicago in Fahrenheit for the next days? reply in English please"
FAILURES: Sequence[tuple[str, str, str, str]] = (
    ("live_multiple_118-41", "value_error:string", "unit", "Invalid value for parameter 'unit': 'imperial'."),
    ("live_multiple_131-52", "value_error:string", "unit", "Invalid value for parameter 'unit': 'imperial'."),
    ("live_simple_77-40-0", "value_error:string", "unit", "Invalid value for parameter 'unit': 'metric'."),
    ("live_simple_14-3-9", "value_error:string", "location", "Invalid value for parameter 'location'."),
    ("live_parallel_4-1", "parallel_function_checker_no_order:wrong_count", "", "Wrong number of functions."),
    ("live_irrelevance_12-0", "irrelevance_error:decoder_success", "get_weather", "Valid syntax. Wrong."),
)


def plain_run(root: Path, *, passed: int = 6, close: bool = True, **more: Any) -> Recorder:
    """A run of six failures of three kinds, one broken and some passed cases."""
    recorder = Recorder(root, cases=passed + 7, **more)
    for place in range(passed):
        key = recorder.start(f"live_simple_{place}-0-0", "live_simple", "weather?")
        recorder.ask(key, QUESTION, call_reply("get_current_weather", '{"location": "Chicago, IL"}'))
        recorder.finish(key, Outcome.PASSED)
    for id, reason, subject, message in FAILURES:
        key = recorder.start(id, id.rsplit("_", 1)[0], QUESTION)
        arguments = '{"location": "Chicago, IL", "unit": "imperial", "lang": "en"}'
        recorder.ask(key, QUESTION, call_reply("get_current_weather", arguments))
        recorder.finish(
            key, Outcome.FAILED, reason, subject, messages=[message],
            output=[{"get_current_weather": {"location": "Chicago, IL", "unit": "imperial", "lang": "en"}}],
        )  # fmt: skip
    key = recorder.start("live_multiple_9-4-1", "live_multiple", QUESTION)
    recorder.write(
        Tried(at=recorder.tick(), key=key, n=1, kind="rate_limit", message="429 Too Many Requests", wait_s=4)
    )
    recorder.write(Tried(at=recorder.tick(), key=key, n=1, kind="server", message="502 Bad Gateway", partial="[get_"))
    recorder.finish(key, Outcome.BROKEN, "server", messages=["502 Bad Gateway, tried 2 times"], cost_usd=None)
    if close:
        recorder.close()
    return recorder


LOOKS = ((-0.04, 0.33), (-0.07, 0.2), (-0.073, 0.15), (-0.08, 0.11), (-0.084, 0.065))
"""Estimate, and how far its interval reaches, at the looks of `decided_run`."""


def choice_run(root: Path) -> Recorder:
    """Return a run whose answers have the log probabilities of their tokens."""
    recorder = Recorder(root, cases=1, name="0120-choice")
    key = recorder.start("capital-of-australia", title="What is the capital of Australia?")
    shares = [
        {"The": 0.96, "It": 0.02}, {" capital": 0.99}, {" is": 0.85, " of": 0.12, "\n": 0.01},
        {" Sydney": 0.07, " Canberra": 0.88, " Melbourne": 0.04}, {".": 0.42, ",": 0.31, "!": 0.2}, {"\n": 0.97},
        {"Is": 0.6, "Do": 0.3}, {" it": 0.97}, {"?": 1.0},
    ]  # fmt: skip
    tokens = [
        TokenLogprob(
            next(iter(top)), math.log(next(iter(top.values()))), tuple((t, math.log(share)) for t, share in top.items())
        )
        for top in shares
    ]
    text = "".join(token.token for token in tokens)
    recorder.ask(key, "What is the capital of Australia?", Reply(text, logprobs=tuple(tokens)))
    recorder.finish(key, Outcome.FAILED, "wrong", output=text)
    recorder.close()
    return recorder


def decided_run(root: Path) -> Recorder:
    """A run that its fifth look has ended: worse than its baseline."""
    until = Until(Rule.DECIDED, margin=0.01, baseline="prompt-v1")
    at = tuple(range(50, 1001, 50))
    plan = LookPlan((Question(at, shares=tuple(n / 1000 for n in at), constant=2.248),), 0, "", until)
    run = Recorder(root, cases=1000, looks=plan, name="0117-1420-prompt-v2")
    for n in range(6):
        key = run.start(f"live_multiple_{n}", title=QUESTION)
        run.finish(key, Outcome.FAILED if n % 3 else Outcome.PASSED, "wrong_value" if n % 3 else "")
    for number, (estimate, reach) in enumerate(LOOKS, 1):
        decision = "worse" if number == len(LOOKS) else ""
        low, high = estimate - reach, estimate + reach
        look = Look(number, 20, at[number - 1], 1000, 0.61, 0.55, 0.67, 0, estimate, low, high, decision)
        run.write(Looked(at=run.tick(), look=look))
    run.close("decided", "worse at look 5 of 20, after 250 of 1,000")
    return run


def raced_run(root: Path) -> Recorder:
    """A run that leads its race, of whose three models one is out."""
    until = Until(Rule.BEST, models=("openai/gpt-x", "prod", "small"), rivals=("a", "b", "c"))
    at = tuple(range(50, 1001, 50))
    plan = LookPlan((Question(at, shares=tuple(n / 1000 for n in at), constant=2.248),), 0, "", until)
    run = Recorder(root, cases=1000, looks=plan, name="0117-1420-race")
    for n in range(6):
        run.finish(run.start(f"live_multiple_{n}", title=QUESTION), Outcome.PASSED, "")
    small = Contender("small", 0.42, -0.38, -0.62, -0.14, 1)
    for number, reach in enumerate((0.21, 0.16), 1):
        standings = Contender("prod", 0.8), Contender("openai/gpt-x", 0.76, -0.04, -0.04 - reach, -0.04 + reach), small
        look = Look(number, 20, at[number - 1], 1000, 0.76, 0.65, 0.84, standings=standings)
        run.write(Looked(at=run.tick(), look=look))
    run.close("halted", "small (c) does not play")
    return run


def loop_run(root: Path, loops: int = 5, turns: int = 6, *, close: bool = True, **more: Any) -> Recorder:
    """A run of AidanBench loops."""
    recorder = Recorder(root, cases=loops, suite="aidan", name="0117-1551-aidan-gpt-x", **more)
    for place in range(loops):
        key = recorder.start(f"q{place}", "questions", f"Why did Rome fall, number {place}?")
        last = turns - place
        for turn in range(last):
            reply = Reply(f"Answer {turn} of loop {place}: lead in the aqueducts.", usage=Usage(100, 20), latency_s=0.8)
            recorder.ask(key, "Another answer, please.", reply, n=turn + 1, turn=turn)
            novelty = 0.9 - turn * 0.15
            recorder.write(
                Scored(recorder.tick(0.1), key=key, name="coherence", value=80 - turn, threshold=15, turn=turn)
            )
            recorder.write(
                Scored(recorder.tick(0.1), key=key, name="novelty", value=novelty, threshold=0.15, turn=turn)
            )
            near = {"turn": max(turn - 1, 0), "similarity": 1 - novelty, "answer": "lead"}
            recorder.write(Noted(recorder.tick(0.1), key=key, kind="nearest", data=near, turn=turn))
        if place % 2:
            recorder.finish(key, Outcome.PASSED, "low_embedding_novelty", output=[])
    if close:
        recorder.close()
    return recorder


class WeatherSuite(ReviewedSuite):
    """The part of a suite that Review needs: it lays the recorded weather calls beside what was expected."""

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        rows = (
            Row(Mark.SAME, "location", ("'Chicago, IL'", "'Chicago'"), "'Chicago, IL'"),
            Row(Mark.DIFFERS, "unit", ("'fahrenheit'",), "'imperial'", decisive=True),
            Row(Mark.OMITTED, "days", ("1", "2", "3"), None, optional=True),
            Row(Mark.EXTRA, "lang", (), "'en'", "not in schema"),
        )
        pair = Pair(Mark.DIFFERS, "get_current_weather", "get_current_weather", rows)
        return Comparison(
            sentence="wrong value: unit",
            pairs=(pair,),
            rule="value_error:string  Invalid value for parameter 'unit': 'imperial'. Expected one of ['fahrenheit'].",
            hint="unit='fahrenheit'",
        )


def replayable_run(root: Path) -> Recorder:
    """Three conversations one after the other, of ten seconds each."""
    recorder = Recorder(root, cases=3)
    for n in range(3):
        key = recorder.start(f"case-{n}")
        recorder.tick(9.0)
        recorder.ask(key, f"question {n}", Reply("one two three four five " * 20, latency_s=8.0))
        recorder.finish(key, Outcome.FAILED if n == 1 else Outcome.PASSED, "value_error:string", "unit")
    recorder.close()
    return recorder
