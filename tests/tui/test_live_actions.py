"""The action groups of Live, without the app: what the keys ask of an engine, of a replay, and of the other runs."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from support.recorded_runs import Recorder, plain_run
from tui.services_double import FakeServices

from console.core.case import Case, Key
from console.core.live import Command, Status
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.insight.overview import Overview
from console.tui.actions import ACTIONS, Action
from console.tui.data.run_feed import RunFeed
from console.tui.screens.live.run_controls import GRADED, NO_ENGINE, ReplayControls, RunControls
from console.tui.screens.live.several_runs import LiveRuns

KEY = Key("a")


class EngineFeed:
    """The feed of a run that an engine plays; keeps the commands that are sent to it."""

    def __init__(self, folder: Any = None) -> None:
        self.folder = folder
        self.overview = Overview()
        self.is_live = self.is_attached = self.is_read = True
        self.sent: list[Command] = []
        self.overview.apply(Started(at=1.0, key=KEY, case=Case("a", "", {})))
        self.overview.apply_frame(Status("running", 4))

    def send(self, command: Command) -> bool:
        if self.is_attached:
            self.sent.append(command)
        return self.is_attached


def controls_of(feed: Any, services: FakeServices) -> RunControls:
    def run_now(question: Coroutine[None, None, None]) -> None:
        asyncio.run(question)

    return RunControls(
        services,
        feed=lambda: feed,
        rollout=lambda: feed.overview.rollout(KEY) if feed else None,
        rollout_feed=lambda: feed,
        in_worker=run_now,
        line=lambda: None,
    )


def action(id: str) -> Action:
    return next(action for action in ACTIONS if action.id == id and action.where == "live")


# The engine ----------------------------------------------------------------------------------------------------------


def test_pause_goes_on_when_the_run_is_paused() -> None:
    feed = EngineFeed()
    controls = controls_of(feed, FakeServices())
    controls.action_run_pause()
    feed.overview.apply_frame(Status("paused", 4))
    assert controls.key_words() == {"run.pause": "resume"}
    controls.action_run_pause()
    assert feed.sent == [Command("pause"), Command("resume")]


def test_steps_of_concurrency_add_up_before_the_engine_answers_and_end_at_one() -> None:
    feed = EngineFeed()
    controls = controls_of(feed, FakeServices())
    controls.action_run_faster()
    controls.action_run_faster()
    for _ in range(9):
        controls.action_run_slower()
    assert [command.value for command in feed.sent] == [5, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1]


def test_what_runs_can_be_stopped_and_what_ended_be_asked_again() -> None:
    feed, services = EngineFeed(), FakeServices()
    controls = controls_of(feed, services)
    assert controls.why_not(action("case.retry")) == "this conversation has not ended"
    controls.action_case_retry()
    controls.action_case_stop()
    assert feed.sent == [Command("stop_case", key=KEY)]
    feed.overview.apply(Finished(at=2.0, key=KEY, verdict=Verdict(Outcome.BROKEN)))
    assert controls.why_not(action("case.stop")) == "this conversation has ended"
    controls.action_case_stop()
    controls.action_case_retry()
    assert feed.sent[1:] == [Command("retry_case", key=KEY)]
    assert "as a new attempt" in services.messages[0].plain


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED])
def test_what_has_its_grade_is_not_asked_again(outcome: Outcome) -> None:
    feed, services = EngineFeed(), FakeServices()
    controls = controls_of(feed, services)
    feed.overview.apply(Finished(at=2.0, key=KEY, verdict=Verdict(outcome)))
    assert controls.why_not(action("case.retry")) == GRADED
    controls.action_case_retry()
    assert not feed.sent
    assert "in a new run" in services.messages[0].plain


@pytest.mark.parametrize(("answer", "command"), [("f", "stop"), ("s", "kill"), (None, None)])
def test_the_run_is_stopped_as_the_reader_answers(answer: str | None, command: str | None, tmp_path: Path) -> None:
    feed, services = EngineFeed(Recorder(tmp_path, cases=1).folder), FakeServices(answer=answer)
    controls_of(feed, services).action_run_stop()
    assert len(services.asked) == 1
    assert [sent.do for sent in feed.sent] == ([command] if command else [])


def test_without_an_engine_every_control_says_so() -> None:
    feed, services = EngineFeed(), FakeServices()
    feed.is_attached = False
    controls = controls_of(feed, services)
    controls.action_run_pause()
    controls.action_run_stop()
    assert [message.plain for message in services.messages] == [NO_ENGINE.plain] * 2
    assert controls.why_not(action("run.pause")) == "this run has no engine"
    assert controls.why_not(action("order")) is None


# The replay ----------------------------------------------------------------------------------------------------------


def replay_of(folder: Any, feed: Any, services: FakeServices) -> tuple[ReplayControls, list[str]]:
    happened: list[str] = []
    controls = ReplayControls(
        services,
        folder,
        run_feed=lambda: feed,
        show_feed=lambda replay: happened.append("replay" if replay is not None else "run"),
        clock_changed=lambda: happened.append("clock"),
        moved=lambda: happened.append("moved"),
    )
    return controls, happened


def test_a_run_that_is_live_cannot_be_replayed(tmp_path: Path) -> None:
    services = FakeServices()
    controls, happened = replay_of(plain_run(tmp_path).folder, EngineFeed(), services)
    assert not controls.takes_over
    assert controls.why_not(action("replay.back")) == "only finished runs can be replayed"
    controls.action_replay_back()
    assert "p replays a finished run" in services.messages[0].plain
    assert not happened
    assert not controls.leave()


async def test_the_keys_of_a_live_run_move_the_clock_of_a_replay(tmp_path: Path) -> None:
    folder, services = plain_run(tmp_path).folder, FakeServices()
    feed = RunFeed(folder)
    feed.start()
    try:
        while not feed.is_read:
            feed.pump()
            await asyncio.sleep(0.005)
    finally:
        feed.close()
    controls, happened = replay_of(folder, feed, services)
    assert controls.takes_over
    assert controls.key_words()["run.pause"] == "replay"
    controls.action_run_pause()
    replay = controls.replay
    assert replay is not None
    assert controls.why_not(action("run.stop")) == "this is a replay"
    assert controls.why_not(action("run.pause")) == ""
    controls.action_run_pause()
    controls.action_run_faster()
    assert (replay.is_playing, replay.speed) == (False, 4.0)
    controls.action_replay_last()
    assert controls.leave()
    assert controls.replay is None
    assert happened == ["replay", "clock", "clock", "moved", "run"]


# Other runs ----------------------------------------------------------------------------------------------------------


def test_a_run_alone_has_no_other_to_go_to(tmp_path: Path) -> None:
    services = FakeServices()
    live_runs = LiveRuns(services, plain_run(tmp_path).folder)
    live_runs.update(None)
    live_runs.action_run_next()
    assert "No other run is live" in services.messages[0].plain
    assert live_runs.why_not(action("run.next")) == "no other run is live"
    assert live_runs.key_words() == {"run.next": ""}
    assert not services.navigator.opened
