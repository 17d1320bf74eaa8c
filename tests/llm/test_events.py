"""Events come out the same however the bytes are cut, and as the event-stream grammar says."""

import time
from itertools import cycle, pairwise

from hypothesis import given
from hypothesis import strategies as st

from console.llm.transport.events import LineReader, SseReader


def by_the_book(raw: bytes) -> list[tuple[bytes, bytes]]:
    """Read a whole stream line by line, as the WHATWG text has it, but for pages and bare JSON in the middle of it."""
    raw = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events, name, data, page = [], b"", [], []
    for line in raw.split(b"\n")[:-1]:
        if not line:
            if page:
                events.append((b"error", b"\n".join(page)))
            elif data:
                events.append((name, b"\n".join(data)))
            name, data, page = b"", [], []
            continue
        if page or line.startswith((b"<", b"{")):
            page.append(line)
            continue
        field, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
    return events


def read(pieces: list[bytes]) -> list[tuple[bytes, bytes]]:
    reader = SseReader()
    return [tuple(event) for piece in pieces for event in reader.feed(piece)]


LINES = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        b'data: {"x": 1}',
        b"data",
        b"data: [DONE]",
        b": ping",
        b":",
        b"event: error",
        b"id: 7",
        b'{"error": "gone"}',
        b"<html>",
        b"",
    ]
    + [f"data: {text}".encode() for text in ("żółć", "漢字", "👩‍🚀", "a: b", "  two spaces")]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS), max_size=30).map(lambda rows: b"".join(line + end for line, end in rows))


@given(mark=st.sampled_from([b"", b"\xef\xbb\xbf"]), raw=STREAMS, cuts=st.lists(st.integers(0, 400), max_size=40))
def test_any_cut_gives_the_same_events(mark, raw, cuts):
    raw = mark + raw
    at = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    pieces = [raw[start:end] for start, end in pairwise(at)]
    assert read(pieces) == by_the_book(raw)
    assert read([raw[n : n + 1] for n in range(len(raw))]) == by_the_book(raw)


@given(raw=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=20))
def test_any_bytes_are_read_without_complaint(raw, cuts):
    at = sorted({min(cut, len(raw)) for cut in cuts} | {0, len(raw)})
    assert read([raw[start:end] for start, end in pairwise(at)]) == by_the_book(raw)


def test_a_page_in_the_middle_of_a_stream_is_an_error():
    """With what stands around it in the same block, as a proxy leaves it when it takes over."""
    reader = SseReader()
    assert reader.feed(b'data: a\n\ndata: half\n<html>\n502</html>\n\n{"error": 1}\n\ndata: b\n\n') == [
        (b"", b"a"),
        (b"error", b"<html>\n502</html>"),
        (b"error", b'{"error": 1}'),
        (b"", b"b"),
    ]
    assert reader.feed(b"<html>cut") == []
    assert reader.end() == (b"error", b"<html>cut")


def test_a_stream_that_ends_early_gives_its_last_event_at_the_end():
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: b") == [(b"", b"a")]
    assert reader.end() == (b"", b"b")
    assert reader.end() is None


def test_a_huge_event_in_small_pieces_is_not_copied_again_and_again():
    reader = SseReader()
    reader.feed(b"data: ")
    for _ in range(2000):
        assert reader.feed(b"x" * 4096) == []
    assert len(reader.feed(b"\n\n")[0].data) == 2000 * 4096


def test_a_huge_event_of_many_lines_is_not_copied_again_and_again():
    """Joined at each of its 20,000 pieces, an event of 80 MB makes 800 GB; that is minutes instead of one second."""
    reader = SseReader()
    began = time.process_time()
    for _ in range(20_000):
        assert reader.feed(b"data: " + b"x" * 4096 + b"\n") == []
    (event,) = reader.feed(b"\n")
    assert len(event.data) == 20_000 * 4097 - 1
    assert time.process_time() - began < 10


@given(
    lines=st.lists(st.sampled_from([b'{"a": 1}', "żółć 漢字".encode(), b"", b"  ", b"[DONE]"])), cut=st.integers(1, 9)
)
def test_lines_are_events_however_they_are_cut(lines, cut):
    raw = b"\xef\xbb\xbf" + b"".join(line + end for line, end in zip(lines, cycle([b"\n", b"\r\n"]), strict=False))
    reader = LineReader()
    events = [event for n in range(0, len(raw), cut) for event in reader.feed(raw[n : n + cut])]
    assert events == [(b"", line) for line in lines if line.strip()]
    assert reader.end() is None


def test_an_unfinished_line_is_given_at_the_end_and_copied_once():
    reader = LineReader()
    began = time.process_time()
    for _ in range(20_000):
        assert reader.feed(b"x" * 4096) == []
    event = reader.end()
    assert event is not None
    assert len(event.data) == 20_000 * 4096
    assert reader.end() is None
    assert time.process_time() - began < 10
