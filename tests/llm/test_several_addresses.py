"""One model at several addresses, over real connections: who is asked, and what a bad address costs the others."""

import asyncio
import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted, last_text

from console.config.model import Limits, ModelConfig
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.llm import balancer
from console.llm.endpoint import Endpoint
from console.llm.limits.limiter import Limiter
from console.llm.limits.share import LimitShare
from console.llm.providers import open_endpoint

LATENCY_S = 0.02


def answering(**settings: Any) -> Callable[[dict[str, Any]], Scripted]:
    return lambda request: Scripted(last_text(request), **{"latency_s": LATENCY_S, **settings})


@pytest.fixture
def pair() -> Iterator[list[OpenAIServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(OpenAIServer(answering())) for _ in range(2)]


def address_of(server: OpenAIServer) -> str:
    return f"127.0.0.1:{server.port}"


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Endpoint]]:
    """Return a maker of endpoints to several servers or addresses."""
    opened: list[Endpoint] = []

    def make(servers: list[Any], **limits: Any) -> Endpoint:
        first, *others = [server if isinstance(server, str) else server.base_url for server in servers]
        limits = {"max_tries": 3, "backoff_s": 0.01, "timeout_s": 30} | limits
        model = ModelConfig(
            name="tested",
            model_id="m",
            base_url=first,
            other_urls=tuple(others),
            api_key_env="TEST_KEY",
            limits=Limits(**limits),
        )
        opened.append(open_endpoint(model))
        return opened[-1]

    yield make
    for endpoint in opened:
        await endpoint.aclose()


def asked(text: str, prefers: str = "") -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], prefers=prefers)


async def ask_all(endpoint: Endpoint, seen: Any, count: int, at_once: int = 8) -> list[Any]:
    """Ask so many questions of conversations that begin with them; return replies and faults in order."""
    room = asyncio.Semaphore(at_once)

    async def ask(number: int) -> str:
        async with room:
            return (await endpoint.ask(asked(f"q{number}"), seen)).content or ""

    return await asyncio.gather(*(ask(number) for number in range(count)), return_exceptions=True)


def answers(count: int) -> list[str]:
    return [f"q{number}" for number in range(count)]


async def test_new_conversations_are_spread_evenly(pair, connect, seen) -> None:
    assert await ask_all(connect(pair), seen, 40) == answers(40)
    counts = [server.counts["chat"] for server in pair]
    assert sum(counts) == 40
    assert min(counts) >= 15
    assert Counter(seen.addresses) == {address_of(server): count for server, count in zip(pair, counts, strict=True)}


async def test_one_question_after_another_goes_to_all_in_turn(pair, connect, seen) -> None:
    await ask_all(connect(pair), seen, 6, at_once=1)
    assert seen.addresses == [address_of(server) for server in pair] * 3


async def test_a_conversation_stays_where_it_was_answered(pair, connect, seen) -> None:
    endpoint, home = connect(pair), address_of(pair[1])
    await asyncio.gather(*(endpoint.ask(asked(f"step {step}", prefers=home), seen) for step in range(6)))
    assert [server.counts["chat"] for server in pair] == [0, 6]


async def test_a_conversation_does_not_wait_at_home_while_there_is_room_elsewhere(pair, connect, seen) -> None:
    endpoint, home = connect(pair, concurrency=1), address_of(pair[0])
    await asyncio.gather(*(endpoint.ask(asked(f"step {step}", prefers=home), seen) for step in range(2)))
    assert [server.counts["chat"] for server in pair] == [1, 1]
    assert seen.waits == []


async def test_a_conversation_waits_at_home_until_it_is_known_what_may_be_sent_there(seen) -> None:
    shares = [LimitShare(4, None, 600.0) for _ in range(2)]
    both = balancer.Balancer((name, Limiter(name, share=share)) for name, share in zip("ab", shares, strict=True))
    shares[0].alone()

    async def acquire(prefers: str) -> str:
        terms = {"failures": {}, "refused": (), "max_wait_s": 60.0, "is_retry": False}
        address, _ = await both.acquire(seen, prefers=prefers, **terms)
        return address.name

    at_home = asyncio.create_task(acquire("b"))
    await asyncio.sleep(0)
    assert await acquire("") == "a"
    assert not at_home.done()
    shares[1].alone()
    assert await at_home == "b"


async def test_the_slower_of_two_gets_fewer(pair, connect, seen) -> None:
    pair[0].answer = answering(latency_s=10 * LATENCY_S)
    assert await ask_all(connect(pair), seen, 60) == answers(60)
    slow, quick = (server.counts["chat"] for server in pair)
    assert 0 < slow < quick / 2


async def test_limits_hold_at_each_address_by_itself(pair, connect, seen) -> None:
    assert await ask_all(connect(pair, concurrency=2), seen, 30, at_once=12) == answers(30)
    assert [server.most_in_flight for server in pair] == [2, 2]
    assert max(server.counts["chat"] for server in pair) < 25, "who waits takes the first that is free"


