"""What is played, in which order, and what a resume plays again."""

import tracemalloc

from console.core.case import Case, Key
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Started
from console.engine.queue import Job, JobQueue, RetryScope, plan_jobs
from console.engine.recorded_effects import JournalEffects

CASES = [Case("a", "c"), Case("b", "c", depends_on=("a",)), Case("d", "c", depends_on=("a", "b"))]
EVERY = frozenset[str]()


def drain(queue: JobQueue) -> list[str]:
    found: list[str] = []
    while (job := queue.next()) is not None:
        found.append(str(job.key))
    return found


def remember(*ended: tuple[str, Outcome | None, str | None, int]) -> JournalEffects:
    memory = JournalEffects()
    for case, outcome, reason, attempt in ended:
        memory.add_all([Started(at=1.0, key=Key(case, 0, attempt), case=Case(case, "c"))])
        if outcome is not None:
            memory.add_all([Finished(at=2.0, key=Key(case, 0, attempt), verdict=Verdict(outcome, reason=reason))])
    return memory


def test_dependants_wait_for_their_own_rollout() -> None:
    jobs = plan_jobs(CASES, 2, JournalEffects(), RetryScope.NONE, EVERY)
    queue = JobQueue(jobs, [])
    assert drain(queue) == ["a", "a r2"]
    queue.finish(("a", 1))
    assert drain(queue) == ["b r2"]
    queue.finish(("a", 0))
    queue.finish(("b", 1))
    assert drain(queue) == ["d r2", "b"]
    assert len(queue) == 1


def test_a_queue_says_whether_jobs_were_removed_from_it() -> None:
    jobs = plan_jobs(CASES, 1, JournalEffects(), RetryScope.NONE, EVERY)
    queue = JobQueue(jobs, [])
    assert list(queue.slots) == [job.slot for job in jobs]
    drain(queue)
    queue.drop_categories(["none of them"])
    assert not queue.is_cut
    queue.drop_categories([case.category for case in CASES])
    assert (queue.is_cut, len(queue)) == (True, 0)


def test_finished_dependencies_do_not_block_a_resume() -> None:
    memory = remember(("a", Outcome.PASSED, None, 1))
    jobs = plan_jobs(CASES, 1, memory, RetryScope.NONE, EVERY)
    queue = JobQueue(jobs, memory.finished)
    assert drain(queue) == ["b"]


def test_an_interrupted_attempt_goes_on_and_a_broken_one_is_a_new_attempt() -> None:
    memory = remember(("a", None, None, 1), ("b", Outcome.BROKEN, "server", 1), ("d", Outcome.FAILED, "x", 1))
    free = [Case(case.id, "c") for case in CASES]
    assert [str(job.key) for job in plan_jobs(free, 1, memory, RetryScope.NONE, EVERY)] == ["a"]
    assert [str(job.key) for job in plan_jobs(free, 1, memory, RetryScope.BROKEN, EVERY)] == ["a", "b attempt 2"]
    only = plan_jobs(free, 1, memory, RetryScope.BROKEN, frozenset({"d"}))
    assert [str(job.key) for job in only] == ["a"]


def test_a_reroll_that_an_older_version_began_does_not_go_on() -> None:
    memory = remember(("a", Outcome.FAILED, "x", 1), ("a", None, None, 2), ("b", Outcome.PASSED, None, 1))
    for scope in RetryScope:
        assert not list(plan_jobs([Case("a", "c"), Case("b", "c")], 1, memory, scope, EVERY))


def test_an_interrupted_second_attempt_keeps_its_number() -> None:
    memory = remember(("a", Outcome.BROKEN, "server", 1), ("a", None, None, 2))
    jobs = plan_jobs([Case("a", "c")], 1, memory, RetryScope.NONE, EVERY)
    assert [job.key.attempt for job in jobs] == [2]


def test_what_a_reader_stopped_stays_stopped_until_asked_for() -> None:
    memory = remember(("a", Outcome.NOT_RUN, "stopped", 1), ("b", Outcome.NOT_RUN, "dependency", 1))
    cases = [Case("a", "c"), Case("b", "c")]
    assert [job.key.case for job in plan_jobs(cases, 1, memory, RetryScope.NONE, EVERY)] == ["b"]
    assert [job.key.case for job in plan_jobs(cases, 1, memory, RetryScope.BROKEN, EVERY)] == ["a", "b"]


def test_what_waits_for_a_lost_case_is_lost_with_it_in_its_rollout_only() -> None:
    queue = JobQueue(plan_jobs(CASES, 2, JournalEffects(), RetryScope.NONE, EVERY), [])
    drain(queue)
    assert sorted(str(job.key) for job in queue.drop_dependents(("a", 0))) == ["b", "d"]
    queue.finish(("a", 1))
    assert drain(queue) == ["b r2"]


def test_a_dependency_outside_the_selection_blocks_nothing() -> None:
    some = [CASES[1]]
    assert drain(JobQueue(plan_jobs(some, 1, JournalEffects(), RetryScope.NONE, EVERY), [])) == ["b"]


def test_a_job_is_made_when_it_is_needed_so_that_a_million_take_little_memory() -> None:
    cases = [Case(f"c{number}", "c") for number in range(1_000)]
    tracemalloc.start()
    queue = JobQueue(plan_jobs(cases, 1_000, JournalEffects(), RetryScope.NONE, EVERY), [])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(queue) == 1_000_000
    assert held < 10e6
    assert [str(job.key) if (job := queue.next(from_end=at_end)) else "" for at_end in (False, True)] == [
        "c0",
        "c999 r1000",
    ]


def test_a_job_that_is_held_back_keeps_its_place_before_the_later_ones() -> None:
    queue = JobQueue(plan_jobs(CASES[:1], 4, JournalEffects(), RetryScope.NONE, EVERY), [])
    queue.add(Job(CASES[0], Key("a", 7)))
    second = queue.next(may_start=lambda slot: slot[1] in (1, 3))
    assert second is not None
    assert str(second.key) == "a r2"
    assert queue.has_only_held(lambda slot: slot[1] == 1)
    assert queue.next(may_start=lambda slot: slot[1] == 1) is None
    assert drain(queue) == ["a r8", "a", "a r3", "a r4"]
