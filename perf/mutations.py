"""Changes to the program that its tests must notice: each is made in a copy of the tree, and its tests are run there.

    pytest -n 2 perf/mutations.py            a mutation is killed where its test passes here; "survived" is a failure
    pytest perf/mutations.py -k "torn"       some of them

They are made where a mistake would cost money, lose a record, leak a key, or turn a fault into a score.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Mutation(NamedTuple):
    """One change, and the tests that must fail with it."""

    name: str
    file: str
    old: str
    """Occurs once in the file."""
    new: str
    tests: str


MUTATIONS = (
    Mutation(
        "a cut reply counts as whole",
        "console/engine/stage.py", "if reply.finish in _CUT else", "if reply.finish not in _CUT else",
        "tests/reliability/test_warnings.py",
    ),
    Mutation(
        "a call is made without asking the budget",
        "console/engine/stage.py", "await self._host.before_call(self._key, n, request, role)", "pass",
        "tests/engine/test_engine.py::test_the_budget_stops_the_run_and_a_higher_one_goes_on",
    ),
    Mutation(
        "the reservation of an ended call is kept",
        "console/engine/stage.py", "self._host.release_reservation(self._key, n)", "pass",
        "tests/engine/test_engine.py::test_the_budget_stops_the_run_and_a_higher_one_goes_on",
    ),
    Mutation(
        "a resumed conversation writes its notes again",
        "console/engine/stage.py", "if not self._recorded.repeats(record):", "if True:",
        "tests/engine/test_kill.py::test_killed_and_resumed_equals_undisturbed",
    ),
    Mutation(
        "equal requests are replayed in reverse",
        "console/engine/recorded_effects.py", "effects.popleft()", "effects.pop()",
        "tests/engine/test_engine.py",
    ),
    Mutation(
        "the last token of a cap is not used",
        "console/engine/budget.py", "self.tokens + tokens <= caps.tokens", "self.tokens + tokens < caps.tokens",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "the last cent of a cap is not used",
        "console/engine/budget.py", "        if caps.cost_usd is not None and self.cost_usd + cost > caps.cost_usd",
        "        if caps.cost_usd is not None and self.cost_usd + cost >= caps.cost_usd",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "one broken case more than allowed",
        "console/engine/budget.py", "self.errors > caps.errors", "self.errors > caps.errors + 1",
        "tests/engine/test_budget.py tests/reliability/test_caps.py::test_errors",
    ),
    Mutation(
        "calls in flight reserve nothing",
        "console/engine/budget.py", "self._fits(cost + reserved_usd, tokens + reserved_tokens)",
        "self._fits(cost, tokens)",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "a wrong key costs four calls",
        "console/engine/circuit_breaker.py", ">= UNPROVEN_CALLS", "> UNPROVEN_CALLS",
        "tests/engine/test_engine.py",
    ),
    Mutation(
        "a fault is a score",
        "console/engine/local_conversation.py", "Outcome.BROKEN, reason=fault.kind.value",
        "Outcome.FAILED, reason=fault.kind.value",
        "tests/engine/test_engine.py",
    ),
    Mutation(
        "unknown costs count as nothing",
        "console/engine/local_conversation.py", "if len(prices) == len(costs) else None", "",
        "tests/reliability/test_caps.py tests/reliability/test_every_http_fault.py",
    ),
    Mutation(
        "a finished case is not synced",
        "console/engine/journal_buffer.py", "isinstance(record, Finished) or self.journal.unsynced_bytes",
        "self.journal.unsynced_bytes",
        "tests/engine/test_unsynced_journal.py",
    ),
    Mutation(
        "a run starts cases while its provider asks it to wait",
        "console/engine/engine.py", "self.journal.blocked_by is not None or self._provider_pause.left_s:",
        "self.journal.blocked_by is not None:",
        "tests/engine/test_engine.py",
    ),
    Mutation(
        "a merge takes a broken rollout for an answer",
        "console/engine/merging.py", "2 if has_answer(record) else 1", "2",
        "tests/cli/test_merge.py",
    ),
    Mutation(
        "one try more than max_tries",
        "console/llm/retry.py", "tries.charged >= limits.max_tries or tries.by_kind[fault.kind] >= allowed",
        "tries.charged > limits.max_tries or tries.by_kind[fault.kind] > allowed",
        "tests/llm/test_retry.py",
    ),
    Mutation(
        "one request's faults slow the endpoint",
        "console/llm/retry.py", "if not self.fails_alone:", "if True:",
        "tests/reliability/test_request_faults.py::test_prompts_that_always_fail_wait_beside_the_others",
    ),
    Mutation(
        "an address is suspect one fault late",
        "console/llm/limits/limiter.py", ">= FAULTS_UNTIL_SUSPECT", "> FAULTS_UNTIL_SUSPECT",
        "tests/llm/test_limiter.py",
    ),
    Mutation(
        "a short pause ends a long one",
        "console/llm/limits/limiter.py", "if until <= self._not_before:", "if False:",
        "tests/llm/test_limiter.py tests/engine/test_shared_pauses.py",
    ),
    Mutation(
        "a conversation leaves the address that has its prompt",
        "console/llm/balancer.py", "                address.name != prefers,\n", "",
        "tests/llm/test_several_addresses.py",
    ),
    Mutation(
        "a stalled stream is an answer",
        "console/llm/http_client.py", " or not builder.is_complete:", ":",
        "tests/llm/test_http_faults.py",
    ),
    Mutation(
        "text after a finish reason needs no end mark",
        "console/llm/reply.py", "and (self._is_marked or not self._went_on)", "",
        "tests/llm/test_http_faults.py",
    ),
    Mutation(
        "an unknown finish reason is an end",
        "console/llm/wires/completeness.py", "ends.finishes.get(word)", 'ends.finishes.get(word, "stop")',
        "tests/llm/test_completeness.py",
    ),
    Mutation(
        "a reply may differ from its stream",
        "console/llm/reply.py", "        check(reply, self._live.said)\n", "",
        "tests/llm/test_contradictions.py",
    ),
    Mutation(
        "the last of two finish reasons counts",
        "console/llm/reply.py", "agreed_finish(self._finish, finish)", "finish",
        "tests/llm/test_contradictions.py",
    ),
    Mutation(
        "an answer keeps the key",
        "console/llm/reply.py", "self.redact.known_value(repaired)", "repaired",
        "tests/llm/test_echoes.py",
    ),
    Mutation(
        "an error keeps the key",
        "console/llm/transport/faults.py", "redact.value(json.loads(body))", "json.loads(body)",
        "tests/llm/test_echoes.py",
    ),
    Mutation(
        "a piece of a key of twelve characters stays",
        "console/config/redaction.py", "if end - start >= self.shortest:", "if end - start > self.shortest:",
        "tests/config/test_secrets.py",
    ),
    Mutation(
        "a torn last line is left in place",
        "console/store/journal.py", "    if end == size:\n", "    if True:\n",
        "tests/store/test_journal.py",
    ),
    Mutation(
        "half a line is read",
        "console/store/journal.py", 'data[: data.rfind(b"\\n") + 1]', "data",
        "tests/store/test_journal.py",
    ),
    Mutation(
        "what a failed write left is not taken back",
        "console/store/journal.py", "            self._end_fragment()\n", "            pass\n",
        "tests/store/test_journal.py",
    ),
    Mutation(
        "what a failed sync may have lost is not written again",
        "console/store/journal.py", "                if self.is_unconfirmed:\n                    self._write",
        "                if False:\n                    self._write",
        "tests/engine/test_unsynced_journal.py",
    ),
    Mutation(
        "a damaged line is believed",
        "console/store/journal_line.py", 'if b"%08x" % crc32(body) != crc:', "if False:",
        "tests/store/test_journal.py",
    ),
    Mutation(
        "two engines may have one run",
        "console/store/lock.py", "fcntl.LOCK_EX | fcntl.LOCK_NB", "fcntl.LOCK_SH | fcntl.LOCK_NB",
        "tests/store/test_runs.py",
    ),
    Mutation(
        "everybody can read a journal",
        "console/store/atomic.py", "PRIVATE = 0o600", "PRIVATE = 0o644",
        "tests/reliability/test_unsynced_disk.py",
    ),
    Mutation(
        "a superseded attempt still counts",
        "console/core/tally.py", "self._count(older, category, -1)", "pass",
        "tests/store/test_runs.py",
    ),
    Mutation(
        "a case without a grade is graded",
        "console/core/outcome.py", "in (Outcome.PASSED, Outcome.FAILED)", "is not Outcome.BROKEN",
        "tests/core tests/insight",
    ),
    Mutation(
        "cached tokens are paid twice",
        "console/core/price.py", "max(0, sent - cached)", "sent",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "control bytes above 7F reach a terminal",
        "console/core/text.py", r'[\x00-\x08\x0b-\x1f\x7f-\x9f', r'[\x00-\x08\x0b-\x1f\x7f',
        "tests/core/test_text.py",
    ),
    Mutation(
        "McNemar's test is one-sided",
        "console/core/statistics/paired.py", "2 * tail / (1 << count)", "tail / (1 << count)",
        "tests/core/test_statistics.py",
    ),
    Mutation(
        "a loss that may be as large as the margin is no loss",
        "console/insight/gate.py", "-allowed, -reach)", "-allowed, -2 * reach)",
        "tests/cli/test_gate.py",
    ),
    Mutation(
        "the gate takes the margin for a gain",
        "console/insight/gate.py", "-allowed, -reach)", "allowed, -reach)",
        "tests/cli/test_gate.py",
    ),
    Mutation(
        "a run at the limit of broken cases is not judged",
        "console/insight/gate.py", "if broken > LEFT_OUT_SHARE", "if broken >= LEFT_OUT_SHARE",
        "tests/cli/test_gate.py",
    ),
    Mutation(
        "repeated questions are paired in reverse",
        "console/insight/pairing.py", "slots.reverse()", "pass",
        "tests/exchange/test_compare_across_tools.py",
    ),
)  # fmt: skip


def run_tests(tree: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run tests of a tree with that tree's program, also in processes that the tests start."""
    path = os.pathsep.join((str(tree), str(tree / "tests")))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the program and its tests."""
    for name in ("console", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("pyproject.toml", "models.toml", "data", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.timeout(1200)
def test_unchanged_copy_passes(tree: Path, record_property: Callable[[str, object], None]) -> None:
    """Without this, a copy that lacks something would kill every mutation."""
    record_property("trials", 0)
    done = run_tests(tree, dict.fromkeys(test for it in MUTATIONS for test in it.tests.split()))
    assert done.returncode == pytest.ExitCode.OK, done.stdout


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda it: it.name)
def test_is_killed(tree: Path, mutation: Mutation) -> None:
    file = tree / mutation.file
    text = file.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, "no longer one place for this mutation"
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    done = run_tests(tree, mutation.tests.split())
    assert done.returncode != pytest.ExitCode.OK, "survived"
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
