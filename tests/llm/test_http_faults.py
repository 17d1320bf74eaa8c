"""Everything a server can do wrong ends in the right fault, in time, with what had arrived kept."""

import asyncio
import re
import resource
import socket
import time

import pytest
from server.faults import FAULTS
from server.http1 import Exchange

from console.core.fault import Fault, FaultKind

K = FaultKind

REFUSALS = [
    ("r401", K.AUTH),
    ("r403", K.AUTH),
    ("r402", K.QUOTA),
    ("r429_quota", K.QUOTA),
    ("r404", K.NOT_FOUND),
    ("r400", K.BAD_REQUEST),
    ("bad_schema", K.BAD_TOOL_SCHEMA),
    ("ctx", K.CONTEXT),
    ("ctx_phrase", K.CONTEXT),
    ("r498", K.SERVER),
    ("r500", K.SERVER),
    ("r529", K.SERVER),
    ("html502", K.SERVER),
    ("flagged403", K.AUTH),
    ("flagged401", K.AUTH),
    ("moderation503", K.SERVER),
    ("redirect", K.NOT_FOUND),
    ("redirect_odd", K.BAD_ANSWER),
    ("redirect_nowhere", K.BAD_ANSWER),
    ("no_reason", K.TRUNCATED),
    ("failed_reason", K.SERVER),
    ("odd_reason", K.BAD_ANSWER),
    ("no_calls", K.BAD_ANSWER),
    ("err_list200", K.SERVER),
    ("cut_head", K.CONNECT),
    ("cut_body", K.BROKEN_STREAM),
    ("not_http", K.BAD_ANSWER),
    ("hdr200k", K.BAD_ANSWER),
    ("html200", K.BAD_ANSWER),
    ("empty_body", K.BAD_ANSWER),
    ("empty_choices", K.BAD_ANSWER),
    ("null_choices", K.BAD_ANSWER),
    ("type_confusion", K.BAD_ANSWER),
    ("bad_json", K.BAD_ANSWER),
    ("bad_utf8", K.BAD_ANSWER),
    ("deep", K.BAD_ANSWER),
    ("huge_int", K.BAD_ANSWER),
    ("gzipbomb", K.BAD_ANSWER),
    ("too_big", K.BAD_ANSWER),
]


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
@pytest.mark.parametrize(("name", "kind"), REFUSALS)
async def test_a_bad_answer_is_a_typed_fault(connect, question, seen, name, kind, streamed):
    endpoint = connect(params={} if streamed else {"stream": False})
    with pytest.raises(Fault) as caught:
        await endpoint.ask(question(f"fault:{name}"), seen)
    assert caught.value.kind is kind, caught.value
    assert caught.value.message
    assert [fault.kind for fault, _ in seen.failed] == [kind]
    assert seen.failed[-1][1] is None


_OF_LIBRARIES = re.compile(
    r"\[Errno|\w+Error\b|object at 0x|_ssl\.c|message=|Can not|Server disconnected|not completed"
)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "plain"])
async def test_no_text_of_a_library_reaches_people(connect, question, seen, streamed):
    """Whatever breaks, it is said in our words; those of the server are quoted."""
    limits = {"timeout_s": 0.3, "first_token_s": 0.3, "idle_s": 0.3, "max_wait_s": 0}
    endpoint = connect(limits, params={} if streamed else {"stream": False})
    for name in sorted(FAULTS):
        try:
            await endpoint.ask(question(f"fault:{name}"), seen)
        except Fault as fault:
            shown = fault.message.replace(fault.partial, "") if fault.partial else fault.message
            assert not _OF_LIBRARIES.search(shown), (name, shown)


