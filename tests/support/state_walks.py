"""Every screen and every state of the app, as walks: one session of the app goes through several of them.

Used by `test_states.py`, which holds their frames and colours, and by `screen_picture.py`, which draws
them to be looked at. Time stands still in all walks, so that nothing that is shown depends on how fast the machine is.
"""

import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pytest
from support.compared_runs import CallSuite, answer_count_run, call_run
from support.fake_engine import FakeEngine
from support.graded_runs import graded_run
from support.pictures import png
from support.recorded_runs import (
    FAILURES,
    QUESTION,
    Recorder,
    WeatherSuite,
    call_reply,
    choice_run,
    plain_run,
    replayable_run,
)
from support.row_suite import recorded_rows, suite_in, write_folder
from support.run_suites import compare_by
from support.sample_workspace import TWO_MODELS
from support.screen_text import assert_until, text_of, tile_cases
from support.searched_runs import CASE, searched_runs
from support.suite_runs import CodeSuite, LoopSuite, brick_run, code_run
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen

from console.config.paths import WorkspacePaths
from console.core.annotation import PASSED, ReaderLabel
from console.core.case import Key
from console.core.chat import Reply
from console.core.experiment import Beginning, Change, Experiment, Stratum
from console.core.live import Activity, EndpointState, Status
from console.core.outcome import Outcome
from console.core.record import Batched, Tried
from console.core.run import Selection, Tally
from console.core.wait import batch_words
from console.engine.experiment_use import ExpectedUse, SearchUse, Use
from console.insight.pace import Pace
from console.store.lock import RunLock
from console.store.notes import READER_LABEL, Note, Notes
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder
from console.tui import desktop, picture_page
from console.tui.app import ConsoleApp
from console.tui.data.sample_run import SampleRun
from console.tui.keymap import find_action
from console.tui.screens.compare.screen import CompareScreen
from console.tui.screens.launch import actions
from console.tui.screens.launch.screen import LaunchScreen
from console.tui.screens.live.screen import LiveScreen
from console.tui.screens.review.decide_actions import DecideActions
from console.tui.screens.review.screen import ReviewScreen
from console.tui.screens.run_screen import RunScreen
from console.tui.screens.search.screen import SearchScreen

ScreenT = TypeVar("ScreenT", bound=Screen[Any])
NOON = 1_800_003_600.0
"""What every clock of a walk says: an hour after recorded runs, 15 January 2027."""


@dataclass
class Stage:
    """What a walk needs: folders, a way to open the app, and a way to change what would start engines."""

    workspace: Any
    opened: Callable[..., Any]
    monkeypatch: pytest.MonkeyPatch
    size: tuple[int, int]
    app: ConsoleApp = field(init=False)
    pilot: Pilot[int] = field(init=False)

    def __post_init__(self) -> None:
        self.workspace.paths = WorkspacePaths(
            Path("models.toml"), Path("data"), Path("runs")
        )  # no path of this machine is shown
        self.monkeypatch.setattr(time, "time", lambda: NOON)
        self.monkeypatch.setattr(Pace, "tokens_per_s", lambda self: 812.0)
        notify = ConsoleApp.notify
        self.monkeypatch.setattr(
            ConsoleApp, "notify", lambda self, *a, **more: notify(self, *a, **more | {"timeout": 1e6})
        )

    @asynccontextmanager
    async def session(self, *, toasts: bool = True) -> AsyncIterator[tuple[ConsoleApp, Callable[..., Awaitable[None]]]]:
        """Open the app for a walk, and give it with `see`."""
        async with self.opened(self.size, toasts=toasts) as (self.app, self.pilot):
            yield self.app, self.see

    async def see(self, words: str | Callable[[], bool], *keys: str) -> None:
        """Press keys and wait until words are shown, or something holds, and nothing moves any more."""
        if keys:
            await self.pilot.press(*keys)
        await assert_until(self.pilot, words if callable(words) else lambda: words in text_of(self.app))
        last = ""
        while last != (last := text_of(self.app)):
            await self.pilot.pause(0.01)
            await self.pilot.pause()  # until idle: a scroll bar is drawn a moment after what it scrolls

    def is_one_pane(self) -> bool:
        """Whether nothing stands below the first pane any more."""
        ruled = [line for line in text_of(self.app).splitlines() if "─" * 60 in line or "━" * 60 in line]
        return len(ruled) == (3 if self.app.screen.has_class("-wide") else 2)

    def on(self, kind: type[ScreenT]) -> ScreenT:
        """Return the screen that is shown, by its own type."""
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    def has_read(self, where: str) -> bool:
        """Whether a place of one run is shown, and all of the run is read."""
        screen = self.app.screen
        return self.at(where)() and isinstance(screen, RunScreen) and screen.feed is not None and screen.feed.is_read

    def at(self, where: str) -> Callable[[], bool]:
        """Return whether the app is at a place that has read what it shows."""
        return lambda: getattr(self.app.screen, "where", "") == where


