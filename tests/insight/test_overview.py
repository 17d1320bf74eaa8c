"""The overview counts as core.tally does, keeps only little, and says what runs, fails and waits."""

from console.core.case import Case, Key
from console.core.chat import Reply, ToolCall, Usage
from console.core.live import Activity, Began, Delta, Deltas, Status
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Closed, Finished, Opened, Scored, Started, Tried
from console.insight.overview import Overview
from console.insight.pace import Pace


def started(case: str, at: float = 1, attempt: int = 1) -> Started:
    return Started(
        at=at, key=Key(case, 0, attempt), case=Case(case, "simple", title=f"title {case}", data={"x": "y" * 99})
    )


def finished(
    case: str, outcome: Outcome, reason: str | None = None, at: float = 2, attempt: int = 1, **more
) -> Finished:
    verdict = Verdict(outcome, reason, "unit", ("why " * 300,), detail={"function": "f"})
    return Finished(at=at, key=Key(case, 0, attempt), verdict=verdict, output=["big"], seconds=1.5, **more)


def overview(*records) -> Overview:
    made = Overview()
    for record in records:
        made.apply(record)
    return made


def test_counts_and_lists():
    run = overview(
        Opened(at=0, pid=1),
        started("a"),
        started("b"),
        started("c"),
        finished("a", Outcome.PASSED, cost_usd=0.1),
        finished("b", Outcome.FAILED, "value_error:string"),
    )
    tally = run.fold.tally
    assert (tally.passed, tally.failed, tally.running, tally.cost_unknown) == (1, 1, 1, 1)
    assert [it.key.case for it in run.running.values()] == ["c"]
    assert [it.key.case for it in run.failures] == ["b"]
    failed = run.rollouts["b", 0]
    assert (failed.reason, failed.subject, failed.function) == ("value_error:string", "unit", "f")
    assert len(failed.message) == 400
    assert run.fold.latest["b", 0] is failed  # how it ended is there once


def test_the_function_is_what_was_called_or_read_from_the_answer():
    run = overview(started("a"), started("b"), started("c"))
    run.apply(Finished(at=2, key=Key("a"), verdict=Verdict(Outcome.FAILED, detail={"decoded": [{"f": {"x": 1}}]})))
    run.apply(Finished(at=2, key=Key("b"), verdict=Verdict(Outcome.PASSED), output=[{"g": {}}]))
    run.apply(Finished(at=2, key=Key("c"), verdict=Verdict(Outcome.PASSED), output=[["odd"], 3]))
    assert [it.function for it in run.rollouts.values()] == ["f", "g", ""]


def test_a_new_attempt_supersedes_and_keeps_its_place():
    run = overview(
        started("a"),
        started("b"),
        finished("a", Outcome.BROKEN, "server"),
        started("a", attempt=2),
    )
    assert run.rollouts["a", 0].is_running
    assert run.rollouts["a", 0].order == 0
    run.apply(finished("a", Outcome.PASSED, attempt=2))
    assert run.fold.tally.broken == 0
    assert [str(key) for key in run.rollouts["a", 0].attempts] == ["a", "a attempt 2"]
    assert [problem.kind for problem in run.problems] == ["server"]


def test_frames_give_state_and_words():
    run = overview(started("a"))
    key = Key("a")
    run.apply_frame(Status("running", 4, [Activity(key, "waiting", why="rate limited"), Activity(Key("zz"), "asking")]))
    assert (run.state, run.rollouts["a", 0].state, run.rollouts["a", 0].why) == ("running", "waiting", "rate limited")
    run.apply_frame(Began(key=key, n=1, role="model", turn=1, step=2))
    run.apply_frame(Deltas([Delta(key, 1, "x" * 500), Delta(key, 1, "end"), Delta(Key("zz"), 1, "?")]))
    rollout = run.rollouts["a", 0]
    assert (rollout.turn, rollout.step) == (1, 2)
    assert rollout.recent_text.endswith("xend")
    assert len(rollout.recent_text) == 160
    assert run.pop_changes() == {("a", 0)}
    assert run.pop_changes() == set()


