"""`run --batch` over HTTP: what is asked, paid, said and journaled, whatever becomes of a batch or of the program."""

import itertools
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from server.batch_server import BatchServer, as_lines
from support.child_process import start_module

from console.benchmarks.harness.suite import HarnessSuite
from console.cli.exitcode import Exit
from console.core.record import Asked, Batched, Finished, Tried
from console.engine import batches
from console.store.journal import JournalReader
from console.suites.suite import Suite

CASES = 6
Line = Callable[..., list[str]]


def right(request: dict[str, Any]) -> str:
    return "The answer is 4."


BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])
"""Quick for both: what their APIs do differently."""


@pytest.fixture(params=["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def serve(home: Path, provider: str) -> Iterator[Callable[..., BatchServer]]:
    """Start a server, and name it in models.toml."""
    servers: list[BatchServer] = []

    def start(
        answer: Callable[[dict[str, Any]], Any] = right, kind: type[BatchServer] = BatchServer, **options: Any
    ) -> BatchServer:
        server = kind(answer, **options)
        servers.append(server)
        server.__enter__()
        entry = f'[m]\nmodel_id = "m-1"\nprovider = "{provider}"\nbase_url = "{server.base_url}"\n'
        (home / "models.toml").write_text(entry + "price = { in = 2, out = 8 }\nlimits = { backoff_s = 0.01 }\n")
        return server

    yield start
    for server in servers:
        server.__exit__()


RUN = ["run", "-m", "m", "-s", "dialogue-starter", "-n", str(CASES), "--batch"]


@pytest.fixture(autouse=True)
def _listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that are not listed are not there; tests of servers that list late give them more time."""
    monkeypatch.setattr(batches, "LISTED_S", 0.0)


def records(home: Path, kind: type[Any]) -> list[Any]:
    journal = next((home / "runs").glob("2*")) / "journal.jsonl"
    return [record for record in JournalReader(journal).read_new() if isinstance(record, kind)]


@BOTH
def test_all_calls_go_through_one_batch_at_half_price(console, home: Path, serve, provider: str) -> None:
    server = serve()
    ended = console(*RUN)
    assert ended.code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES]
    assert not any(body.get("stream") for batch in server.batches.values() for _, body in batch.requests)
    assert "(half price, in batches)" in ended.err, "the estimate"
    assert "$0.0084 (half price, in batches)" in ended.out, f"{CASES} × (1,000 at $1 and 100 at $4)"
    assert "waits for batch of 6 submitted" in ended.err
    planned, sent, accepted, *_, last = records(home, Batched)
    assert (len(planned.calls), planned.submitted_at, sent.id) == (CASES, 0.0, "")
    assert (accepted.id, last.ended) == ("batch_0", "completed")
    assert len(records(home, Asked)) == CASES
    assert "(half price, in batches)" in console("export", "latest", "--format", "markdown", "-o", "-").out
    assert "(half price, in batches)" in console("export", "latest", "--format", "html", "-o", "-").out
    assert console(*RUN, "--dry-run", "--json").data["terms"] == "half price"


@pytest.mark.parametrize("provider", ["responses"])
def test_the_responses_api_is_batched_too(console, serve, provider: str) -> None:
    server = serve()
    assert console(*RUN).code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES]


def test_requests_without_an_answer_are_asked_in_another_batch(console, home: Path, serve) -> None:
    server = serve(fates=["expired", "lost"])
    ended = console(*RUN)
    assert ended.code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, CASES // 2, 1]
    assert Counter(record.kind for record in records(home, Tried)) == {"deadline": 3, "bad_answer": 1}
    assert len(records(home, Asked)) == CASES


def test_a_refused_request_breaks_its_case_and_no_other(console, home: Path, serve, provider: str) -> None:
    wrong = {"status": 400, "error": {"type": "invalid_request_error", "code": None, "message": "no such voice"}}
    numbers = itertools.count()
    server = serve(lambda request: wrong if next(numbers) == 2 else right(request))
    ended = console(*RUN)
    assert ended.code == Exit.INCONCLUSIVE
    assert len(records(home, Asked)) == CASES - 1
    assert "no such voice" in ended.err
    assert len(server.batches) == 1


def test_a_single_failure_of_the_provider_is_asked_again(console, home: Path, serve) -> None:
    fault = {"status": 500, "error": {"type": "api_error", "message": "overloaded"}}
    numbers = itertools.count()
    server = serve(lambda request: fault if next(numbers) == 2 else right(request))
    assert console(*RUN).code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, 1]
    assert len(records(home, Asked)) == CASES


def test_a_batch_cancelled_at_the_provider_ends_the_run_which_asks_the_rest_when_resumed(console, serve) -> None:
    server = serve(fates=["cancelled"])
    ended = console(*RUN)
    assert "cancelled at the provider" in ended.out
    assert "Resume the run to ask the other 3 calls" in ended.out
    assert console("resume", "latest").code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, CASES // 2]


@BOTH
@pytest.mark.parametrize("gone", ["poll", "answers"])
def test_a_batch_that_the_provider_no_longer_has_is_asked_again_only_on_request(
    console, home: Path, serve, provider: str, gone: str
) -> None:
    server = serve()
    server.gone = gone
    ended = console(*RUN)
    assert f"batch of {CASES} submitted" in ended.out
    assert "the provider has no such batch for this key, or no longer has its results" in ended.out
    assert f"--resubmit` sends its {CASES} calls again, which costs as much again" in ended.out
    ended = console("resume", "latest")
    assert "--resubmit`" in ended.out
    assert len(server.batches) == 1, "nothing is paid again without being asked for"
    server.gone = ""
    server.on_step = lambda step: setattr(server, "gone", gone if len(server.batches) == 1 else "") or False
    assert console("resume", "latest", "--resubmit").code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, CASES]
    assert [record.ended for record in records(home, Batched) if record.ended] == ["missing", "completed"]
    assert len(records(home, Asked)) == CASES


def test_calls_are_sent_again_only_after_the_loss_of_their_batch_was_reported(console, serve) -> None:
    child: list[int] = []

    def kill(step: str) -> bool:
        if step == "before poll" and child:
            os.kill(child.pop(), signal.SIGKILL)
            server.gone = "poll"
        return False

    server = serve(on_step=kill)
    process = start_module("killable_batch", "nowhere", 1, *RUN)
    child.append(process.pid)
    assert process.wait(60) == -signal.SIGKILL
    assert "--resubmit`" in console("resume", "latest", "--resubmit").out
    assert len(server.batches) == 1


@BOTH
def test_a_batch_that_was_missing_and_is_there_again_is_not_asked_again(
    console, home: Path, serve, provider: str
) -> None:
    server = serve()
    server.gone = "answers"
    assert "halted" in console(*RUN).out
    server.gone = ""
    assert console("resume", "latest").code == Exit.OK
    assert len(server.batches) == 1
    assert len(records(home, Asked)) == CASES


def test_where_no_batch_is_listed_either_an_address_is_wrong_and_nothing_is_asked_again(console, serve) -> None:
    server = serve()
    server.gone, server.listed_from = "poll", None
    for command in (RUN, ["resume", "latest"], ["resume", "latest"]):
        assert "halted" in console(*command).out
    assert len(server.batches) == 1
    server.gone = ""
    assert console("resume", "latest", "--resubmit").code == Exit.OK
    assert len(server.batches) == 1


REDIRECT = "HTTP/1.1 {} X\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n"
BESIDE_THE_POINT: dict[str, str | bytes] = {
    "a redirect": REDIRECT.format(307, "http://other.invalid/x"),
    "a redirect within": REDIRECT.format(302, "/v1/elsewhere"),
    "401": "401 Unauthorized",
    "403": "403 Forbidden",
    "405": "405 Method Not Allowed",
    "a web page": b"<html>log in</html>",
    "an error": json.dumps({"error": {"code": "not_found", "message": "no such file"}}).encode(),
    "nothing": b"",
    "another batch": as_lines([{"custom_id": f"other-{n}", "response": {"status_code": 200}} for n in range(CASES)]),
}
"""Answers that do not say that the batch is gone."""


class ElsewhereServer(BatchServer):
    """Gives one answer, which says nothing about the batch, to all requests of a step."""

    step = ""
    answered: str | bytes = b""

    def _do(self, exchange: Any, step: str, path: str, query: str) -> object:
        answered: str | bytes = self.answered
        if step != self.step:
            return super()._do(exchange, step, path, query)
        if isinstance(answered, bytes):
            return answered
        if answered.startswith("HTTP"):
            exchange.send(answered.encode())
        else:
            exchange.error(answered, "not now", "not_found_error")
        return None


@BOTH
@pytest.mark.parametrize(
    ("step", "said"),
    [("answers", said) for said in BESIDE_THE_POINT]
    + [("poll", said) for said, answered in BESIDE_THE_POINT.items() if isinstance(answered, str)],
)
def test_only_the_providers_own_word_makes_a_batch_missing(console, home: Path, serve, step: str, said: str) -> None:
    server = serve(kind=ElsewhereServer)
    server.step, server.answered = step, BESIDE_THE_POINT[said]
    for command in (RUN, ["resume", "latest"], ["resume", "latest"]):
        ended = console(*command)
        assert "halted" in ended.out
    assert len(server.batches) == 1
    server.step = ""
    assert console("resume", "latest").code == Exit.OK
    assert len(server.batches) == 1
    assert len(records(home, Asked)) == CASES


@pytest.mark.parametrize("provider", ["openai"])
def test_a_completed_batch_without_any_answer_is_not_asked_again(console, serve) -> None:
    class Empty(BatchServer):
        def _do(self, exchange: Any, step: str, path: str, query: str) -> object:
            reply = super()._do(exchange, step, path, query)
            if step == "poll" and isinstance(reply, dict):
                return {**reply, "request_counts": None}
            return b"" if step == "answers" else reply

    server = serve(kind=Empty)
    for command in (RUN, ["resume", "latest"]):
        assert "its answers cannot be read: there are none" in console(*command).out
    assert len(server.batches) == 1


def test_a_list_that_is_none_does_not_mean_that_there_is_no_batch(console, serve) -> None:
    hung_up = iter([True])
    server = serve(kind=ElsewhereServer, on_step=lambda step: step == "after create" and next(hung_up, False))
    answers = iter([b"{}", b"<html>log in</html>", b'{"error": {"message": "try later"}}'])

    def hear(step: str) -> bool:
        if step == "before list":
            server.answered = next(answers, b"")
            server.step = "list" if server.answered else ""
        return step == "after create" and next(hung_up, False)

    server.on_step = hear
    assert console(*RUN).code == Exit.OK
    assert len(server.batches) == 1


@pytest.mark.parametrize("provider", ["openai"])
def test_an_unconfirmed_batch_is_found_where_the_server_drops_its_name(console, home: Path, serve) -> None:
    class Nameless(BatchServer):
        def _do(self, exchange: Any, step: str, path: str, query: str) -> object:
            reply = super()._do(exchange, step, path, query)
            for batch in self.batches.values():
                batch.metadata = {}
            return reply

    hung_up = iter([True])
    server = serve(kind=Nameless, on_step=lambda step: step == "after create" and next(hung_up, False))
    assert console(*RUN).code == Exit.OK
    assert len(server.batches) == 1
    assert len(records(home, Asked)) == CASES


@pytest.mark.parametrize("provider", ["anthropic"])
def test_what_may_be_an_unconfirmed_batch_but_has_no_results_keeps_no_run_from_its_end(
    console, home: Path, serve, provider: str
) -> None:
    hung_up = iter([True])
    server = serve(polls=0, on_step=lambda step: step == "after create" and next(hung_up, False))
    server.gone = "answers"
    assert f"--resubmit` sends its {CASES} calls again" in console(*RUN).out
    assert len(server.batches) == 1
    server.on_step = lambda step: setattr(server, "gone", "answers" if len(server.batches) == 1 else "") or False
    assert console("resume", "latest", "--resubmit").code == Exit.OK
    assert len(server.batches) == 2
    assert len(records(home, Asked)) == CASES


def test_a_rate_limit_on_submission_is_waited_out(console, serve) -> None:
    server = serve()
    server.refusals.append(("429 Too Many Requests", "rate_limit_exceeded", "0.05"))
    assert console(*RUN).code == Exit.OK
    assert len(server.batches) == 1
    assert server.lists == 0, "a refused batch was not created"


@BOTH
def test_an_unconfirmed_submission_is_looked_for_and_not_repeated(console, serve, provider: str) -> None:
    hung_up = iter([True])
    server = serve(on_step=lambda step: step == "after create" and next(hung_up, False))
    assert console(*RUN).code == Exit.OK
    assert len(server.batches) == 1
    assert server.lists


@BOTH
def test_a_batch_that_is_listed_late_is_waited_for(
    console, home: Path, serve, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LISTED_S", 60.0)
    hung_up = iter([True])
    server = serve(on_step=lambda step: step == "after create" and next(hung_up, False))
    server.listed_from = 4
    assert console(*RUN).code == Exit.OK
    assert len(server.batches) == 1
    assert len(records(home, Asked)) == CASES


@pytest.mark.parametrize("provider", ["openai"])
def test_nothing_is_submitted_again_where_nobody_can_tell_whether_it_was_unless_requested(
    console, home: Path, serve, provider: str
) -> None:
    hung_up = iter([True])
    server = serve(on_step=lambda step: step == "after create" and next(hung_up, False))
    server.listed_from = None
    ended = console(*RUN)
    assert f"whether it has this one is unknown. Look at the provider for a batch of {CASES} calls" in ended.out
    assert console("resume", "latest").code != Exit.OK
    assert len(server.batches) == 1
    assert console("resume", "latest", "--resubmit").code == Exit.OK
    assert len(server.batches) == 2
    assert len(records(home, Asked)) == CASES


def test_a_wrong_key_ends_the_run_at_once(console, serve) -> None:
    server = serve()
    server.refusals.append(("401 Unauthorized", "invalid_api_key", "0"))
    ended = console(*RUN)
    assert "halted" in ended.out
    assert not server.batches
    assert console("resume", "latest").code == Exit.OK
    assert len(server.batches) == 1


@pytest.mark.parametrize("provider", ["openai"])
def test_a_limit_of_waiting_tokens_makes_batches_smaller(console, serve, provider: str) -> None:
    server = serve(fates=["token_limit_exceeded"])
    assert console(*RUN).code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [6, 3, 3]


@pytest.mark.parametrize("provider", ["openai"])
def test_a_batch_refused_as_a_whole_or_for_a_line(console, home: Path, serve, provider: str) -> None:
    server = serve(fates=["failed", "2"])
    ended = console(*RUN)
    assert "halted" in ended.out
    assert "refused: failed" in ended.out
    ended = console("resume", "latest")
    assert len(records(home, Asked)) == CASES - 1
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, CASES, CASES - 1]


def test_every_turn_of_a_conversation_is_a_batch_of_all(console, home: Path, serve) -> None:
    rows = "".join(
        f'{{"id": "c{n}", "category": "talk", "turns": ["first {n}", "second {n}"], "contains": "4"}}\n'
        for n in range(5)
    )
    folder = home / "data" / "talk"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('title = "Talk"\nformat = "dialogue"\n')
    (folder / "cases.jsonl").write_text(rows)
    server = serve()
    ended = console("run", "-m", "m", "-s", "talk", "--batch")
    assert ended.code == Exit.OK, ended.err
    assert [len(batch.requests) for batch in server.batches.values()] == [5, 5]


def test_judges_are_asked_in_batches_too_and_simulated_ones_directly(console, home: Path, serve, provider: str) -> None:
    folder = home / "data" / "judged"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('title = "Judged"\nformat = "dialogue"\n')
    rows = "".join(
        f'{{"id": "c{n}", "category": "a", "prompt": "Say {n}.", "judge": "It is kind."}}\n' for n in range(4)
    )
    (folder / "cases.jsonl").write_text(rows)
    server = serve(lambda request: '{"passed": true}' if "kind" in str(request) else right(request))
    assert console("run", "-m", "m", "-s", "judged", "--judge", "m", "--batch").code in (Exit.OK, Exit.INCONCLUSIVE)
    assert [len(batch.requests) for batch in server.batches.values()][:2] == [4, 4]
    asked_once = len(server.batches)
    ended = console("run", "-m", "m", "-s", "judged", "--judge", "sim/judge", "--batch")
    assert len(server.batches) == asked_once + 1
    assert "(half price, in batches)" in ended.err


@BOTH
def test_the_judge_of_a_finished_run_is_asked_again_in_a_batch(console, home: Path, serve, provider: str) -> None:
    judge = {"rubric": "It is polite.", "categories": {"polite": "passed", "rude": "failed"}}
    row = {"prompt": "Say hello.", "judge": judge | {"response_format": "category"}}
    folder = home / "data" / "polite"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('title = "Polite"\nformat = "dialogue"\n')
    (folder / "cases.jsonl").write_text("".join(json.dumps({"id": f"c{n}", **row}) + "\n" for n in range(4)))
    server = serve(lambda request: "polite")
    assert console("run", "-m", "sim/careful", "-s", "polite").code == Exit.OK
    graded = console("regrade", "latest", "--judge", "m", "--batch", "--json")
    assert graded.code == Exit.OK, graded.err
    assert graded.data["calls"] == 4
    assert graded.data["cost_usd"] == pytest.approx(4 * (1000 * 1 + 100 * 4) / 1e6), "half price"
    assert [len(batch.requests) for batch in server.batches.values()] == [4]
    refused = console("regrade", "latest", "--judge", "sim/judge", "--batch")
    assert refused.code == Exit.USAGE
    assert "--batch: no judge of this run can be called in batches" in refused.err


@pytest.mark.parametrize("provider", ["openai"])
def test_what_cannot_be_batched_is_refused_by_name(
    console, home: Path, serve, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    ended = console("run", "-m", "sim/careful", "-s", "dialogue-starter", "--batch")
    assert ended.code == Exit.USAGE
    assert (
        "--batch: the model sim/careful cannot be called in batches: provider simulated has no batch API" in ended.err
    )
    assert console(*RUN, "--on", "ray").code == Exit.USAGE
    assert not HarnessSuite.waits_for_batches
    monkeypatch.setattr(Suite, "waits_for_batches", False)
    assert "--batch: the harness of suite dialogue-starter cannot wait hours" in console(*RUN).err


def broken(line: bytes) -> bytes:
    return line[: len(line) // 2]


def deep(line: bytes) -> bytes:
    return b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def foreign(line: bytes) -> bytes:
    return line.replace(b'"custom_id": "', b'"custom_id": "x')


def nameless(line: bytes) -> bytes:
    return line.replace(b'"custom_id"', b'"id"')


def doubled(line: bytes) -> bytes:
    return line + b"\n" + line.replace(b"is 4", b"is 5")


def failed_as_well(line: bytes) -> bytes:
    failed = line.replace(b'"error": null', b'"error": {"code": "server_error", "message": "it"}')
    return failed.replace(b'"succeeded"', b'"won"')


class DamagingServer(BatchServer):
    """Damages the third answer of each batch, the first times that it is read."""

    damage: Callable[[bytes], bytes] = staticmethod(bytes)
    times = 0

    def _do(self, exchange: Any, step: str, path: str, query: str) -> object:
        reply = super()._do(exchange, step, path, query)
        if step != "answers" or not isinstance(reply, bytes) or not self.times or reply.count(b"\n") < 3:
            return reply
        self.times -= 1
        lines = reply.splitlines()
        return b"\n".join([*lines[:2], self.damage(lines[2]), *lines[3:]])


@pytest.mark.parametrize(
    "damage",
    [broken, doubled, *(pytest.param(it, marks=pytest.mark.slow) for it in (deep, foreign, nameless, failed_as_well))],
)
def test_an_answer_that_is_damaged_is_asked_again_and_no_other(
    console, home: Path, serve, damage: Callable[[bytes], bytes]
) -> None:
    server = serve(kind=DamagingServer)
    server.damage, server.times = damage, 1000
    assert console(*RUN).code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES, 1]
    assert [record.reply.content for record in records(home, Asked)] == [right({})] * CASES


def test_an_answer_that_is_damaged_once_is_read_again(console, home: Path, serve) -> None:
    server = serve(kind=DamagingServer)
    server.damage, server.times = broken, 1
    assert console(*RUN).code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES]


def test_answers_of_which_none_is_readable_end_the_run_and_are_not_paid_again(console, home: Path, serve) -> None:
    pages = [True] * 4

    class Pages(BatchServer):
        def _do(self, exchange: Any, step: str, path: str, query: str) -> object:
            reply = super()._do(exchange, step, path, query)
            return b"<html>log in</html>" if step == "answers" and pages and pages.pop() else reply

    server = serve(kind=Pages)
    ended = console(*RUN)
    assert "halted" in ended.out
    assert "its answers cannot be read" in ended.out
    assert records(home, Asked) == []
    pages.clear()
    assert console("resume", "latest").code == Exit.OK
    assert [len(batch.requests) for batch in server.batches.values()] == [CASES]


@BOTH
@pytest.mark.parametrize("error", ["it exploded", ["it exploded"], {"code": "server_error", "message": "it exploded"}])
def test_an_error_of_any_form_beside_an_answer_is_never_a_score(console, home: Path, serve, error: object) -> None:
    class Contradicting(BatchServer):
        def _do(self, *step: Any) -> object:
            reply = super()._do(*step)
            if not isinstance(reply, bytes):
                return reply
            return as_lines([json.loads(line) | {"error": error} for line in reply.splitlines()])

    serve(kind=Contradicting)
    models = home / "models.toml"
    models.write_text(models.read_text().replace("backoff_s", "max_tries = 1, backoff_s"))
    console(*RUN)
    ended = records(home, Finished)
    assert {record.verdict.outcome for record in ended} == {"broken"}
    assert "it exploded" in str(ended[0].verdict.messages)


# Kill -9 -------------------------------------------------------------------------------------------------------------

STEPS = ["before upload", "after upload", "before create", "after create", "before poll", "after poll",
         "before answers", "after answers"]  # fmt: skip
POINTS = [("before batched", 1), ("half batched", 1), ("before batched", 2), ("half batched", 2), ("before batched", 3),
          ("half batched", 3), ("before asked", 1),
          ("after asked", 3), ("half asked", 4), ("after finished", 3), ("before batched", 5)]  # fmt: skip
QUICK = {"after create", "after asked 3"}
KILLED = [(step, 0) for step in STEPS] + POINTS


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_killed_after_a_submission_that_is_not_listed_yet_nothing_is_submitted_twice(
    console, home: Path, serve, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LISTED_S", 600.0)  # however long the machine takes to start
    child: list[int] = []

    def kill(step: str) -> bool:
        if step != "after create" or not child:
            return False
        os.kill(child.pop(), signal.SIGKILL)
        return True

    server = serve(on_step=kill)
    server.listed_from = 3
    process = start_module("killable_batch", "nowhere", 1, *RUN)
    child.append(process.pid)
    assert process.wait(60) == -signal.SIGKILL
    assert console("resume", "latest").code == Exit.OK
    assert len(server.batches) == 1
    assert server.lists >= server.listed_from
    assert set(server.asked.values()) == {1}, "a question was paid twice"


@pytest.mark.parametrize(
    ("point", "count"),
    [
        pytest.param(*kill, id=name, marks=() if name in QUICK else pytest.mark.slow)
        for kill in KILLED
        for name in [f"{kill[0]} {kill[1]}" if kill[1] else kill[0]]
    ],
)
def test_killed_in_any_state_and_resumed_nothing_is_submitted_twice(
    console, home: Path, serve, provider: str, point: str, count: int
) -> None:
    child: list[int] = []

    def kill(step: str) -> bool:
        if count or step != point or not child:
            return False
        os.kill(child.pop(), signal.SIGKILL)
        return True

    server = serve(on_step=kill)
    process = start_module("killable_batch", point if count else "nowhere", count or 1, *RUN)
    child.append(process.pid)
    if process.wait(60) == 0:
        assert provider == "anthropic", "the point was never reached"
        assert "upload" in point, "the point was never reached"
        return
    assert process.returncode == -signal.SIGKILL
    ended = console("resume", "latest")
    assert ended.code == Exit.OK, ended.err
    assert len(records(home, Asked)) == CASES
    assert set(server.asked.values()) == {1}, "a question was paid twice"
    assert len(server.asked) == CASES


def test_no_key_reaches_the_disk(console, home: Path, serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCH_KEY", "sk-canary-5f1c9e07d2")
    server = serve(lambda request: f"4 {server.heads[-1].get('authorization') or server.heads[-1].get('x-api-key')}")
    with (home / "models.toml").open("a") as file:
        file.write('api_key_env = "BATCH_KEY"\n')
    assert console(*RUN).code == Exit.OK
    assert "sk-canary-5f1c9e07d2" in str(server.heads)
    for file in home.rglob("*"):
        assert not file.is_file() or b"sk-canary" not in file.read_bytes(), file
