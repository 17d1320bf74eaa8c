"""The feed gives the same picture from disk and from a live engine, and a frame never overtakes the facts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from support.fake_engine import FakeEngine
from support.recorded_runs import Recorder, plain_run

from console.core.case import Key
from console.core.chat import Reply
from console.core.fault import UsageError
from console.core.live import Activity, Command, Status
from console.core.outcome import Outcome
from console.core.record import Asked, Scored
from console.insight.passage import PassageKind
from console.store.journal import JournalReader
from console.store.runs import RunFolder
from console.tui.data.run_feed import KEPT, MOST_FRAMES, Changes, RunFeed, RunFeeds

TRIES = 1500


async def until(feed: RunFeed, holds: Callable[[], bool]) -> Changes:
    """Pump until something holds, and return all changes on the way."""
    changes = Changes()
    for _ in range(TRIES):
        changes.merge(feed.pump())
        if holds():
            return changes
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to hold")


@asynccontextmanager
async def fed(folder: RunFolder) -> AsyncIterator[RunFeed]:
    feed = RunFeed(folder)
    feed.start()
    try:
        yield feed
    finally:
        feed.close()


async def test_a_finished_run_is_read_to_its_end_and_says_so_once(tmp_path):
    async with fed(plain_run(tmp_path).folder) as feed:
        changes = await until(feed, lambda: feed.is_read)
        assert changes.settled
        assert (feed.overview.fold.tally.passed, feed.overview.fold.tally.failed) == (6, 6)
        assert len(changes.slots) == 13
        assert not feed.is_busy
        assert not feed.is_attached
        assert not feed.send(Command("pause"))
        assert not feed.pump()


async def test_every_conversation_is_the_one_in_the_journal(tmp_path):
    folder = plain_run(tmp_path).folder
    by_key: dict[Key, int] = {}
    for record in JournalReader(folder.journal_path).read_new():
        if isinstance(record, Asked):
            by_key[record.key] = by_key.get(record.key, 0) + 1
    async with fed(folder) as feed:
        await until(feed, lambda: feed.is_read)
        for rollout in feed.overview.rollouts.values():
            conversation = feed.conversation(rollout.key)
            assert len(conversation.exchanges) == by_key.get(rollout.key, 0)
            assert conversation.verdict is not None
            assert feed.conversation(rollout.key) is conversation


async def test_only_so_many_conversations_are_kept(tmp_path):
    recorder = Recorder(tmp_path, cases=KEPT + 5)
    keys = [recorder.start(f"c{n}") for n in range(KEPT + 5)]
    for key in keys:
        recorder.finish(key, Outcome.PASSED)
    async with fed(recorder.close()) as feed:
        await until(feed, lambda: feed.is_read)
        feed.prefetch(keys)
        assert not feed.is_kept(keys[0])
        assert feed.is_kept(keys[-1])
        assert feed.conversation(keys[0]).verdict is not None


async def test_reading_ahead_in_a_run_that_was_deleted_meanwhile_is_no_error(tmp_path):
    recorder = Recorder(tmp_path, cases=2)
    keys = [recorder.start(f"c{n}") for n in range(2)]
    for key in keys:
        recorder.finish(key, Outcome.PASSED)
    async with fed(recorder.close()) as feed:
        await until(feed, lambda: feed.is_read)
        feed.folder.journal_path.unlink()
        feed.prefetch(keys)
        assert not any(feed.is_kept(key) for key in keys)


async def test_a_conversation_opened_while_reading_misses_nothing_and_has_nothing_twice(tmp_path):
    recorder = Recorder(tmp_path, cases=400)
    keys = [recorder.start(f"c{n}") for n in range(400)]
    for turn in range(3):
        for key in keys:
            recorder.ask(key, "q" * 300, Reply(f"answer {turn}"), n=turn + 1, turn=turn)
    async with fed(recorder.close()) as feed:
        await until(feed, lambda: len(feed.overview.rollouts) > 10)
        assert not feed.is_read
        early = feed.conversation(keys[0])
        await until(feed, lambda: feed.is_read)
        assert [it.asked.reply.content for it in early.exchanges] == ["answer 0", "answer 1", "answer 2"]
        assert [it.text for it in early.passages if it.kind is PassageKind.ASSISTANT] == [
            f"answer {n}" for n in range(3)
        ]


async def test_damaged_lines_are_counted_and_the_rest_is_read(tmp_path):
    folder = plain_run(tmp_path).folder
    text = folder.journal_path.read_bytes().split(b"\n")
    text[4] = text[4].replace(b"a", b"b")
    folder.journal_path.write_bytes(b"\n".join(text))
    async with fed(folder) as feed:
        await until(feed, lambda: feed.is_read)
        assert feed.damages == 1
        assert len(feed.overview.rollouts) >= 12


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(UsageError):
        RunFeed(RunFolder(tmp_path))


async def test_text_streams_and_gives_way_to_the_record(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        engine.status = Status("running", 4, [Activity(key, "streaming")])
        await until(feed, lambda: feed.is_attached and ("a", 0) in feed.overview.rollouts)
        conversation = feed.conversation(key)
        engine.begin(key, messages=[{"role": "user", "content": "hello?"}])
        engine.publisher.text(key, 1, "text", "hel")
        engine.publisher.text(key, 1, "text", "lo")
        await until(feed, lambda: bool(conversation.tail()) and conversation.tail()[0].text == "hello")
        assert feed.overview.rollouts["a", 0].recent_text == "hello"
        engine.recorder.ask(key, "hello?", Reply("hello there"), messages=[{"role": "user", "content": "hello?"}])
        engine.publisher.ended(key, 1)
        await until(feed, lambda: not conversation.tail())
        assert [it.text for it in conversation.passages] == ["hello?", "hello there"]


async def test_who_waits_is_woken_when_an_answer_begins_and_the_facts_before_it_are_read(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        other = engine.recorder.start("other")
        await until(feed, lambda: feed.is_attached and ("other", 0) in feed.overview.rollouts)
        key = engine.recorder.start("a")
        for begun in (other, key):
            engine.begin(begun)
            engine.publisher.text(begun, 1, "text", "Hel")
        async with asyncio.timeout(30):
            await feed.wakeup.wait(60, lambda awaited: awaited == key)
        changes = feed.pump(budget_s=30)
        assert changes.begun == {("a", 0), ("other", 0)}
        assert feed.overview.rollouts["a", 0].recent_text == "Hel"


async def test_a_conversation_opened_in_mid_stream_has_the_text_so_far(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        engine.begin(key)
        engine.publisher.text(key, 1, "text", "first ")
        await until(
            feed, lambda: bool(feed.overview.rollouts) and feed.overview.rollouts["a", 0].recent_text == "first "
        )
        engine.publisher.text(key, 1, "text", "second")
        await until(feed, lambda: feed.overview.rollouts["a", 0].recent_text == "first second")
        assert feed.conversation(key).tail()[0].text == "first second"


async def test_an_answer_that_is_asked_for_again_begins_anew_wherever_it_is_shown(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        watched, other = engine.recorder.start("a"), engine.recorder.start("b")
        await until(feed, lambda: feed.is_attached and len(feed.overview.rollouts) == 2)
        shown = feed.conversation(watched)
        for key in (watched, other):
            engine.begin(key)
            engine.publisher.text(key, 1, "text", "broke ")
        await until(feed, lambda: bool(shown.tail()))
        for key in (watched, other):
            engine.publisher.restarted(key, 1)
            engine.publisher.text(key, 1, "text", "whole")
        await until(feed, lambda: all(rollout.recent_text == "whole" for rollout in feed.overview.rollouts.values()))
        assert shown.tail()[0].text == "whole"
        assert feed.conversation(other).tail()[0].text == "whole", "opened after the answer had begun anew"


async def test_a_frame_never_overtakes_the_facts_it_follows(tmp_path):
    """The next call is announced while the answer to the last one is not read yet: it must not be shown twice."""
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        await until(feed, lambda: feed.is_attached and feed.is_read)
        conversation = feed.conversation(key)
        for n in range(1, 30):
            reply = Reply(f"answer {n}")
            before = [Reply(f"answer {n - 1}").message()] if n > 1 else []
            asked = [*before, {"role": "user", "content": f"q{n}"}]
            engine.begin(key, n, messages=asked)
            engine.recorder.ask(key, "", reply, n=n, messages=asked, prefix=2 * (n - 1))
            engine.publisher.ended(key, n)
            if n % 7 == 0:
                await asyncio.sleep(0.02)
                feed.pump()
        await until(feed, lambda: len(conversation.exchanges) == 29)
        await until(feed, lambda: not conversation.tail())
        said = [it.text for it in conversation.passages]
        assert said == [text for n in range(1, 30) for text in (f"q{n}", f"answer {n}")]


async def test_text_is_left_out_while_the_journal_is_read_too_slowly_and_returns_once_it_is_read(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        await until(feed, lambda: feed.is_attached and ("a", 0) in feed.overview.rollouts)
        engine.begin(key)
        engine.publisher.text(key, 1, "text", "still ")
        for n in range(MOST_FRAMES + 1):
            engine.begin(Key("b"), n)
            engine.publisher.ended(Key("b"), n)
        for _ in range(TRIES):  # nothing is applied meanwhile
            if engine.text_wanted == [True, False]:
                break
            await asyncio.sleep(0.005)
        assert engine.text_wanted == [True, False]
        engine.publisher.text(key, 1, "text", "here")
        await until(feed, lambda: feed.overview.rollouts["a", 0].recent_text == "still here")
        assert engine.text_wanted == [True, False, True]
        assert feed.is_attached


async def test_commands_reach_the_engine_and_its_end_is_noticed(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        await until(feed, lambda: feed.is_attached and feed.overview.status is not None)
        assert feed.send(Command("stop_case", key=key))
        await until(feed, lambda: bool(engine.heard))
        assert engine.heard == [Command("stop_case", key=key)]
        engine.recorder.finish(key, Outcome.FAILED, "value_error:string")
        await engine.end()
        await until(feed, lambda: not feed.is_live and not feed.is_attached)
        await until(feed, lambda: feed.overview.state == "completed")
        assert feed.overview.rollouts["a", 0].outcome is Outcome.FAILED


async def test_scores_arrive_as_they_are_journaled(tmp_path):
    async with FakeEngine(tmp_path) as engine, fed(engine.recorder.folder) as feed:
        key = engine.recorder.start("a")
        engine.recorder.write(Scored(1.0, key=key, name="novelty", value=0.4, threshold=0.15))
        await until(feed, lambda: "novelty" in feed.overview.track_names)
        assert feed.overview.rollouts["a", 0].tracks["novelty"].last == 0.4


async def test_screens_of_one_run_share_a_feed(tmp_path):
    folder = plain_run(tmp_path).folder
    feeds = RunFeeds()
    first, second = feeds.open(folder), feeds.open(folder)
    assert first is second
    seen: list[Changes] = []
    first.subscribe(seen.append)
    await until(second, lambda: second.is_read)
    assert any(changes.settled for changes in seen)
    feeds.close(first)
    assert feeds.open(folder) is first
    feeds.close(first)
    feeds.close(first)
    assert feeds.open(folder) is not first
    feeds.close(feeds.open(folder))