async def test_one_that_dies_costs_nothing_and_is_asked_again_when_it_is_back(connect, seen, monkeypatch) -> None:
    monkeypatch.setattr(balancer, "_FIRST_PROBE_S", 0.05)
    with OpenAIServer(answering()) as left:
        with OpenAIServer(answering()) as dying:
            endpoint = connect([dying, left])
            assert await ask_all(endpoint, seen, 10) == answers(10)
        assert await ask_all(endpoint, seen, 40) == answers(40)
        after = seen.addresses[-10:]
        assert after.count(address_of(left)) >= 7, "it is passed over, but for probes that become rarer"
        dead, sound = endpoint.states()
        assert (dead.name, bool(dead.why), sound.why) == (address_of(dying), True, "")
        with OpenAIServer(answering(), port=dying.port) as back:
            async with asyncio.timeout(60):
                while not back.counts["chat"]:
                    await ask_all(endpoint, seen, 4)
            back.counts.clear()
            await ask_all(endpoint, seen, 20)
            assert back.counts["chat"] in range(8, 13)
    kinds = {fault.kind for fault, _ in seen.failed}
    assert kinds <= {FaultKind.CONNECT, FaultKind.BROKEN_STREAM}


async def test_a_rate_limit_at_one_makes_nobody_wait(pair, connect, seen) -> None:
    pair[0].answer = answering(fault="r429_hour", latency_s=0.0)
    endpoint = connect(pair, max_wait_s=1)
    assert await ask_all(endpoint, seen, 30) == answers(30)
    limited, free = endpoint.states()
    assert limited.paused_until is not None
    assert free.paused_until is None
    assert pair[0].counts["chat"] <= 8, "only what was sent together"
    assert all(wait == 0.0 for _, wait in seen.failed)


async def test_a_rate_limit_at_both_is_waited_for(pair, connect, seen) -> None:
    for server in pair:
        server.answer = answering(fault="r429_msx2")
    assert await ask_all(connect(pair), seen, 4) == answers(4)


async def test_an_hour_at_both_is_left_to_who_asks(pair, connect, seen) -> None:
    for server in pair:
        server.answer = answering(fault="r429_hour")
    endpoint = connect(pair, max_wait_s=1)
    with pytest.raises(Fault) as caught:
        await endpoint.ask(asked("q"), seen)
    assert caught.value.kind is FaultKind.RATE_LIMIT
    assert not caught.value.is_halting


@pytest.mark.parametrize("fault", ["r401", "r404", "r402"])
async def test_one_that_refuses_key_or_model_is_passed_over(pair, connect, seen, fault: str) -> None:
    pair[0].answer = answering(fault=fault)
    endpoint = connect(pair)
    assert await ask_all(endpoint, seen, 20) == answers(20)
    assert pair[0].counts["chat"] <= 8
    assert endpoint.states()[0].why.startswith("skipped: ")


async def test_when_all_refuse_the_last_refusal_halts(pair, connect, seen) -> None:
    for server in pair:
        server.answer = answering(fault="r401")
    with pytest.raises(Fault) as caught:
        await connect(pair).ask(asked("q"), seen)
    assert caught.value.is_halting
    assert [server.counts["chat"] for server in pair] == [1, 1]


async def test_when_none_was_ever_there_the_run_halts(connect, seen) -> None:
    nowhere = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    with pytest.raises(Fault) as caught:
        await connect(nowhere).ask(asked("q"), seen)
    assert caught.value.is_halting


async def test_one_that_was_never_there_halts_nothing(pair, connect, seen) -> None:
    endpoint = connect(["http://127.0.0.1:1/v1", pair[1]])
    assert await ask_all(endpoint, seen, 10) == answers(10)


async def test_a_fault_of_the_request_is_not_shopped_around(pair, connect, seen) -> None:
    for server in pair:
        server.answer = answering(fault="r400")
    with pytest.raises(Fault):
        await connect(pair).ask(asked("q"), seen)
    assert sum(server.counts["chat"] for server in pair) == 1


async def test_tries_are_counted_over_all_addresses(pair, connect, seen) -> None:
    for server in pair:
        server.answer = answering(fault="r500")
    with pytest.raises(Fault):
        await connect(pair, max_tries=4).ask(asked("q"), seen)
    assert [server.counts["chat"] for server in pair] == [2, 2]


async def test_embeddings_are_spread_too(pair, connect, seen) -> None:
    endpoint = connect(pair)
    for number in range(6):
        await endpoint.embed([f"text {number}"], seen)
    assert [server.counts["embeddings"] for server in pair] == [3, 3]


async def test_cancelled_questions_leave_no_place_taken(pair, connect, seen) -> None:
    chance = random.Random(3)
    endpoint = connect(pair, concurrency=2)
    asking = [asyncio.ensure_future(endpoint.ask(asked(f"q{number}"), seen)) for number in range(60)]
    for task in chance.sample(asking, 40):
        await asyncio.sleep(0)
        if chance.random() < 0.3:
            await asyncio.sleep(chance.random() * LATENCY_S)
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    assert [(state.in_flight, state.waiting) for state in endpoint.states()] == [(0, 0)] * 2
    assert await ask_all(endpoint, seen, 8) == answers(8)


def test_a_key_goes_only_to_the_host_it_belongs_to(monkeypatch) -> None:
    from console.config.models import key_state
    from console.config.secrets import resolve_key

    monkeypatch.setenv("OPENAI_API_KEY", key := f"sk-{uuid.uuid4().hex}")
    model = ModelConfig(
        name="m", model_id="m", base_url="https://api.openai.com/v1", other_urls=("http://127.0.0.1:8000/v1",)
    )
    assert [resolve_key(at_address) for at_address in model.at_each_address()] == [key, None]
    assert key_state(model).ready
