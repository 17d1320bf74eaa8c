"""Kill -9 at any point, then resume: the same results, no case twice, at most the calls in flight paid again."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import count as numbers
from pathlib import Path
from threading import Event

import pytest
from server.openai_server import OpenAIServer, Scripted, last_text
from support.child_process import run_module

from console.core.record import AnyRecord, Asked, Finished, Noted, Scored
from console.engine.recorded_effects import fingerprint
from console.store.journal import JournalReader

POINTS = [
    ("locked", 1),
    ("opened", 1),
    ("half opened", 1),
    ("before started", 2),
    ("after started", 3),
    ("before send", 3),
    ("mid stream", 2),
    ("before asked", 4),
    ("half asked", 5),
    ("after asked", 6),
    ("half scored", 3),
    ("after scored", 4),
    ("before performed", 2),
    ("after noted", 5),
    ("before finished", 1),
    ("half finished", 2),
    ("after finished", 2),
    ("sync", 1),
    ("before closed", 1),
    ("half closed", 1),
]
TELLING = {"mid stream", "half asked", "half finished", "before closed"}


class Witness:
    """Answers right, and remembers every question it was sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.server = OpenAIServer(self.answer)

    def answer(self, request: dict[str, object]) -> Scripted:
        text = last_text(request)
        self.asked.append(text)
        return Scripted("fine" if text.startswith("judge") else f"answer {text.split()[-1]}", chunk=3)


@pytest.fixture(scope="module")
def witness() -> Iterator[Witness]:
    witness = Witness()
    with witness.server:
        yield witness


@pytest.fixture(scope="module")
def undisturbed(witness: Witness, tmp_path_factory: pytest.TempPathFactory) -> "tuple[dict[str, object], Counter[str]]":
    """The results of a run that nothing happened to, and what it asked."""
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"
    witness.asked.clear()
    assert play(folder, witness.server.base_url) == 0
    return results(folder), Counter(witness.asked)


def conversation(question: str) -> str:
    """Which case a question belongs to: `d0-3 turn 1`, `judge d0-3 turn 1: …`."""
    return question.removeprefix("judge ").split()[0]


def play(folder: Path, base_url: str, point: str = "nowhere", count: int = 1) -> int:
    done = run_module("killable_run", folder, base_url, point, count, timeout_s=600)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def read(folder: Path) -> list[AnyRecord]:
    return JournalReader(folder / "journal.jsonl").read_new()


def results(folder: Path) -> dict[str, object]:
    """What came of every case: its end, and all that was noted of it, each as often as it stands in the journal."""
    journaled = read(folder)
    ended = [record for record in journaled if isinstance(record, Finished)]
    assert len({record.key for record in ended}) == len(ended), "a case was finished twice"
    noted: defaultdict[str, Counter[bytes]] = defaultdict(Counter)
    for record in journaled:
        if isinstance(record, Noted | Scored):
            noted[record.key.case][fingerprint(record)] += 1
    return {record.key.case: (record.verdict, record.output, record.calls, noted[record.key.case]) for record in ended}


@pytest.mark.parametrize(
    ("point", "count"),
    [pytest.param(*it, id=f"{it[0]} {it[1]}", marks=() if it[0] in TELLING else pytest.mark.slow) for it in POINTS],
)
def test_killed_and_resumed_equals_undisturbed(
    tmp_path: Path,
    witness: Witness,
    undisturbed: tuple[dict[str, object], Counter[str]],
    point: str,
    count: int,
) -> None:
    expected, once = undisturbed
    folder = tmp_path / "killed"
    witness.asked.clear()
    assert play(folder, witness.server.base_url, point, count) == -9, f"the point {point!r} was never reached"
    known = [record.messages[-1]["content"] for record in read(folder) if isinstance(record, Asked)]
    assert play(folder, witness.server.base_url) == 0

    assert results(folder) == expected
    paid = Counter(witness.asked)
    assert once - paid == Counter(), "a call was never made"
    twice = Counter(conversation(question) for question in (paid - once).elements())
    assert all(times == 1 for times in twice.values()), f"more than one call of a conversation was paid twice: {twice}"
    again = [question for question in known if paid[question] != once[question]]
    assert again == [], "a journaled call was asked again"


@pytest.mark.slow
def test_every_other_signal_at_every_point(
    witness: Witness, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """SIGTERM, SIGINT and SIGHUP where a line is not half written; then resumed equals undisturbed."""
    points = [[point, count] for point, count in POINTS if not point.startswith("half")]
    done = run_module("signalled_runs", tmp_path, witness.server.base_url, json.dumps(points), timeout_s=600)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 3 * len(points)
    record_property("trials", len(told))
    for one in told:
        assert one["sent"], one
        assert one["equal"], one
        assert one["reason"] == ("stopped" if one["left"] else "completed"), one
        assert not (one["signal"] == "SIGHUP" and one["left"]), one
    assert {one["reason"] for one in told if one["signal"] != "SIGHUP" and one["point"] == "locked"} == {"stopped"}


@pytest.mark.parametrize("is_other_down", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_killed_with_two_addresses_and_resumed(
    tmp_path: Path, witness: Witness, undisturbed: tuple[dict[str, object], Counter[str]], is_other_down: bool
) -> None:
    folder, are_both_asked, unasked = tmp_path / "killed", Event(), numbers(1, -1)

    def server() -> OpenAIServer:
        calls = numbers()

        def answer(request: dict[str, object]) -> Scripted:
            if next(calls) == 0:
                if next(unasked) == 0:
                    are_both_asked.set()
            else:  # so that neither has answered all calls before the other has its first
                assert are_both_asked.wait(60)
            return witness.answer(request)

        return OpenAIServer(answer)

    witness.asked.clear()
    with server() as first:
        with server() as other:
            both = f"{first.base_url},{other.base_url}"
            assert play(folder, both, "after asked", 6) == -9
            assert len(set[str]().union(*addresses(folder).values())) == 2
            if not is_other_down:
                assert play(folder, both) == 0
                assert {len(places) for places in addresses(folder).values()} == {1}, "each stays where it began"
        if is_other_down:
            assert play(folder, both) == 0
    assert results(folder) == undisturbed[0]
    paid = Counter(witness.asked)
    twice = Counter(conversation(question) for question in (paid - undisturbed[1]).elements())
    assert all(times == 1 for times in twice.values()), f"more than one call of a conversation was paid twice: {twice}"


def addresses(folder: Path) -> dict[tuple[str, str], set[str]]:
    """Where each conversation was answered, by role."""
    places = defaultdict[tuple[str, str], set[str]](set)
    for record in read(folder):
        if isinstance(record, Asked):
            places[record.key.case, record.role].add(record.address)
    return places


@pytest.mark.slow
def test_killed_three_times_in_a_row(
    tmp_path: Path, witness: Witness, undisturbed: tuple[dict[str, object], Counter[str]]
) -> None:
    folder, url = tmp_path / "killed", witness.server.base_url
    assert play(folder, url, "half asked", 3) == -9
    assert play(folder, url, "half asked", 3) == -9
    assert play(folder, url, "before finished", 2) == -9
    assert play(folder, url) == 0
    assert results(folder) == undisturbed[0]
    assert len(list(folder.glob("torn-*.bin"))) == 2