STREAMS = [
    ("s_cut", K.BROKEN_STREAM, "The weather is fine"),
    ("s_rst", K.BROKEN_STREAM, "The weather is fine"),
    ("s_nodone", K.TRUNCATED, "The weather is fine"),
    ("s_nofinish", K.TRUNCATED, "The weather is fine"),
    ("s_went_on", K.TRUNCATED, "The weather is fine"),
    ("s_errevent", K.SERVER, "The weather is fine"),
    ("s_err_object", K.SERVER, "The weather is fine"),
    ("s_err_code", K.SERVER, "The weather is fine"),
    ("s_err_detail", K.SERVER, "The weather is fine"),
    ("s_err_choice", K.SERVER, "The weather is fine"),
    ("s_err_named", K.SERVER, "The weather is fine"),
    ("s_err_bare", K.SERVER, "The weather is fine"),
    ("s_err_page", K.BAD_ANSWER, "The weather is fine"),
    ("s_err429", K.RATE_LIMIT, ""),
    ("s_finish_error", K.SERVER, "The weather is fine"),
    ("s_badjson", K.BAD_ANSWER, "The weather is fine"),
    ("s_badutf8", K.BAD_ANSWER, "The weather is fine"),
    ("s_only_done", K.BAD_ANSWER, ""),
    ("s_toolcut", K.TRUNCATED, 'f {"city": "Ber'),
    ("s_endless", K.BAD_ANSWER, None),
]


@pytest.mark.parametrize(("name", "kind", "partial"), STREAMS)
async def test_a_broken_stream_is_a_fault_that_keeps_the_partial(connect, question, seen, name, kind, partial):
    with pytest.raises(Fault) as caught:
        await connect({"max_wait_s": 0}).ask(question(f"fault:{name}"), seen)
    assert caught.value.kind is kind, caught.value
    if partial is not None:
        assert caught.value.partial == partial
        assert "".join(text for _, text in seen.texts) == partial


async def test_the_beginning_of_an_unreadable_answer_is_kept(connect, question, seen):
    for name, kept in (("html200", "<!DOCTYPE html>"), ("type_confusion", '{"choices"'), ("bad_utf8", "\ufffd")):
        with pytest.raises(Fault) as caught:
            await connect().ask(question(f"fault:{name}"), seen)
        assert kept in caught.value.partial


