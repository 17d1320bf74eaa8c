"""Changes to the program that its tests must notice: each is made in a copy of the tree, and its tests are run there.

    pytest -n 2 perf/mutations.py            a mutation is killed where its test passes here; "survived" is a failure
    pytest perf/mutations.py -k store:       those of one package
    pytest perf/mutations.py -k torn         those with a word in their names

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

    @property
    def package(self) -> str:
        return self.file.split("/")[1]


MUTATIONS = (
    Mutation(
        "a cut reply counts as whole",
        "console/engine/stage.py", "if reply.finish in _CUT else", "if reply.finish not in _CUT else",
        "tests/reliability/test_warnings.py",
    ),
    Mutation(
        "a call is made without asking the budget",
        "console/engine/stage.py", "before_call(self._key, n, request, role)\n        self._host.state(self._key, _ST",
        "wait_while_paused(self._key)\n        self._host.state(self._key, _ST",
        "tests/engine/test_engine.py::test_the_budget_stops_the_run_and_a_higher_one_goes_on",
    ),
    Mutation(
        "the reservation of an ended call is kept",
        "console/engine/budget.py", "        self.release(holder)\n", "",
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
        "console/engine/budget.py", "in reserved) <= caps.tokens", "in reserved) < caps.tokens",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "the last cent of a cap is not used",
        "console/engine/budget.py", "        if caps.cost_usd is not None and self._spent_usd + cost > caps.cost_usd",
        "        if caps.cost_usd is not None and self._spent_usd + cost >= caps.cost_usd",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "one broken case more than allowed",
        "console/engine/budget.py", "self.errors > caps.errors", "self.errors > caps.errors + 1",
        "tests/engine/test_budget.py tests/reliability/test_caps.py::test_errors",
    ),
    Mutation(
        "a reservation forgets dearer calls",
        "console/engine/budget.py", "max(cost, costs.most_usd)", "cost",
        "tests/engine/test_caps_property.py tests/reliability/test_dear_replies.py",
    ),
    Mutation(
        "calls that may be dearer than any before start all at once",
        "console/engine/budget.py", "costs.unlimited >= most_unlimited", "costs.unlimited > 1 + most_unlimited",
        "tests/engine/test_caps_property.py",
    ),
    Mutation(
        "calls that were cut off are free",
        "console/engine/budget.py", "return self.cost_usd + self.cut_usd", "return self.cost_usd",
        "tests/engine/test_caps_property.py tests/reliability/test_dear_replies.py",
    ),
    Mutation(
        "a tier without rates has the usual price",
        "console/core/price.py", "UNKNOWN if rates is None", "_cost_by(price, usage, length) if rates is None",
        "tests/config/test_list_costs.py",
    ),
    Mutation(
        "calls in flight reserve nothing",
        "console/engine/budget.py", " + sum(call.usd for call in reserved) > caps.cost_usd:", " > caps.cost_usd:",
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
        "console/engine/journal_buffer.py", "is_paid or self.journal.unsynced_bytes", "self.journal.unsynced_bytes",
        "tests/engine/test_unsynced_journal.py",
    ),
    Mutation(
        "a run starts cases while its provider asks it to wait",
        "console/engine/run_host.py", "(self.pause_reason or self.provider_pause.left_s)", "(self.pause_reason)",
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
        "console/core/outcome.py", "self in _GRADED", "self is not Outcome.BROKEN",
        "tests/core tests/insight",
    ),
    Mutation(
        "cached tokens are paid twice",
        "console/core/price.py", "max(0, usage.input - usage.cached - usage.written)", "usage.input",
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
        "a margin of 1 is taken for 100 points",
        "console/insight/gate.py", "margin.value >= 1)", "margin.value > 1)",
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
    Mutation(
        "long replies are judged on the loop",
        "console/engine/local_conversation.py", "self.stage.reply_characters > _LONG",
        "self.stage.reply_characters < 0",
        "tests/engine/test_slow_scoring.py",
    ),
    Mutation(
        "a look is taken with too many rollouts left out",
        "console/engine/looks.py", "is_reliable = look.left_out <= LEFT_OUT_SHARE * look.rollouts",
        "is_reliable = True",
        "tests/engine/test_looks.py",
    ),
    Mutation(
        "a width is that of a number that is no rate",
        "console/engine/looks.py", 'metric.unit == "rate"', 'metric.unit != "rate"',
        "tests/engine/test_looks.py::test_a_width_is_that_of_the_suites_own_rate",
    ),
    Mutation(
        "a merge takes the later of two equal answers",
        "console/engine/merging.py", "(-quality, rank) < (-best, best_rank)",
        "(-quality, -rank) < (-best, -best_rank)",
        "tests/cli/test_merge.py",
    ),
    Mutation(
        "a short pause of a provider ends its long one",
        "console/engine/pause.py", "if seconds > self.left_s:", "if True:",
        "tests/engine/test_pause.py",
    ),
    Mutation(
        "no rollouts may be asked for",
        "console/engine/plan.py", "if not 1 <= value <= LARGEST_COUNT:", "if not 0 <= value <= LARGEST_COUNT:",
        "tests/engine/test_matrix.py",
    ),
    Mutation(
        "the largest run that is allowed is refused",
        "console/engine/plan.py", "planned > MOST_ROLLOUTS", "planned >= MOST_ROLLOUTS",
        "tests/cli/test_bad_input.py tests/engine/test_matrix.py",
    ),
    Mutation(
        "a watcher that reads nothing is written to without end",
        "console/engine/publish.py", "get_write_buffer_size() > BACKLOG_BYTES", "get_write_buffer_size() < 0",
        "tests/engine/test_publish.py",
    ),
    Mutation(
        "a rollout that ended is played again",
        "console/engine/queue.py", "finished.key.attempt != attempt:", "finished.key.attempt <= attempt:",
        "tests/engine/test_queue.py tests/engine/test_runner.py",
    ),
    Mutation(
        "a race judges a model that was hardly graded",
        "console/engine/race.py", "if planned - len(values[model]) > LEFT_OUT_SHARE * planned:", "if False:",
        "tests/engine/test_race.py",
    ),
    Mutation(
        "one conversation too many waits without a slot",
        "console/engine/retry_line.py", "self._without_slot < MOST_WITHOUT_SLOT",
        "self._without_slot <= MOST_WITHOUT_SLOT",
        "tests/engine/test_retry_line.py",
    ),
    Mutation(
        "new conversations begin before those that are due for a retry",
        "console/engine/engine.py", "if self.host.retry_line.is_next:",
        "if self.host.retry_line.is_next and not self.queue.has_ready:",
        "tests/engine/test_engine.py",
    ),
    Mutation(
        "a run that kills its engine is started once more",
        "console/engine/runner.py", ">= _MOST_DEATHS", "> _MOST_DEATHS",
        "tests/engine/test_runner.py",
    ),
    Mutation(
        "an unreadable label is asked for once more",
        "console/engine/labelling.py", "in range(tries, TRIES):", "in range(tries, TRIES + 1):",
        "tests/cli/test_explain.py",
    ),
    Mutation(
        "labels cost more than their cap",
        "console/engine/labelling.py", "spent + estimate > most_usd", "spent > most_usd",
        "tests/cli/test_explain.py",
    ),
    Mutation(
        "a failing labeler is asked once more",
        "console/engine/labelling.py", "faults >= FAULTS_IN_A_ROW", "faults > FAULTS_IN_A_ROW",
        "tests/cli/test_explain.py",
    ),
    Mutation(
        "answers may be graded no times",
        "console/engine/regrade.py", "if not 1 <= repeats <= MOST_REPEATS:", "if not 0 <= repeats <= MOST_REPEATS:",
        "tests/engine/test_regrade.py",
    ),
    Mutation(
        "a judge is not asked again though its repeats are",
        "console/engine/regrade.py", "if judge or repeats > 1 or", "if judge or",
        "tests/engine/test_regrade.py",
    ),
    Mutation(
        "the third interrupt is not the end",
        "console/engine/launch.py", "elif self._interrupts > 2:", "elif self._interrupts > 9:",
        "tests/reliability/test_signals.py",
    ),
    Mutation(
        "a key that a suite decodes is journaled",
        "console/engine/journal_door.py", "if self._redact.may_be_in(data):", "if False:",
        "tests/reliability/test_echoed_key.py tests/engine/test_suite_records.py",
    ),
    Mutation(
        "a request that cannot be read back is sent",
        "console/engine/journal_door.py", "check_round_trip(parts, list[Any])", "pass",
        "tests/engine/test_suite_records.py",
    ),
    Mutation(
        "the recorded beginning of a branch has one reply more",
        "console/engine/recorded_effects.py", "if effect.n < asked[replies]:", "if effect.n <= asked[replies]:",
        "tests/engine/test_experiment.py",
    ),
    Mutation(
        "a change applies to replies before its step",
        "console/engine/stage.py", "self._replies < first", "self._replies < 0",
        "tests/engine/test_experiment.py",
    ),
    Mutation(
        "a restarted engine forgets what the budget was spent on",
        "console/engine/budget.py", "self.tokens + tokens > caps.tokens", "self.tokens + tokens > caps.tokens + 1",
        "tests/engine/test_budget.py",
    ),
    Mutation(
        "a rate limit is waited for without end",
        "console/llm/retry.py", "if fault.retry_after_s or self.waited_s <= limits.max_wait_s else None", "",
        "tests/llm/test_retry.py",
    ),
    Mutation(
        "an outage lasts without end",
        "console/llm/retry.py", "return limiter.pause_s if self.outage_s <= limits.max_outage_s else None",
        "return limiter.pause_s",
        "tests/llm/test_retry.py",
    ),
    Mutation(
        "one request too many is in flight",
        "console/llm/limits/limiter.py", "return self._in_flight < self._capacity() and now",
        "return self._in_flight <= self._capacity() and now",
        "tests/llm/test_limiter.py",
    ),
    Mutation(
        "a provider is down one fault late",
        "console/llm/limits/limiter.py", "self.faults_in_a_row >= FAULTS_UNTIL_DOWN",
        "self.faults_in_a_row > FAULTS_UNTIL_DOWN",
        "tests/llm/test_limiter.py",
    ),
    Mutation(
        "a stream may be of any length",
        "console/llm/transport/response_reader.py",
        "        size += len(piece)\n        if size > LARGEST_BODY:\n            raise too_large()\n        events",
        "        size += len(piece)\n        events",
        "tests/llm/test_http_faults.py",
    ),
    Mutation(
        "status 202 is an answer",
        "console/llm/transport/http.py", "response.status < 300 and response.status != 200", "response.status < 200",
        "tests/llm/test_contradictions.py",
    ),
    Mutation(
        "a busy reader forgets the total deadline",
        "console/llm/transport/deadlines.py",
        "        if self._loop.time() >= self._end:\n            raise self._fault()",
        "        pass",
        "tests/llm/test_reading_growth.py tests/llm/test_http_faults.py",
    ),
    Mutation(
        "late timers put a deadline off without end",
        "console/llm/transport/deadlines.py", "self._put_off_s < _LONGEST_PUT_OFF_S and ", "",
        "tests/llm/test_reading_growth.py",
    ),
    Mutation(
        "line ends are an answer beside a field that nobody knows",
        "console/llm/wires/ollama.py", 'message["content"].strip() or', 'message["content"] or',
        "tests/llm/test_damaged_replies.py",
    ),
    Mutation(
        "a call that is there twice is two",
        "console/llm/wires/completeness.py", "if len(set(calls)) < len(calls):", "if False:",
        "tests/llm/test_contradictions.py",
    ),
    Mutation(
        "announced calls may be missing",
        "console/llm/wires/completeness.py", 'if not calls and reply.finish == "tool_calls":', "if False:",
        "tests/llm/test_contradictions.py",
    ),
    Mutation(
        "a negative count of tokens is believed",
        "console/llm/wires/usage.py", "return value if 0 <= value < _MOST_TOKENS else None",
        "return value if value < _MOST_TOKENS else None",
        "tests/llm/test_odd_replies.py tests/llm/test_native_messages.py",
    ),
    Mutation(
        "a vector may hold NaN",
        "console/llm/embedding/vectors.py", "if not math.isfinite(sum(number * number for number in vector)):",
        "if False:",
        "tests/llm/test_embeddings.py",
    ),
    Mutation(
        "a retry time is read as a length though it is a date",
        "console/llm/transport/retry_after.py", "return number - now if number > 1e9 else number", "return number",
        "tests/llm/test_retry_after.py",
    ),
    Mutation(
        "a page may be of any size",
        "console/llm/web/live.py", "if len(body) > self.most_bytes:", "if False:",
        "tests/benchmarks/bfcl/test_web_search.py",
    ),
    Mutation(
        "a call without a token is answered",
        "console/llm/gateway/server.py", "if not token:", "if False:",
        "tests/benchmarks/harness/test_gateway.py",
    ),
    Mutation(
        "calls of a rollout that ended are answered",
        "console/llm/gateway/server.py", "self._answers.pop(token, None)", "pass",
        "tests/benchmarks/harness/test_gateway.py",
    ),
    Mutation(
        "another name of a file is written",
        "console/store/journal.py", "if status.st_nlink > 1:", "if False:",
        "tests/reliability/test_damaged_runs.py",
    ),
    Mutation(
        "a block beyond the end of an archive is read",
        "console/store/journal_file.py", "start + length > size or ", "",
        "tests/store/test_run_archive.py",
    ),
    Mutation(
        "a shortened journal is not noticed",
        "console/store/runs.py", "if reader.offset < saved.journal_bytes:", "if False:",
        "tests/reliability/test_damaged_runs.py",
    ),
    Mutation(
        "a summary of another journal is believed",
        "console/store/runs.py", "if status.size != saved.journal_bytes:\n                return False", "pass",
        "tests/store/test_runs.py",
    ),
    Mutation(
        "a record of a newer version is damage",
        "console/store/journal_line.py", "if version <= SCHEMA:", "if True:",
        "tests/reliability/test_damaged_runs.py",
    ),
    Mutation(
        "a torn last note takes the next one with it",
        "console/store/notes.py", "_missing_newline(file) + b", "b",
        "tests/store tests/cli/test_label.py",
    ),
    Mutation(
        "a note is not durable",
        "console/store/notes.py", "            sync_file(file.fileno())\n", "",
        "tests/store tests/cli/test_label.py",
    ),
    Mutation(
        "two letters name a run",
        "console/store/run_list.py", "if len(part) < LEAST_PART:", "if len(part) < LEAST_PART - 1:",
        "tests/store/test_runs.py",
    ),
    Mutation(
        "a run moves ahead of the one that plays",
        "console/store/run_queue.py", "first = 1 if is_held", "first = 0 if is_held",
        "tests/store/test_run_queue.py",
    ),
    Mutation(
        "a cancelled run that was played goes to the trash",
        "console/store/run_queue.py", 'and not (folder / "journal.jsonl").exists()', "",
        "tests/store/test_run_queue.py",
    ),
    Mutation(
        "an import goes on behind what its journal has lost",
        "console/store/staged_run.py", "st_size >= progress.size", "st_size >= 0",
        "tests/store/test_staged_run.py",
    ),
    Mutation(
        "the largest allowed figure is left out",
        "console/insight/filter.py", '"<=": lambda figure: figure <= limit', '"<=": lambda figure: figure < limit',
        "tests/insight/test_filter.py",
    ),
    Mutation(
        "the limit itself is above the limit",
        "console/insight/filter.py", '">": lambda figure: figure > limit', '">": lambda figure: figure >= limit',
        "tests/insight/test_filter.py",
    ),
    Mutation(
        "a run that lacks one rollout passes the gate",
        "console/insight/gate.py", "if left := summary.left + summary.tally.not_run:",
        "if (left := summary.left + summary.tally.not_run) > 1:",
        "tests/cli/test_gate.py",
    ),
    Mutation(
        "a gain over repeats is a loss",
        "console/insight/comparison.py",
        "outcome = PairOutcome.GAINED if change > 0 else PairOutcome.LOST\n        return CasePair",
        "outcome = PairOutcome.GAINED if change < 0 else PairOutcome.LOST\n        return CasePair",
        "tests/insight/test_comparison_runs.py",
    ),
    Mutation(
        "a case that always passes is flaky",
        "console/insight/failures.py", "if 0 < passed < graded:", "if 0 < passed <= graded:",
        "tests/insight/test_failures.py",
    ),
    Mutation(
        "few calls as text accuse the server",
        "console/insight/warnings.py", "if count < max(_FEWEST_WRITTEN, _SMALLEST_SHARE * failed):", "if not count:",
        "tests/insight tests/cli/test_written_calls.py",
    ),
    Mutation(
        "one model alone speaks against a key",
        "console/insight/suspects.py", "if len(models) > 1}", "if len(models) > 0}",
        "tests/insight/test_suspects.py",
    ),
    Mutation(
        "a model's own answer weighs for itself",
        "console/insight/suspects.py", "(passed[model] - answer.passed) / (played[model] - 1)",
        "passed[model] / played[model]",
        "tests/insight/test_suspects.py",
    ),
    Mutation(
        "a half of a case is lost",
        "console/insight/experiment.py", "lost = sum(change.now < 0.5", "lost = sum(change.now <= 0.5",
        "tests/insight/test_tried_fix.py",
    ),
    Mutation(
        "a change is never called chance among several",
        "console/insight/experiment.py", "result.adjusted >= 0.05 > effect.p", "result.adjusted > 1 > effect.p",
        "tests/insight/test_tried_fix.py",
    ),
    Mutation(
        "the decisive step is one late",
        "console/insight/deciding.py", "is_before = curve[middle].share > (", "is_before = curve[middle].share < (",
        "tests/insight/test_deciding.py",
    ),
    Mutation(
        "a rate on the margin is not held",
        "console/core/statistics/decision.py", "if low >= not_worse_from", "if low > not_worse_from",
        "tests/core",
    ),
    Mutation(
        "few clusters are not called rough",
        "console/core/statistics/intervals.py", "self.method in _CLUSTERED and self.clusters < FEW_CLUSTERS", "False",
        "tests/core/test_statistics.py tests/suites/test_clusters.py",
    ),
    Mutation(
        "pass@k of fewer rollouts than k",
        "console/core/statistics/repeats.py", "if case.graded >= k]", "if case.graded]",
        "tests/core/test_statistics.py",
    ),
    Mutation(
        "overridden text directions reach a screen",
        "console/core/text.py", r"\u2028-\u202e", r"\u2028-\u202c",
        "tests/core/test_text.py",
    ),
    Mutation(
        "a print loop fills the memory",
        "console/core/captured_output.py", "text[: self._left]", "text",
        "tests/core/test_captured_output.py",
    ),
    Mutation(
        "unread costs of a call count as read",
        "console/core/spending.py", "self.uncounted > 0 or ", "",
        "tests/engine/test_budget.py tests/store/test_spent_amounts.py tests/reliability/test_warnings.py",
    ),
    Mutation(
        "deep JSON is read",
        "console/core/json_text.py", "> DEEPEST and _is_deep(value)", "> DEEPEST and False",
        "tests/core/test_json_text.py",
    ),
    Mutation(
        "readers who agree disagree",
        "console/core/annotation.py", "not self.settled and {PASSED, FAILED} <= set", "{PASSED, FAILED} <= set",
        "tests/cli/test_label.py tests/core",
    ),
    Mutation(
        "an archive may unpack to any size",
        "console/suites/archive.py", "if sum(info.file_size for info in infos) > limits.total_bytes:", "if False:",
        "tests/benchmarks/bfcl/test_pull.py tests/benchmarks/cavebench/test_pull.py",
    ),
    Mutation(
        "the first of two answers of a batch counts",
        "console/engine/batches.py", "answer if is_only else None", "answer",
        "tests/cli/test_batches.py::test_an_answer_that_is_damaged_is_asked_again_and_no_other",
    ),
    Mutation(
        "results of which nothing can be read are paid again",
        "console/engine/batches.py", "if not answered and (damage or state.ended == \"completed\"):", "if False:",
        "tests/cli/test_batches.py::test_answers_of_which_none_is_readable_end_the_run_and_are_not_paid_again",
    ),
    Mutation(
        "a rollout that ended runs on",
        "console/core/tally.py", "max(0, self.tally.running - 1)", "max(0, self.tally.running + 1)",
        "tests/core/test_case_counts.py",
    ),
    Mutation(
        "a case that failed is said to have failed before",
        "console/insight/comparison_report.py",
        "is PairOutcome.GAINED and pair.a.reason", "is not PairOutcome.GAINED and pair.a.reason",
        "tests/insight/test_comparison_runs.py",
    ),
    Mutation(
        "a reply of calls alone has an empty text",
        "console/insight/conversation.py", "(message.text or not message.calls)", "(message.text or message.calls)",
        "tests/insight/test_conversation_fold.py",
    ),
    Mutation(
        "labels of any price are paid without a question",
        "console/engine/labelling.py", "(cost is not None and cost <= ASK_ABOVE_USD)",
        "(cost is not None or cost <= ASK_ABOVE_USD)",
        "tests/cli/test_explain.py",
    ),
    Mutation(
        "a batch that the provider does not have is paid again without a word",
        "console/engine/batches.py", " and self._host.batches.resubmits:", ":",
        "tests/cli/test_batches.py",
    ),
    Mutation(
        "a redirect counts as a lost batch",
        "console/llm/batches.py", "fault.status in (404, 410)", "fault.kind is FaultKind.NOT_FOUND",
        "tests/cli/test_batches.py",
    ),
    Mutation(
        "a key in capitals stays",
        "console/config/redaction.py", "secret.upper(), ", "",
        "tests/config/test_secrets.py",
    ),
    Mutation(
        "a score that only superseded attempts had is divided by nothing",
        "console/core/tally.py", "self._score_sums.items() if count > 0}", "self._score_sums.items()}",
        "tests/core/test_case_counts.py",
    ),
    Mutation(
        "an answer of a batch beside an error counts",
        "console/llm/batches.py", "if answered and not reports_error(fields, in_answer=True):", "if answered:",
        "tests/cli/test_batches.py::test_an_answer_that_is_damaged_is_asked_again_and_no_other",
    ),
    Mutation(
        "what replies do not hold is asked for all the same",
        "console/llm/gateway/chat_dialect.py",
        "if asked := [name for name in _UNANSWERED if params.get(name)]:", "if False:",
        "tests/benchmarks/harness/test_gateway.py",
    ),
    Mutation(
        "a client that packs its body wrongly is logged",
        "console/llm/gateway/server.py", " | web.RequestPayloadError)", ")",
        "tests/benchmarks/harness/test_gateway_clients.py",
    ),
    Mutation(
        "a forked process keeps the lock of a run",
        "console/store/lock.py", "fcntl.flock(self._fd, fcntl.LOCK_UN)", "pass",
        "tests/engine/test_takeover.py",
    ),
    Mutation(
        "a huge file is read at once",
        "console/store/atomic.py", ".st_size > _LARGEST:", ".st_size < 0:",
        "tests/cli/test_odd_places.py::test_a_pipe_or_a_huge_file_among_results_is_named",
    ),
    Mutation(
        "a pipe among results is read",
        "console/store/atomic.py", "if stat.S_ISREG(os.fstat(fd).st_mode):", "if True:",
        "tests/cli/test_odd_places.py::test_a_pipe_or_a_huge_file_among_results_is_named",
    ),
    Mutation(
        "an environment acts after its end",
        "console/suites/environment.py", "if not self._is_entered:", "if False:",
        "tests/suites/test_environment.py",
    ),
    Mutation(
        "members that differ in case overwrite each other",
        "console/suites/archive.py", "folded(info.filename) in seen", "False",
        "tests/benchmarks/bfcl/test_pull.py tests/benchmarks/cavebench/test_pull.py",
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
@pytest.mark.parametrize("package", sorted({it.package for it in MUTATIONS}), ids=lambda it: f"{it}: none")
def test_unchanged_copy_passes(tree: Path, record_property: Callable[[str, object], None], package: str) -> None:
    """Without this, a copy that lacks something would kill every mutation."""
    record_property("trials", 0)
    tests = dict.fromkeys(test for it in MUTATIONS if it.package == package for test in it.tests.split())
    done = run_tests(tree, tests)
    assert done.returncode == pytest.ExitCode.OK, done.stdout


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda it: f"{it.package}: {it.name}")
def test_is_killed(tree: Path, mutation: Mutation) -> None:
    file = tree / mutation.file
    text = file.read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1, "no longer one place for this mutation"
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    done = run_tests(tree, mutation.tests.split())
    assert done.returncode != pytest.ExitCode.OK, "survived"
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
