"""No first token in time: a model that thinks, or a server with a queue of its own."""

import asyncio

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.config.model import Limits
from console.core.fault import Fault, FaultKind


def test_the_first_token_may_take_as_long_as_at_peers() -> None:
    assert Limits().first_token_s >= 600
    assert Limits().timeout_s > 2 * Limits().first_token_s


async def test_a_model_that_thinks_in_silence_is_cut_once_and_then_given_twice_the_time(connect, question, seen):
    with OpenAIServer(lambda request: Scripted("Lisbon", latency_s=0.6)) as server:
        endpoint = connect({"first_token_s": 0.4, "max_tries": 5}, base_url=server.base_url)
        assert (await endpoint.ask(question(), seen)).content == "Lisbon"
        assert (await endpoint.ask(question(), seen)).tries == 1, "the time stays doubled"
        assert server.counts["chat"] == 3
    ((fault, _),) = seen.failed
    assert fault.kind is FaultKind.SILENT
    assert "first_token_s" in fault.message
    assert "first_token_s" in fault.hint


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
async def test_a_silent_request_is_not_paid_for_without_end(connect, question, seen, streamed):
    limits = {"first_token_s": 0.1, "timeout_s": 30 if streamed else 0.1, "max_tries": 9}
    endpoint = connect(limits, params={} if streamed else {"stream": False})
    with pytest.raises(Fault) as caught:
        await endpoint.ask(question("fault:stall_head"), seen)
    assert len(seen.failed) == 2
    assert "0.2 s" in caught.value.message


@pytest.mark.parametrize(("slots", "lists_slots"), [(1, True), (2, True), (1, False)])
async def test_time_in_the_server_s_queue_is_no_silence(connect, question, seen, slots, lists_slots):
    """All get their answers, with fewer requests at once, and none loses a try to the queue that is known."""
    server = OpenAIServer(lambda request: Scripted("yes", latency_s=0.2), slots=slots, lists_slots=lists_slots)
    with server:
        limits = {"first_token_s": 0.5, "max_tries": 1 if lists_slots else 5}
        endpoint = connect(limits, base_url=server.base_url)
        replies = await asyncio.gather(*(endpoint.ask(question(str(number)), seen) for number in range(8)))
        assert [reply.content for reply in replies] == ["yes"] * 8
        assert server.counts["props"] == lists_slots
        server.most_in_flight = 0
        await asyncio.gather(*(endpoint.ask(question(str(number)), seen) for number in range(4)))
        if lists_slots:
            assert server.most_in_flight == slots
    faults = [fault for fault, _ in seen.failed]
    assert {fault.kind for fault in faults} == {FaultKind.SILENT}
    if lists_slots:
        assert all(f"-c {slots}" in fault.hint for fault in faults)
        assert any(f"no first token in time, so {slots} at once" in why for why, _ in seen.waits)