FINDINGS = (
    ("tested without tools", "good", "answers", ""),
    ("a call", "bad", "wrong: written into the text (<tool_call>): the server has no tool parser",
     "Native function calling scores nothing. Configure the server's tool parser: vLLM --tool-call-parser NAME."),
    ("two calls", "warning", "differs: 1 instead of two", "Parallel cases may fail."),
    ("stop", "good", "ok: ends at the stop sequence", ""),
)  # fmt: skip
"""Findings of a check of an endpoint: name, state, text, hint."""
SERVERS = [
    {"name": name, "title": title, "key": key, "ready": ready, "found": None}
    for name, title, key, ready in (
        ("openai", "OpenAI", "OPENAI_API_KEY is not set", False),
        ("vertex", "Google Vertex AI", "needs `gcloud auth application-default login`", True),
        ("vllm", "vLLM", "needs no key", True),
    )
]
MODELS_OF_SERVER = [
    {"id": id, "context": context, "price_in": price, "price_out": price}
    for id, context, price in (("qwen-small", 32_768, 0.0), ("an-[b]odd[/b]-one", None, None))
]
"""What `models add --json` lists."""
Walk = Callable[[Stage], AsyncGenerator[str, None]]


# Home and what opens over it -----------------------------------------------------------------------------------------


async def first_day(stage: Stage) -> AsyncGenerator[str, None]:
    """No run yet: what each place says then, and every sheet that opens over a place."""
    async with stage.session() as (app, see):
        await see("Nothing has been run")
        yield "home-first-day"
        await see("No run is live", "2")
        yield "home-toast"
        app.clear_notifications()
        await see(lambda: stage.at("board")() and stage.is_one_pane(), "B")
        yield "leaderboard-empty"
        await see(lambda: stage.at("trends")() and stage.is_one_pane(), "H")
        yield "trends-empty"
        await see("[1 Home]", "1")
        await see("No matching", "ctrl+t", *"zzz")
        yield "finder-empty"
        await see(stage.at("home"), "escape")
        await see("Go: a run or a case", "colon")
        yield "palette"
        await see("Theme: next", *"them")
        yield "palette-narrowed"
        await see("Nothing matches", *"zz")
        yield "palette-empty"
        await see(stage.at("home"), "escape")
        await see("No run is live", "colon", *"mess", "enter")
        yield "messages"
        findings = [{"name": name, "state": state, "text": text, "hint": hint} for name, state, text, hint in FINDINGS]
        is_checked = Event()

        def check(*_: object) -> dict[str, Any]:
            is_checked.wait()
            return {"findings": findings}

        stage.monkeypatch.setattr("console.tui.screens.home.checking.verb_output", check)
        await see(stage.at("home"), "escape")
        app.clear_notifications()
        await see("a word of the model to check", "t")
        yield "check-models"
        await see("never checked", "enter")
        yield "check-asked"
        await see("Checking the endpoint", "enter")
        app.clear_notifications()
        await see(lambda: "Checking" not in text_of(app))
        is_checked.set()
        await see("--tool-call-parser")
        yield "check-findings"
        is_listed = Event()

        def list_models(*words: object) -> dict[str, Any]:
            if "vllm" not in words:
                return {"servers": SERVERS}
            is_listed.wait()
            return {"models": MODELS_OF_SERVER, "file": "/srv/evals/models.toml"}

        stage.monkeypatch.setattr("console.tui.screens.home.adding.verb_output", list_models)
        await see(stage.at("home"), "escape")
        await see("needs no key", "plus")
        yield "add-server"
        await see("stops waiting", "v", "enter")
        yield "add-waiting"
        is_listed.set()
        await see("qwen-small")
        yield "add-model"
        await see("Two short calls try it", "enter")
        yield "add-asked"


async def usual_day(stage: Stage) -> AsyncGenerator[str, None]:
    """Some runs of every kind, narrowed, damaged, asked about; one that is live, and a queue."""
    stage.workspace.usual_runs()
    async with stage.session() as (_, see):
        await see("sim/hasty")
        yield "home-usual"
        await see("tokens ↓", "s", "k")
        yield "home-by-tokens"
        await see("newest first", "s", "o")
        await see("name of this run", "y")
        yield "home-menu"
        await see(stage.at("home"), "escape")
        await see("1 of 4", "slash", *"hast")
        yield "home-filter"
        await see("No run matches", *"zz")
        yield "home-filtered-empty"
        await see("newest first", "escape")
        await see("cannot be read", "G")
        if stage.size[0] == 80:  # a wide screen has room for the path of the damaged file, which differs every time
            yield "home-damaged"
        await see("esc", "g", "D")
        yield "home-delete"
        await see(stage.at("home"), "escape")
        await see("run  ", "ctrl+t", *"small")
        yield "finder"


async def busy_day(stage: Stage) -> AsyncGenerator[str, None]:
    """A live run and runs that wait for it; leaving then asks."""
    run = stage.workspace.run("2025-01-17T1320-mine", passed=7, failed=3, planned=20, reason=None)
    for number in range(2):
        queued = stage.workspace.run(f"2025-01-17T132{number + 1}-next", model="sim/hasty", planned=12, reason=None)
        queued.journal_path.unlink()
        RunQueue(stage.workspace.root / "runs").add([Queued(queued.name, NOON)])
    lock, player = RunLock(run.lock_path), RunQueue(stage.workspace.root / "runs").acquire()
    try:
        async with stage.session() as (app, see):
            await see("queued")
            yield "home-live"
            await see("queue", "tab", "g")
            yield "home-queue"
            app.navigator.add_launched([run])
            await see("started here", "ctrl+q")
            yield "home-quit"
    finally:
        lock.release()
        player.release()


