"""When things happened, for playing a run again: sent before answered, and no waiting between two sessions."""

from console.core.case import Case, Key
from console.core.chat import Reply
from console.core.record import AnyRecord, Asked, Opened, Started
from console.insight.timeline import SESSION_GAP_S, Timeline

KEY = Key("a")


def timeline(*records: AnyRecord) -> Timeline:
    found = Timeline()
    for number, record in enumerate(records):
        found.add(record, (100 * number, 99))
    found.settle()
    return found


def asked(at: float, n: int, latency_s: float) -> Asked:
    return Asked(at=at, key=KEY, n=n, digest="", reply=Reply("yes", latency_s=latency_s))


def test_a_call_is_sent_as_long_before_its_record_as_it_took() -> None:
    found = timeline(Opened(10.0, pid=1), Started(11.0, KEY, Case("a", "c")), asked(15.0, 1, 3.0), asked(16.0, 2, 9.0))
    assert found.length_s == 6.0
    assert found.sent_between(-1.0, 6.0) == [(2.0, 2), (5.0, 3)]  # the second not before the first was answered
    assert found.sent_between(2.0, 5.0) == [(5.0, 3)]
    assert (found.count_until(1.0), found.place_of(2)) == (2, (200, 99))


def test_the_time_between_two_sessions_and_a_clock_set_back_are_left_out() -> None:
    records = [Opened(10.0, pid=1), Started(12.0, KEY, Case("a", "c")), Opened(9000.0, pid=2)]
    found = timeline(*records, asked(8000.0, 1, 0.0), asked(9003.0, 2, 0.0))
    assert [found.time_of(n) for n in range(5)] == [0.0, 2.0, 2.0 + SESSION_GAP_S, 3.0, 6.0]
    assert found.epoch_at(1.5) == 11.5
    assert found.epoch_at(2.9) == 12.9
