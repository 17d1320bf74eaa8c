"""Streams with something wrong in them."""

import json
from typing import Any

from server.faults.registry import DONE, FAULTS, TEXT, after_text, chunk, fault, stream
from server.http1 import Exchange, frame


def failed_choice(delta: dict[str, Any], finish: str | None, message: str, code: int) -> dict[str, Any]:
    error = {"message": message, "code": code}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish, "error": error}]}


FAULTS |= {
    "s_nodone": after_text(),
    "s_nofinish": after_text(DONE),
    "s_errevent": after_text({"error": {"message": "The server had an error", "type": "server_error", "code": 500}}),
    "s_err_object": after_text({"object": "error", "message": "the engine died", "param": None}, DONE),
    "s_err_code": after_text({"code": 500, "message": "upstream failed"}, DONE),
    "s_err_detail": after_text({"detail": "worker lost"}, DONE),
    "s_err_choice": after_text(failed_choice({"content": ""}, None, "gone", 503), DONE),
    "s_err_named": after_text(b"event: error\ndata: the engine died\n\n", DONE),
    # JSON without `data:` before it, as servers write it that find out too late.
    "s_err_bare": after_text(b'{"error": {"message": "the engine died", "type": "server_error"}}\n\n', DONE),
    "s_err_page": after_text(
        b"<html><head><title>502 Bad Gateway</title></head>\n\n<body>nginx</body></html>\n\n", DONE
    ),
    "s_finish_error": after_text(failed_choice({}, "error", "upstream", 502)),
    "s_badjson": after_text(b'data: {"choices":[{"delta":{"content":"x\n\n'),
    "s_badutf8": after_text(b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe"}}]}\n\n'),
    "s_only_done": lambda e: stream(e),
    "s_stop_everywhere": lambda e: stream(
        e, chunk({"content": "The weather"}, "stop"), chunk({"content": " is fine"}, "STOP")
    ),
    # The word `null` for a reason while the text goes on, as KoboldCpp before 1.86 wrote it.
    "s_null_word": lambda e: stream(
        e, chunk({"content": "The weather"}, "null"), chunk({"content": " is fine"}, ""), chunk({}, "stop")
    ),
    # As Azure ends its streams.
    "s_null_delta_at_the_end": lambda e: stream(
        e, chunk({"content": TEXT}), {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}
    ),
    "s_reason_twice": lambda e: stream(e, chunk({"content": TEXT}), chunk({}, "stop"), chunk({}, "stop")),
    "s_surrogate_split": lambda e: stream(
        e, chunk({"content": "a\ud83d"}), chunk({"content": "\ude00b"}), chunk({}, "stop")
    ),
    "s_flood": lambda e: stream(e, *(chunk({"content": f"w{n % 10} "}) for n in range(20_000)), chunk({}, "stop")),
    "s_reasoning": lambda e: stream(
        e, chunk({"reasoning": "hm"}), chunk({"reasoning_content": "m"}), chunk({"content": "yes"}), chunk({}, "stop")
    ),
}


@fault
def s_err429(e: Exchange) -> None:
    e.begin_events()
    e.piece(b'event: error\ndata: {"message": "slow down", "code": 429}\n\n')
    e.finish()


@fault
def s_went_on(e: Exchange) -> None:
    """A reason with every chunk, as gateways to Gemini give it, and the connection is closed before the end mark."""
    e.begin_events()
    e.event(chunk({"content": "The weather"}, "stop"))
    e.event(chunk({"content": " is fine"}, "stop"))
    e.finish()


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
def s_splitutf8(e: Exchange) -> None:
    text = "żółć 漢字 👩‍🚀"
    raw = b"data: " + json.dumps(chunk({"content": text}), ensure_ascii=False).encode() + b"\n\n"
    raw += frame(chunk({}, "stop")) + DONE
    e.begin_events()
    for at in range(len(raw)):
        e.piece(raw[at : at + 1])
    e.finish()


@fault
def s_aftdone(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(DONE)
    e.event(chunk({"content": " ghost"}))
    e.finish()


@fault
def s_late_end(e: Exchange) -> None:
    """The end of the body comes a moment after the end mark, as it does on real networks."""
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(DONE)
    e.finish_later(0.02)


@fault
def s_never_ends(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk({"content": TEXT}))
    e.event(chunk({}, "stop"))
    e.piece(DONE)


@fault
def s_other_choice(e: Exchange) -> None:
    ghost = {"choices": [{"index": 1, "delta": {"content": "ghost"}, "finish_reason": "stop"}]}
    stream(e, ghost, chunk({"content": TEXT}), ghost, chunk({}, "stop"))


@fault
def s_endless(e: Exchange) -> None:
    block = frame(chunk({"content": "x" * 65536})) * 16
    e.begin_events()
    e.every(0.0, lambda n: e.piece(block), 40)