# New run -------------------------------------------------------------------------------------------------------------


async def new_run(stage: Stage) -> AsyncGenerator[str, None]:
    """The form: empty, filled in, tried, refused, asked about, and its presets."""
    stage.workspace.write_models(TWO_MODELS)
    stage.workspace.write_suite("more-talk")
    stage.workspace.run("2025-01-17T1320-a", model="gpt-x", passed=1, failed=2)
    (stage.workspace.root / "presets.toml").write_text(
        '[nightly]\nmodels = ["gpt-x", "sim/careful"]\nsuites = ["small-talk/what"]\nsample = 2\n\n'
        '[gone]\nmodels = ["[/x]"]\nsuites = ["nowhere"]\n\n[bad]\nlimit = "many"\n'
    )
    tried = [
        SampleRun(
            stage.workspace.root, "gpt-x", "small-talk", 3, Tally(passed=1, failed=1, cost_usd=0.012), seconds=4.2
        ),
        SampleRun(stage.workspace.root, "free-z", "small-talk", 3, Tally(), is_over=True, problem="connection refused"),
    ]
    stage.monkeypatch.setattr(actions, "start_sample_runs", lambda plans: tried)
    stage.monkeypatch.setattr(actions, "follow_sample_runs", _nothing_new)
    async with stage.session() as (_, see):
        await see("choose a suite", "L")
        yield "launch-empty"
        await see("No matching", "slash", *"zzz")
        yield "launch-filtered-empty"
        await see("[ ] ▸ small-talk", "escape")
        await see("nightly", "p")
        yield "launch-presets"
        await see("presets.toml:11", "pagedown")
        yield "launch-preset-with-mistake"
        await see(stage.at("launch"), "escape")
        await see("[x] ▾ small-talk", "space", "tab", *"jjj", "space", "tab", "3", "enter")
        stage.on(LaunchScreen).controller.form.texts |= {"role:judge": "sim/judge", "role:embedding": "sim/embedding"}
        stage.on(LaunchScreen).apply_change()
        await see("estimated from")
        yield "launch-filled"
        await see("Did you mean why-3", "x", "j", "j", "space", *"why-99")
        yield "launch-mistake"
        await see("estimated from", "escape")
        await see("Save as preset", "w", *"small")
        yield "launch-save"
        await see(stage.at("launch"), "escape")
        await see("mode", *"jjjjjjjj")
        yield "launch-fields"
        await see("half price, in batches", *"kkkk", "space")
        yield "launch-asked"
        await see("about $0.44", "space")
        await see(lambda: bool(stage.on(LaunchScreen).controller.sample_runs), "t")
        yield "launch-trying"


async def _nothing_new(trials: Any, tell: Any) -> None:
    """Let what is tried stay as it is."""


async def only_failed(stage: Stage) -> AsyncGenerator[str, None]:
    """The form for the failed cases of a run, and a mistake in it."""
    stage.workspace.run("2025-01-17T1320-a", model="sim/hasty", passed=1, failed=2, simulated=True)
    async with stage.session() as (_, see):
        await see(lambda: stage.at("launch")() and stage.on(LaunchScreen).controller.forecast is not None, "tab", "a")
        yield "launch-only-failed"


# Live ----------------------------------------------------------------------------------------------------------------


async def live_cases(stage: Stage) -> AsyncGenerator[str, None]:
    """A run of cases beside another one: watched, on a wall, pinned, held up, paused."""
    root = stage.workspace.root / "runs"
    async with (
        FakeEngine(root, cases=40, name="0117-1500-bfcl-gpt-x") as engine,
        FakeEngine(root, 12, name="0117-1501-b") as other,
    ):
        keys = _talk(engine, 9)
        other.recorder.finish(other.recorder.start("b-1"), Outcome.PASSED)
        other.recorder.start("b-2")
        async with stage.session() as (app, see):
            app.navigator.open_live(engine.recorder.folder)
            is_wide = stage.size[0] >= 120
            figures = (
                ("36 left", "9 at once", "2 failed, latest", "4/40", "1/12") if is_wide else ("2 of 40", "1 of 12")
            )
            await see(
                lambda: all(it in text_of(app) for it in ("FOLLOWING", "word 8", "simple_3", "  9 ", "> ▶", *figures))
            )
            yield "live-running"
            await see("PINNED (space follows)", "space")
            yield "live-chosen"
            await see("FOLLOWING", "space")
            await see(
                lambda: (
                    len(tile_cases(stage.on(LiveScreen))) == 4
                    and all(words in text_of(app) for words in ("word 8", "word 0", "word 1", "b-2"))
                ),
                "w",
                "w",
            )
            yield "live-wall"
            await see("PINNED", "m")
            yield "live-pinned"
            await see(
                lambda: len(tile_cases(stage.on(LiveScreen))) == 1 and stage.on(LiveScreen).conversations.has_focus,
                "escape",
            )
            await see("Problems", "i")
            yield "live-problems"
            await see(lambda: not app.screen.has_class("-problems"), "escape")
            held = EndpointState("api.example", 2, 4, 7, NOON + 30, "rate limited until 09:00:30", 3)
            waits = [Activity(key, "waiting", NOON - 6, "rate limited until 09:00:30") for key in keys]
            engine.status = Status("running", 9, waits, [held])
            count = len(waits)  # of conversations, as in the title of the list; the endpoint counts requests
            words, times = (f"{count} wait: rate", 2) if is_wide else (f"{count}× rate", 1)  # strips and figures
            await see(
                lambda: text_of(app).count(words) == times and "live_multiple_8-4-1  rate limited until" in text_of(app)
            )
            yield "live-held"
            engine.status = Status("paused", 9)
            await see(lambda: "‖ paused" in text_of(app) and "p resume" in text_of(app) and "–  paused" in text_of(app))
            yield "live-paused"
            batch = Batched(NOON, "b-1", "gpt-x", total=len(keys), id="batch_1", done=2, submitted_at=NOON - 7200)
            engine.recorder.write(batch)
            waits = [Activity(key, "waiting", NOON - 6, "in a batch") for key in keys]
            in_batches = EndpointState("gpt-x", len(keys), waiting=3, why=batch_words([batch]), is_batched=True)
            engine.status = Status("running", 9, waits, [in_batches])
            drawn = ("9 in batches", "live_multiple_8-4-1  in a batch")  # the strip, and the title of the conversation
            await see(lambda: all(words in text_of(app) for words in drawn))
            yield "live-batch"