async def test_an_error_with_status_200_is_what_it_says_it_is(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect({"max_wait_s": 0}).ask(question("fault:err200"), seen)
    assert caught.value.kind is K.RATE_LIMIT
    assert "Rate limited upstream" in caught.value.message


SLOW = [
    ("stall_head", {"first_token_s": 0.2}, K.SILENT),
    ("drip_head", {"timeout_s": 0.25}, K.DEADLINE),
    ("s_stall_first", {"first_token_s": 0.2}, K.SILENT),
    ("s_stall", {"idle_s": 0.5}, K.STALLED),
    ("s_ping", {"idle_s": 0.5}, K.STALLED),
    ("s_empty_chunks", {"idle_s": 0.5}, K.STALLED),
    ("s_loris", {"timeout_s": 2.0, "idle_s": 1.5}, K.DEADLINE),
]


@pytest.mark.parametrize(("name", "limits", "kind"), SLOW)
async def test_a_slow_server_meets_our_own_limits(connect, question, seen, name, limits, kind):
    began = time.monotonic()
    with pytest.raises(Fault) as caught:
        await connect(limits).ask(question(f"fault:{name}"), seen)
    assert caught.value.kind is kind
    assert time.monotonic() - began < 20
    expected = {"s_loris": "a ", "s_stall": "The weather is fine", "s_ping": "The weather is fine"}.get(name, "")
    assert caught.value.partial.startswith(expected)


async def test_waiting_for_a_slow_server_does_not_block_others(connect, question, seen):
    endpoint = connect({"timeout_s": 60})
    slow = asyncio.ensure_future(endpoint.ask(question("fault:drip_head"), seen))
    reply = await endpoint.ask(question("hi"), seen)
    assert reply.content == "You said: hi"
    assert not slow.done()
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow


async def test_an_answer_that_is_complete_does_not_need_the_last_mark(connect, question, seen):
    reply = await connect({"idle_s": 0.5}).ask(question("fault:s_stall_done"), seen)
    assert (reply.content, reply.finish) == ("The weather is fine", "stop")


async def test_one_connection_carries_one_answer_after_the_other(connect, question, seen, server):
    endpoint, before = connect(), server.counts["connections"]
    for text in ("hi", "fault:s_late_end", "fault:r400", "fault:s_aftdone", "fault:s_late_end", "hi"):
        try:
            await endpoint.ask(question(text), seen)
        except Fault:
            assert text == "fault:r400"
    assert server.counts["connections"] - before == 1


async def test_a_body_that_never_ends_does_not_hold_its_answer_back(connect, question, seen):
    began = time.monotonic()
    reply = await connect().ask(question("fault:s_never_ends"), seen)
    assert reply.content == "The weather is fine"
    assert time.monotonic() - began < 20


REDIRECTS = [
    "http://[half",
    "http://host:port/v1",
    "http://host:99999/",
    "javascript:alert(1)",
    "http://",
    "a\tb",
    "\xff\xfe",
    "http://h/\x1b[31m",
    "",
    " ",
    "x" * 5000,
]


@pytest.mark.parametrize("location", REDIRECTS)
async def test_a_redirect_with_an_odd_location_is_a_bad_answer(connect, question, seen, monkeypatch, location):
    def play(exchange: Exchange) -> None:
        exchange.send(
            b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: " + location.encode("latin-1") + b"\r\n\r\n"
        )
        exchange.finish()

    monkeypatch.setitem(FAULTS, "odd_location", play)
    with pytest.raises(Fault) as caught:
        await connect().ask(question("fault:odd_location"), seen)
    is_path = location.startswith("x")  # a path of the same server, however long
    assert caught.value.kind is (K.NOT_FOUND if is_path else K.BAD_ANSWER)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


async def test_a_closed_port_is_named(connect, question, seen):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(Fault) as caught:
        await connect(base_url=f"http://127.0.0.1:{port}/v1").ask(question(), seen)
    assert caught.value.kind is K.CONNECT
    assert caught.value.message == f"cannot connect to 127.0.0.1:{port}: Connection refused"
    assert "base_url" in caught.value.hint


async def test_an_unknown_host_is_named(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect(base_url="http://no-such-host.invalid/v1").ask(question(), seen)
    assert caught.value.kind is K.CONNECT
    assert "no-such-host.invalid" in caught.value.message


async def test_tls_to_a_server_without_it_is_named(connect, question, seen, server):
    with pytest.raises(Fault) as caught:
        await connect(base_url=server.base_url.replace("http:", "https:")).ask(question(), seen)
    assert caught.value.kind is K.CONNECT
    assert "TLS" in caught.value.message


async def test_a_bomb_is_not_unpacked(connect, question, seen):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Fault):
        await connect().ask(question("fault:gzipbomb"), seen)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


async def test_the_key_is_in_no_fault_and_goes_to_no_other_host(connect, question, seen, key, server):
    for name in ("r401", "redirect"):
        with pytest.raises(Fault) as caught:
            await connect().ask(question(f"fault:{name}"), seen)
        told = caught.value
        assert key not in f"{told.message} {told.partial} {told.hint} {told.args}"
    assert server.heads[-1]["authorization"] == f"Bearer {key}"


async def test_a_refused_key_says_where_the_key_came_from(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect().ask(question("fault:r401"), seen)
    assert "TEST_KEY" in caught.value.hint
    assert "[redacted]" in caught.value.message


async def test_an_unknown_model_is_named_beside_those_that_are_served(connect, question, seen):
    with pytest.raises(Fault) as caught:
        await connect(model_id="tset-model").ask(question("fault:r404"), seen)
    assert "tset-model" in caught.value.message
    assert "it serves test-model" in caught.value.message


async def test_a_value_without_a_json_form_is_refused_before_sending(connect, question, seen, server):
    before = server.counts["chat"]
    with pytest.raises(Fault) as caught:
        await connect(params={"x": float("inf")}).ask(question(), seen)
    assert caught.value.kind is K.BAD_REQUEST
    assert server.counts["chat"] == before
