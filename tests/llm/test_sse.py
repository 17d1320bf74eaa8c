"""Events come out the same however the bytes are cut, and as the event-stream grammar says."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from console.llm.transport.events import EventReader


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
    reader = EventReader()
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
    reader = EventReader()
    assert reader.feed(b'data: a\n\ndata: half\n<html>\n502</html>\n\n{"error": 1}\n\ndata: b\n\n') == [
        (b"", b"a"),
        (b"error", b"<html>\n502</html>"),
        (b"error", b'{"error": 1}'),
        (b"", b"b"),
    ]
    assert reader.feed(b"<html>cut") == []
    assert reader.end() == (b"error", b"<html>cut")


def test_a_stream_that_ends_early_gives_its_last_event_at_the_end():
    reader = EventReader()
    assert reader.feed(b"data: a\n\ndata: b") == [(b"", b"a")]
    assert reader.end() == (b"", b"b")
    assert reader.end() is None


def test_a_huge_event_in_small_pieces_is_not_copied_again_and_again():
    reader = EventReader()
    reader.feed(b"data: ")
    for _ in range(2000):
        assert reader.feed(b"x" * 4096) == []
    assert len(reader.feed(b"\n\n")[0].data) == 2000 * 4096