def _talk(engine: FakeEngine, count: int) -> list[Any]:
    """Let some cases end and as many as said be talking."""
    recorder = engine.recorder
    for number in range(4):
        key = recorder.start(f"live_simple_{number}-0-0", "live_simple", QUESTION)
        recorder.ask(key, QUESTION, call_reply("get_current_weather", '{"location": "Chicago, IL"}'))
        recorder.finish(key, Outcome.FAILED if number % 2 else Outcome.PASSED, "value_error:string", "unit")
    keys = [recorder.start(f"live_multiple_{n}-4-1", title=QUESTION) for n in range(count)]
    recorder.write(
        Tried(recorder.tick(), key=keys[0], n=1, kind="rate_limit", message="429 Too Many Requests", wait_s=4)
    )
    engine.status = Status("running", count, [Activity(key, "streaming") for key in keys])
    for number, key in enumerate(keys):
        engine.begin(key, messages=[{"role": "user", "content": QUESTION}])
        engine.publisher.text(key, 1, "reasoning", "The reader wants Fahrenheit, so unit must be said.")
        engine.publisher.text(key, 1, "text", f"Here is word {number}.")
    return keys


async def live_ended(stage: Stage) -> AsyncGenerator[str, None]:
    """Runs that have ended: cases, loops, code, halted, out of money, and one that is played again."""
    root = stage.workspace.root / "runs"
    (root / "told").mkdir()
    halted = plain_run(root, name="0117-1421-halted", close=False).close("halted", "key refused: set OPENAI_API_KEY")
    capped = plain_run(root, name="0117-1423-capped", close=False).close("budget", "$5.00 of $5.00 spent")
    folders = {
        "live-ended": plain_run(root).folder,
        "live-halted": halted,
        "live-out-of-money": capped,
        "live-loops": brick_run(root).folder,
        "live-code": code_run(root).folder,
    }
    replayed = replayable_run(root / "told").folder
    async with stage.session() as (app, see):
        for name, folder in folders.items():
            app.navigator.open_live(folder)
            await see(lambda: stage.has_read("live"))
            yield name
        app.navigator.open_live(replayed)
        await see("p replay")
        controls = stage.on(LiveScreen).replay_controls
        await see(lambda: controls.replay is not None and controls.replay.is_read, "p", "p")
        replay = controls.replay
        assert replay is not None
        replay.seek(5.0)  # within the first conversation: what is listed does not depend on what was before
        stage.on(LiveScreen).pump.wake()
        await see(lambda: replay.time_s == 5.0 and "5.0 s of" in text_of(app))
        yield "live-replay"


# Review --------------------------------------------------------------------------------------------------------------


async def review_cases(stage: Stage) -> AsyncGenerator[str, None]:
    """Failures of a run of calls: every view, filter, menu, note and question."""
    compare_by(stage.monkeypatch, WeatherSuite())
    recorder = plain_run(stage.workspace.root / "runs", close=False)
    recorder.finish(recorder.start("live_simple_98-0-0", title=QUESTION), Outcome.UNDECIDED, "unreadable_judge")
    folder = recorder.close()
    async with stage.session() as (app, see):
        app.navigator.open_review(folder)
        await see("would pass")
        yield "review"
        for name, letter in (("talk", "i"), ("truth", "a"), ("tools", "M"), ("raw", "p")):
            await see(f"[{name.capitalize()}]", letter)
            yield f"review-{name}"
            await see("EXPECTED", letter)
        for name, key, words in (("filters", "f", "only failed"), ("groups", "o", "by error type"),
                                 ("tags", "t", "model at fault"), ("branch", "A", "go on from here"),
                                 ("exports", "E", "HTML page"), ("copies", "y", "raw JSON")):  # fmt: skip
            await see(words, key)
            yield f"review-{name}"
            await see(stage.at("review"), "escape")
        await see("Tag 3 of", "T")
        yield "review-tag-shown"
        await see(stage.at("review"), "escape")
        await see("Comment on", "c", *"vague")
        yield "review-comment"
        await see("comment   ", "enter")
        await see("disputed", "D", *"both", "enter")
        await see("2 of", "t", "m")
        yield "review-sorted"
        await see("cost ↓", "s", "c")
        yield "review-by-cost"
        await see(lambda: "cost ↓" not in text_of(app), "s", "o")
        await see("is:", "slash")
        yield "review-search"
        await see("F clears", *"zzz", "enter")
        yield "review-filtered-empty"
        await see("would pass", "F")
        await see("server", "f", "b")
        yield "review-broken"
        await see("judge gave no number", "F", "slash", *"is:undecided", "enter")
        yield "review-undecided"


