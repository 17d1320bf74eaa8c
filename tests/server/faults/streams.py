"""Streams with something wrong in them."""

import json

from server.faults.registry import TEXT, chunk, fault, some_text, stream
from server.http1 import Exchange, frame


@fault
def s_nodone(e: Exchange) -> None:
    some_text(e)
    e.finish()


@fault
def s_nofinish(e: Exchange) -> None:
    some_text(e)
    e.piece(b"data: [DONE]\n\n")
    e.finish()


@fault
def s_only_done(e: Exchange) -> None:
    stream(e)


@fault
def s_errevent(e: Exchange) -> None:
    some_text(e)
    e.event({"error": {"message": "The server had an error", "type": "server_error", "code": 500}})
    e.finish()


@fault
def s_err429(e: Exchange) -> None:
    e.begin_events()
    e.piece(b'event: error\ndata: {"message": "slow down", "code": 429}\n\n')
    e.finish()


@fault
def s_err_object(e: Exchange) -> None:
    some_text(e)
    e.event({"object": "error", "message": "the engine died", "param": None})
    e.piece(b"data: [DONE]\n\n")
    e.finish()


@fault
def s_err_code(e: Exchange) -> None:
    some_text(e)
    e.event({"code": 500, "message": "upstream failed"})
    e.piece(b"data: [DONE]\n\n")
    e.finish()


@fault
def s_err_detail(e: Exchange) -> None:
    some_text(e)
    e.event({"detail": "worker lost"})
    e.piece(b"data: [DONE]\n\n")
    e.finish()


@fault
def s_err_choice(e: Exchange) -> None:
    some_text(e)
    failed = {"index": 0, "delta": {"content": ""}, "finish_reason": None, "error": {"message": "gone", "code": 503}}
    e.event({"choices": [failed]})
    e.piece(b"data: [DONE]\n\n")
    e.finish()


@fault
def s_err_named(e: Exchange) -> None:
    some_text(e)
    e.piece(b"event: error\ndata: the engine died\n\ndata: [DONE]\n\n")
    e.finish()


@fault
def s_err_bare(e: Exchange) -> None:
    """JSON without `data:` before it, as servers write it that find out too late."""
    some_text(e)
    e.piece(b'{"error": {"message": "the engine died", "type": "server_error"}}\n\ndata: [DONE]\n\n')
    e.finish()


@fault
def s_err_page(e: Exchange) -> None:
    some_text(e)
    e.piece(b"<html><head><title>502 Bad Gateway</title></head>\n\n<body>nginx</body></html>\n\ndata: [DONE]\n\n")
    e.finish()


@fault
def s_went_on(e: Exchange) -> None:
    """A reason with every chunk, as gateways to Gemini give it, and the connection is closed before the end mark."""
    e.begin_events()
    e.event(chunk({"content": "The weather"}, "stop"))
    e.event(chunk({"content": " is fine"}, "stop"))
    e.finish()


@fault
def s_stop_everywhere(e: Exchange) -> None:
    stream(e, chunk({"content": "The weather"}, "stop"), chunk({"content": " is fine"}, "STOP"))


@fault
def s_null_word(e: Exchange) -> None:
    """The word `null` for a reason while the text goes on, as KoboldCpp before 1.86 wrote it."""
    stream(e, chunk({"content": "The weather"}, "null"), chunk({"content": " is fine"}, ""), chunk({}, "stop"))


@fault
def s_null_delta_at_the_end(e: Exchange) -> None:
    """As Azure ends its streams."""
    stream(e, chunk({"content": TEXT}), {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]})


@fault
def s_filter_results(e: Exchange) -> None:
    """A choice without a delta, in which Azure reports what its filter found."""
    found = {"index": 0, "finish_reason": None, "content_filter_results": {}, "content_filter_offsets": {}}
    stream(e, chunk({"content": TEXT}), {"choices": [found]}, chunk({}, "stop"))


@fault
def s_restated(e: Exchange) -> None:
    """The whole message behind its deltas, as MiniMax sends it."""
    whole = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    stream(e, chunk({"content": "The weather"}), chunk({"content": " is fine"}), {"choices": [whole]})


@fault
def s_restated_each_time(e: Exchange) -> None:
    """The message so far beside each delta, as Perplexity sends it."""
    first, rest = chunk({"content": "The weather"}), chunk({"content": " is fine"}, "stop")
    first["choices"][0]["message"] = {"role": "assistant", "content": "The weather"}
    rest["choices"][0]["message"] = {"role": "assistant", "content": TEXT}
    stream(e, first, rest)


@fault
def s_text_beside_deltas(e: Exchange) -> None:
    """Each piece twice in its choice, as Together AI sends it."""
    pieces = [chunk({"role": "assistant", "content": piece}) for piece in ("The weather", " is fine", "")]
    for piece in pieces:
        piece["choices"][0]["text"] = piece["choices"][0]["delta"]["content"]
    stream(e, *pieces, chunk({}, "stop"))


@fault
def s_reason_twice(e: Exchange) -> None:
    stream(e, chunk({"content": TEXT}), chunk({}, "stop"), chunk({}, "stop"))


@fault
def s_finish_error(e: Exchange) -> None:
    some_text(e)
    e.event(
        {
            "choices": [
                {"index": 0, "delta": {}, "finish_reason": "error", "error": {"message": "upstream", "code": 502}}
            ]
        }
    )
    e.finish()


@fault
def s_badjson(e: Exchange) -> None:
    some_text(e)
    e.piece(b'data: {"choices":[{"delta":{"content":"x\n\n')
    e.finish()


@fault
def s_badutf8(e: Exchange) -> None:
    some_text(e)
    e.piece(b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe"}}]}\n\n')
    e.finish()


@fault
def s_splitutf8(e: Exchange) -> None:
    text = "żółć 漢字 👩‍🚀"
    raw = b"data: " + json.dumps(chunk({"content": text}), ensure_ascii=False).encode() + b"\n\n"
    raw += frame(chunk({}, "stop")) + b"data: [DONE]\n\n"
    e.begin_events()
    for at in range(len(raw)):
        e.piece(raw[at : at + 1])
    e.finish()


@fault
def s_aftdone(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(b"data: [DONE]\n\n")
    e.event(chunk({"content": " ghost"}))
    e.finish()


@fault
def s_late_end(e: Exchange) -> None:
    """The end of the body comes a moment after the end mark, as it does on real networks."""
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(b"data: [DONE]\n\n")
    e.finish_later(0.02)


@fault
def s_never_ends(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(b"data: [DONE]\n\n")


@fault
def s_other_choice(e: Exchange) -> None:
    ghost = {"choices": [{"index": 1, "delta": {"content": "ghost"}, "finish_reason": "stop"}]}
    stream(e, ghost, chunk({"content": TEXT}), ghost, chunk({}, "stop"))


@fault
def s_surrogate_split(e: Exchange) -> None:
    stream(e, chunk({"content": "a\ud83d"}), chunk({"content": "\ude00b"}), chunk({}, "stop"))


@fault
def s_flood(e: Exchange) -> None:
    stream(e, *(chunk({"content": f"w{n % 10} "}) for n in range(20_000)), chunk({}, "stop"))


@fault
def s_endless(e: Exchange) -> None:
    block = frame(chunk({"content": "x" * 65536})) * 16
    e.begin_events()
    e.every(0.0, lambda n: e.piece(block), 40)


@fault
def s_reasoning(e: Exchange) -> None:
    stream(
        e, chunk({"reasoning": "hm"}), chunk({"reasoning_content": "m"}), chunk({"content": "yes"}), chunk({}, "stop")
    )