def test_tries_become_problems_and_a_halted_run_says_why():
    run = overview(
        started("a"),
        Tried(at=2, key=Key("a"), n=1, kind="rate_limit", message="slow down", wait_s=2),
        Tried(at=3, key=Key("a"), n=1, kind="auth", message="no", wait_s=None),
        Closed(at=4, reason="halted", message="key refused"),
    )
    assert [(it.kind, it.is_error) for it in run.problems] == [("rate_limit", False), ("auth", True), ("halted", True)]
    assert run.rollouts["a", 0].tries == 2
    assert run.state == "halted"
    assert run.running == {}


def test_scores_make_tracks_and_replies_make_words():
    call = ToolCall("1", "weather", "{}")
    run = overview(
        started("a"),
        Asked(at=2, key=Key("a"), n=1, digest="", reply=Reply(None, (call,), usage=Usage(5, 7)), turn=3),
        Scored(at=3, key=Key("a"), name="novelty", value=0.5, threshold=0.15),
        Scored(at=4, key=Key("a"), name="novelty", value=None, threshold=0.15),
    )
    rollout = run.rollouts["a", 0]
    assert (rollout.recent_text, rollout.function, rollout.turn, rollout.output_tokens) == (
        "weather({})",
        "weather",
        3,
        7,
    )
    assert rollout.tracks["novelty"].values == [0.5, None]
    assert run.track_names == {"novelty": 0.15}


def test_resume_leaves_what_ran_interrupted_until_it_starts_again():
    run = overview(Opened(at=0, pid=1), started("a"), Opened(at=9, pid=2))
    assert run.running == {}
    run.apply(started("a", at=10))
    assert list(run.running) == [("a", 0)]
    assert len(run.rollouts) == 1


def test_pace_is_unknown_before_it_is_known():
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.tokens_per_s() is None
    pace.wrote(400)
    assert pace.tokens_per_s() == 200
    now[0] = 120.0
    assert pace.tokens_per_s() is None


def test_pace_is_of_the_whole_window_when_its_first_replies_have_passed_out_of_it():
    now = [40.0]
    pace = Pace(lambda: now[0])
    pace.apply(Opened(at=0, pid=1))
    for at in (1, 39):
        reply = Reply("", usage=Usage(10, 300))
        pace.apply(Asked(at=at, key=Key("a"), n=1, digest="", reply=reply))
    assert pace.tokens_per_s() == 10


def test_a_conversation_waits_as_soon_as_a_call_failed_that_will_be_tried_again():
    again = Tried(at=2, key=Key("a"), n=1, kind="rate_limit", message="slow down", wait_s=2)
    run = overview(started("a"))
    run.apply_frame(Status("running", 2, [Activity(Key("a"), "asking", since=1.0)]))
    run.apply(again)
    assert [rollout.state for rollout in run.running.values()] == ["waiting"]
    replayed = overview(started("a"), again)
    assert [rollout.state for rollout in replayed.running.values()] == [""], "no status will tell when it goes on"


def test_the_time_left_follows_the_latest_endings_without_the_time_between_sessions():
    run = overview(Opened(at=100, pid=1), *(finished(f"{at}", Outcome.PASSED, at=at) for at in (101, 102)))
    assert run.fold.seconds_per_rollout(102) == 0
    run.apply(finished("103", Outcome.PASSED, at=103))
    assert run.fold.seconds_per_rollout(103) == 1
    run.apply(Opened(at=5_000, pid=2))
    for second in range(2, 104, 2):
        run.apply(finished(f"slower {second}", Outcome.PASSED, at=5_000 + second))
    assert run.fold.seconds_per_rollout(5_102) == 2
    assert run.fold.seconds_per_rollout(5_202) == 4, "nothing ended meanwhile"


def test_calls_of_every_step_are_functions_of_a_rollout():
    texts = ["[find_page(query='a (b)'), sort_pages(by='date')]", "```python\n[open_page(url='x')]\n```"]
    steps = [texts, [[{"close": {}}]]]
    verdict = Verdict(Outcome.FAILED, "agentic:no_last_message")
    run = overview(started("a"), Finished(at=2, key=Key("a", 0, 1), verdict=verdict, output=steps))
    assert run.rollouts["a", 0].functions == ("find_page", "sort_pages", "open_page", "close")


def test_prose_names_no_function():
    verdict = Verdict(Outcome.FAILED)
    output = [["I would call find_page(query) first."], [{"answer": "f(x)", "reply": "g(x)"}]]
    run = overview(started("a"), Finished(at=2, key=Key("a", 0, 1), verdict=verdict, output=output))
    assert run.rollouts["a", 0].functions == ()