async def review_others(stage: Stage) -> AsyncGenerator[str, None]:
    """Loops, code, and a run without a failure or without a case."""
    root = stage.workspace.root / "runs"
    compare_by(stage.monkeypatch, recorded=WeatherSuite(), aidan=LoopSuite(), cave=CodeSuite())
    good, none = Recorder(root, cases=1, name="0118-good"), Recorder(root, cases=4, name="0118-none")
    good.finish(good.start("live_simple_1-0-0", title=QUESTION), Outcome.PASSED)
    folders = {
        "review-loops": (brick_run(root).folder, "EXPECTED|round"),
        "review-code": (code_run(root).folder, "validator"),
        "review-no-failure": (good.close(), "0 of 0|No"),
        "review-empty": (none.close("stopped"), "No|Nothing"),
    }
    async with stage.session() as (app, see):
        for name, (folder, words) in folders.items():
            app.navigator.open_review(folder)
            await see(lambda: stage.has_read("review"))
            await see(lambda words=words: any(word in text_of(app) for word in words.split("|")))
            yield name
        app.navigator.open_review(choice_run(root).folder)
        await see(lambda: stage.has_read("review") and "capital-of-australia" in text_of(app))
        await see("[Tokens]", "V", "V")
        yield "review-tokens"


TRANSFERS = ("check_balance", "transfer", "transfer", "confirm")
"""Calls of a conversation that is continued, one in each step of its turn."""


def transfer_run(root: Path, name: str, outcome: Outcome = Outcome.FAILED, last: str = "Done.", **more: Any) -> Any:
    """Record a conversation of four calls and a closing word, or a branch of it."""
    recorder, rollouts = Recorder(root, cases=more.get("rollouts", 1), name=name, **more), more.get("rollouts", 1)
    for rollout in range(rollouts):
        key = recorder.start("pay-the-rent", title="Pay the rent", rollout=rollout)
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Pay the rent of 900 to Mrs. Lind, please."}]
        for step, call in enumerate(TRANSFERS):
            reply = call_reply(call, '{"amount": 900}')
            recorder.ask(key, "", reply, n=step + 1, step=step, messages=list(messages))
            result = {"role": "tool", "tool_call_id": "call_1", "content": f"{call}: ok"}
            messages += [reply.message(), result]
        recorder.ask(key, "", Reply(last, latency_s=1.0), n=5, step=4, messages=messages)
        passed = outcome is Outcome.PASSED and rollout < more["selection"].limit
        recorder.finish(key, Outcome.PASSED if passed else Outcome.FAILED, "" if passed else "state:differs", calls=5)
    return recorder.close()


def branch_run(root: Path, replies: int, passed: int, *arm: Change, rollouts: int = 8) -> Any:
    """Record a branch that has gone on from the step after so many replies."""
    return transfer_run(
        root,
        f"0120-branch-{replies}-{passed}",
        Outcome.PASSED,
        "All is paid.",
        parent="0119-rent",
        rollouts=rollouts,
        selection=Selection(ids=("pay-the-rent",), limit=passed),
        experiment=Experiment((arm,), {"pay-the-rent": Beginning(replies, 0, replies)}),
    )


def trial_run(root: Path) -> Any:
    """Record the trial of a change on the failures of a run, and on a guard."""
    recorded = plain_run(root, name="0121-recorded").folder
    failed, passed = [case for case, *_ in FAILURES], [f"live_simple_{n}-0-0" for n in range(6)]
    strata = (Stratum("chosen", 6, tuple(failed)), Stratum("passed", 6, tuple(passed[:4])))
    change = Change("system", "Be brief.\nUnits as in the schema.", "Be brief.")
    experiment = Experiment(((change,),), {}, strata, 7, "is:failed", 0.02)
    trial = Recorder(root, cases=10, name="0122-trial", parent=recorded.name, experiment=experiment)
    for place, case in enumerate([*failed, *passed[:4]]):
        key = trial.start(case, case.rsplit("_", 1)[0])
        trial.ask(key, QUESTION, call_reply("get_current_weather", '{"location": "Chicago, IL"}'))
        is_passed = place in (0, 1, 2, 7, 8, 9)
        trial.finish(key, Outcome.PASSED if is_passed else Outcome.FAILED, "" if is_passed else "value_error:string")
    return trial.close()


async def branches(stage: Stage) -> AsyncGenerator[str, None]:
    """The step that decided a case, its branches, and one of them beside it."""
    root = stage.workspace.root / "runs"
    compare_by(stage.monkeypatch, WeatherSuite())
    run = transfer_run(root, "0119-rent")
    for replies, passed in ((0, 6), (2, 0), (1, 7)):
        branch_run(root, replies, passed)
    branch = branch_run(root, 2, 3, Change("result", "x", "y"), rollouts=4)
    trial = trial_run(root)
    likely, most, start = (Use(calls, 520 * calls, cost, is_free=False) for calls, cost in ((68.0, 0.1), (96.0, 0.14),
                                                                                            (40.0, 0.058)))  # fmt: skip
    basis = "based on 1 recording of the case and 12 of other cases"
    use = SearchUse(likely, most, start, basis)
    stage.monkeypatch.setattr(DecideActions, "_use", lambda self, rollout, points, times: use)
    stage.monkeypatch.setattr("console.engine.plan.prepare", lambda plan: plan)
    stage.monkeypatch.setattr("console.engine.experiment.new_seed", lambda: 7)
    stage.monkeypatch.setattr("console.engine.experiment_use.expected_use", lambda plan: likely)
    expected = ExpectedUse(likely, start, most, basis)
    stage.monkeypatch.setattr("console.engine.experiment_use.branch_use", lambda plan: expected)
    actions = "console.tui.screens.review.branch_actions"
    stage.monkeypatch.setattr(f"{actions}._kept_edit", lambda what, text: Path("edits", f"{what}.txt"))
    edits = iter(("It was\npaid:\n900\nto Mrs. Lind\n", "Be brief.\nUnits as in the schema.\nDates as YYYY-MM-DD.\n"))
    stage.monkeypatch.setattr("console.tui.editor.edit_text", lambda services, text, name: next(edits))
    async with stage.session() as (app, see):
        app.navigator.open_review(run)
        await see(lambda: stage.has_read("review") and len(stage.on(ReviewScreen).controller.case.branches) > 0)
        await see("Which step decided", "A", "d")
        yield "review-decide"
        await see(lambda: not isinstance(app.screen, ModalScreen), "escape")
        await see("[Branches]", "V")
        yield "review-branches"
        await see("Go on from the start", "A", "h")
        await see("Go on from …", "f")
        await see("Go on from 1.3", *"1.3", "enter")
        await see("as it was", "e")
        await see("+It was", *"result", "enter")
        yield "review-branch-form"
        await see(lambda: not isinstance(app.screen, ModalScreen), "escape")
        await see("Open beside it", "A", "b")
        yield "review-branch-list"
        await see("first difference", "enter")
        yield "compare-branch"
        app.navigator.open_review(branch)
        await see(lambda: stage.has_read("review"))
        yield "review-of-branch"
        app.navigator.open_review(RunFolder(root / "0121-recorded"))
        await see(lambda: stage.has_read("review"))
        await see("as it was", "A", "t")
        yield "review-try-edit"
        await see("Try another system", *"system", "enter")
        yield "review-try"
        await see(lambda: not isinstance(app.screen, ModalScreen), "escape")
        app.navigator.open_review(trial)
        await see(lambda: stage.has_read("review"))
        await see("play the whole suite", "A", "t")
        yield "review-trial-report"
        await see("type to filter", "o")
        yield "review-trial-cases"


STARTER = Path(__file__).resolve().parents[2] / "data" / "dialogue-starter"
VERSIONS = {"prompt": {"plain": "{prompt}", "why": "{prompt} Say why."}}


async def review_rows(stage: Stage) -> AsyncGenerator[str, None]:
    """Rows: checks under each turn, a judge's words, a simulated user, and versions of a prompt."""
    compare_by(stage.monkeypatch, suite_in(STARTER))
    root = stage.workspace.root / "runs"
    wrong = ("berth-and-price", "remember", "explain-tide", "first-visit", "unknown-booking")
    folder = await recorded_rows(root, STARTER, wrong, name="0119-rows")
    varied = await recorded_rows(root, STARTER, ("knots@why", "fee@why", "fee@plain"), name="0119-vary", vary=VERSIONS)
    async with stage.session() as (app, see):
        for case in ("berth-and-price", "explain-tide", "first-visit"):
            app.navigator.open_review(folder, (case, 0))
            await see(
                lambda case=case: stage.has_read("review") and f" {case} " in text_of(app) and app.screen.is_current
            )
            yield f"review-rows-{case}"
            await see("[Talk]", "i")
            yield f"review-rows-{case}-talk"
        app.navigator.open_review(varied, ("knots@why", 0))
        await see(lambda: stage.has_read("review") and "knots@why" in text_of(app))
        await see("row by row", "V")
        yield "review-rows-versions"
        app.navigator.open_live(folder)
        await see(lambda: stage.has_read("live"))
        yield "live-rows"


KINDS = (
    {"id": "flag", "prompt": "Which color is below?", "images": "flag.png", "equals": "blue",
     "simulated": {"right": ["blue"], "wrong": ["It is red."]}},
    {"id": "fizz", "prompt": "Write fizz(n).", "python_tests": "fizz.py",
     "simulated": {"wrong": ["```python\ndef fizz(n):\n    return [str(i) for i in range(n)]\n```"]}},
    {"id": "prime", "prompt": "Which of these is a prime number?", "choices": ["21", "23", "27", "33"], "choice": "B",
     "simulated": {"wrong": ["The answer is A."]}},
    {"id": "late", "prompt": "Tell a guest that the ferry is late.", "simulated": {"wrong": ["Late."]},
     "judge": {"rubric": "The answer is kind and true.", "against": "The ferry is an hour late, sorry."}},
)  # fmt: skip
"""Rows with a picture, with hidden tests, with choices, and with a baseline."""
DOT = base64.b64encode(png(24, 12)).decode()[:24]


async def review_kinds(stage: Stage) -> AsyncGenerator[str, None]:
    """A picture above the answer, tests of code one by one, shuffled choices, and an answer beside its baseline."""
    folder = write_folder(stage.workspace.root / "data" / "kinds", KINDS, toml='headline = ["passed", "win rate"]\n')
    (folder / "flag.png").write_bytes(png(24, 12))
    (folder / "fizz.py").write_text("def test_first(): ...\ndef test_third(): ...\n")
    compare_by(stage.monkeypatch, suite_in(folder))
    run = await recorded_rows(stage.workspace.root / "runs", folder, [row["id"] for row in KINDS], name="0119-kinds")
    outside: list[Path] = []
    stage.monkeypatch.setattr(desktop, "open_outside", outside.append)
    paged: list[list[str]] = []
    stage.monkeypatch.setattr(
        picture_page, "page_pictures", lambda _, pictures: paged.append([shown.media.kind for shown in pictures])
    )
    async with stage.session(toasts=False) as (app, see):
        for row in KINDS:
            case = row["id"]
            app.navigator.open_review(run, (case, 0))
            await see(lambda case=case: stage.has_read("review") and f" {case} " in text_of(app))
            yield f"review-kind-{case}"
            await see("[Talk]", "i")
            yield f"review-kind-{case}-talk"
            if row is KINDS[0]:
                await see(lambda: paged == [["image"]], "P")
                app.perform(find_action("open.files", "review"))
                await see(lambda: [path.read_bytes() for path in outside] == [png(24, 12)])
            for _ in range(6):  # all views
                await see(lambda: True, "v")
                assert DOT not in text_of(app).replace("\n", ""), "no base64 on any screen"


async def labels(stage: Stage) -> AsyncGenerator[str, None]:
    """Blind labels: an answer with criteria, one that readers disagree on, and rounds of loops."""
    stage.monkeypatch.setenv("LOGNAME", "ann")
    compare_by(stage.monkeypatch, suite_in(STARTER), aidan=LoopSuite())
    root = stage.workspace.root / "runs"
    rows = await recorded_rows(root, STARTER, ("explain-tide", "remember"), name="0119-rows")
    loops = brick_run(root, headline="aidanbench_score").folder
    bea = Note(Key("explain-tide", 0), READER_LABEL, PASSED, NOON, "bea", reader=ReaderLabel(True))
    Notes(rows.path).add_all([bea])
    async with stage.session() as (app, see):
        app.navigator.open_review(rows)
        await see(lambda: stage.has_read("review"))
        await see("judge hidden", "X", "l")
        await see(lambda: "true 5" in text_of(app) and "simple ?" in text_of(app), "5")
        yield "review-label-criteria"
        await see("2 of ", "f", "p")
        await see("says the opposite", "c", *"says the opposite")
        await see("with a remark", "enter")
        yield "review-label-remark"
        await see("Settle", "s")
        yield "review-label-settle"
        await see("[Diff]", "escape")
        app.navigator.open_review(loops)
        await see(lambda: stage.has_read("review"))
        await see("judge hidden", "X", "l")
        await see("4 of ", *"ppfp")
        yield "review-label-rounds"


# Compare, leaderboard, library, help --------------------------------------------------------------------------------


REPEATED = tuple(f"live_irrelevance_{number}-0-0" for number in range(5))


async def compare(stage: Stage) -> AsyncGenerator[str, None]:
    """Two and three runs side by side, runs without anything in common, and what models have come to."""
    compare_by(stage.monkeypatch, CallSuite())
    root = stage.workspace.root / "runs"
    two = call_run(root, "0116-0904", "gpt-w", 0), call_run(root, "0117-1420", "gpt-x", 1)
    third = call_run(root, "0118-0900-bfcl-gpt-y", "gpt-y", 0)
    aidan = [
        answer_count_run(root, f"{day}-aidan", f"sim/{day}", rounds)
        for day, rounds in (("0116", (5, 9, 4)), ("0117", (9, 2, 8)))
    ]
    (root / "again").mkdir()
    again = [
        graded_run(root / "again", name, dict(zip(REPEATED, endings.split(), strict=True)), category="live_irrelevance")
        for name, endings in (("0116-again", "pppp ppff ffff pppp pfpf"), ("0117-again", "pfff fppp fffp pppp fpfp"))
    ]
    Notes(two[1].path).add(Note(_key("live_multiple_131-52"), "dispute", "wrong"))
    async with stage.session() as (app, see):
        app.navigator.open_compare(*two)
        await see("may be chance")
        yield "compare"
        await see("lost and gained", "f")
        yield "compare-filters"
        await see("left out", "escape", "f", "o")
        yield "compare-left-out"
        await see("Nothing matches", "f", "g", "slash", *"zzz", "enter")
        yield "compare-filtered-empty"
        await see("lost", "F", "i")
        yield "compare-numbers"
        await see("Compare 0116", "i", "p")
        yield "compare-pick"
        await see(stage.at("compare"), "escape")
        app.navigator.open_compare(again[0], again[1])
        await see("4/4  1/4")
        await see("repeat 4", "right")
        yield "compare-repeats"
        app.navigator.open_grid([*two, third])
        await see("4 of 9 differ")
        yield "compare-grid"
        await see("[ .000", "j", "l")
        yield "compare-grid-cell"
        await see("enter compares two" if stage.size[0] < 120 else "EXPECTED", "enter")
        yield "compare-grid-cases"
        app.navigator.open_grid([*again, again[0]])
        await see("3 of 5 differ")
        await see("enter compares two" if stage.size[0] < 120 else "EXPECTED", "enter")
        await see("repeat 4", "x")
        yield "compare-grid-repeats"
        app.navigator.open_compare(aidan[0], aidan[1])
        await see(lambda: stage.at("compare")() and stage.on(CompareScreen).controller.pair is not None)
        yield "compare-loops"
        app.navigator.open_compare(two[0], aidan[0])
        await see("no case in common")
        yield "compare-empty"
        await see("answers", "B")
        yield "leaderboard"
        await see(lambda: stage.at("trends")() and all(it in text_of(app) for it in ("gpt-y", "0116-aidan")), "H")
        yield "trends"


def _key(case: str) -> Any:
    from console.core.case import Key

    return Key(case)


async def library(stage: Stage) -> AsyncGenerator[str, None]:
    """Suites with their cases, models with their keys, one of them with a mistake."""
    stage.workspace.usual_runs()
    stage.workspace.write_models(MODELS_WITH_A_MISTAKE)
    async with stage.session() as (_, see):
        await see("small-talk", "5")
        yield "library-suites"
        await see("eval-console pull bfcl", "j")
        yield "library-missing"
        await see("endpoint", "G", *["k"] * 4)
        yield "library-model"
        await see("unknown key", *"kk")
        yield "library-mistake"
        await see("what-1", "g", "x", "j", "enter")
        yield "library-cases"
        await see("0 of 3", "slash", *"zzz", "enter")
        yield "library-filtered-empty"


async def searched(stage: Stage) -> AsyncGenerator[str, None]:
    """Search in all runs, and the history of a case."""
    searched_runs(stage.workspace.root / "runs", stage.monkeypatch)
    async with stage.session() as (app, see):
        await see("10 conversations of 3 runs", "S")
        await see("words of any conversation")
        yield "search-empty"
        await see("None of 10", *"refund xylophone")
        yield "search-nothing"
        await see("7 hits in 3 of 3 runs", *["backspace"] * 10, "asterisk", "enter")
        found = stage.on(SearchScreen).controller
        await see(lambda: found.query.text == "refund*" and not found.is_searching)
        await see("The refund is on its way.", "]", "j")
        await see(lambda: stage.on(SearchScreen).hits.cursor == "hit a/refund/0")
        yield "search"
        await see("A seat for me", "g", "enter")
        await see(lambda: stage.has_read("review"))
        runs = app.services.workspace.runs or []
        app.navigator.open_review(next(run.folder for run in runs if run.name == "b"), (CASE, 0))
        await see("history ✗≠✓ · careful ✓  (I)")
        yield "review-history"
        await see("other data", "I")
        yield "history"


MODELS_WITH_A_MISTAKE = """\
[gpt-x]
model_id = "gpt-x-1"
api_key_env = "DESK_KEY"
price = { in = 1.25, out = 10.0 }

[claude-y]
model_id = "claude-y-1"
api_key_env = "DESK_KEY_THAT_IS_NOT_SET"

[bad]
model_id = "bad-1"
prize = 4
"""


async def helped(stage: Stage) -> AsyncGenerator[str, None]:
    """Help of every place, and what stands when there is no room."""
    compare_by(stage.monkeypatch, WeatherSuite())
    folder = plain_run(stage.workspace.root / "runs").folder
    async with stage.session() as (app, see):
        await see("RUNS   ", "question_mark")
        yield "home-help"
        await see("by repeats", "slash", *"sort")
        yield "home-help-found"
        await stage.pilot.press("escape", "escape", "escape")
        for name, go in (("live", app.navigator.open_live), ("review", app.navigator.open_review)):
            go(folder)
            await see(lambda name=name: stage.has_read(name))
            await app.workers.wait_for_complete()
            await see(
                "FAILURES" if name == "review" else "STEER", *([] if app.services.shows_help else ["question_mark"])
            )
            yield f"{name}-help"
            await stage.pilot.press("escape")
        await stage.pilot.resize_terminal(39, 9)
        await see("The console")
        yield "too-small"


WALKS: tuple[Walk, ...] = (
    first_day, usual_day, busy_day, new_run, only_failed, live_cases, live_ended, review_cases, review_others,
    review_rows, review_kinds, labels, branches, compare, library, searched, helped,
)  # fmt: skip
