"""One run that meets every fault the test server knows: not one of them becomes a score, every other case is right."""

from pathlib import Path
from typing import Any

import pytest
from server.faults import FAULTS
from server.openai_server import OpenAIServer, Scripted
from support.lookup_suite import number_of, records, results, right, write_models, write_suite

from console.core.fault import FaultKind
from console.core.outcome import Outcome
from console.core.record import Asked, Tried

ANSWERS = {
    *("null_content", "empty_content", "content_parts", "refusal", "length", "filter_finish", "filtered"),
    *("s_splitutf8", "s_surrogate_split", "s_aftdone", "s_other_choice", "s_late_end", "s_never_ends"),
    *("s_stop_everywhere", "s_null_word", "second_choice", "success_code"),
    *("s_stall_done", "s_reasoning", "s_flood", "big10mb", "nan", "surrogate"),
    *("bad_args", "dict_args", "s_noindex", "s_all_zero", "function_call"),
    *("s_null_delta_at_the_end", "s_filter_results", "s_restated", "s_restated_each_time", "s_reason_twice"),
    "s_text_beside_deltas",
    *("citations", "summary_parts"),
    *("usage_missing", "usage_negative", "usage_zero", "usage_absurd", "usage_full"),
}
"""What a model has said, however oddly: that is judged, as the benchmark would judge it."""
MENDED = {"no_stream", "no_stream_options", "max_completion_tokens", "newer_model"}
"""Refusals of a form of request, after which another form is used."""
PASSING = {"r429", "r429_ms", "r429_after1", "s_err429", "err200", "r429_date"}
"""Rate limits, which are waited out; the server plays each of them once."""
APART = {"r429_hour"}
"""Holds the whole run: test_provider_outage.py."""


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_no_fault_is_ever_a_score(console, home: Path, record_property) -> None:
    names = sorted(FAULTS.keys() - APART)

    def answer(request: dict[str, Any]) -> Scripted:
        """Even numbers are answered right."""
        number = number_of(request)
        if number % 2 == 0:
            return right(request)
        name = names[number // 2]
        return right(request, fault=f"{name}x1" if name in PASSING else name)

    data = write_suite(home / "data", 2 * len(names))
    with OpenAIServer(answer, keep=False) as server:
        write_models(home, server, "first_token_s = 20, idle_s = 20, max_tries = 1, max_wait_s = 5.0")
        models = home / "models.toml"
        models.write_text(models.read_text().replace("timeout_s = 30", "timeout_s = 40"))
        ended = console("run", "-m", "m", "-s", "lookups", "--data", data, "-c", 24, "--json", "--quiet")
        assert ended.code == 3, ended.err
        assert set(names) <= set(server.counts), "every fault was played"
    run = Path(ended.data["folder"])
    outcomes = {int(case.rpartition("_")[2]): verdict for case, (verdict, _, _) in results(run).items()}
    assert len(outcomes) == 2 * len(names)
    undisturbed = {names[number // 2]: outcomes[number] for number in range(0, 2 * len(names), 2)}
    assert {name: it for name, it in undisturbed.items() if it.outcome is not Outcome.PASSED} == {}
    told = {name: outcomes[2 * place + 1] for place, name in enumerate(names)}
    broken = {name for name, verdict in told.items() if verdict.outcome is Outcome.BROKEN}
    record_property("trials", len(names))
    record_property("wrong", len(broken ^ (set(names) - ANSWERS - PASSING - MENDED)))
    assert broken == set(names) - ANSWERS - PASSING - MENDED
    assert {told[name].reason for name in broken} <= {kind.value for kind in FaultKind} - {"internal", "data"}
    assert all(told[name].messages for name in broken)
    assert {told[name].outcome for name in ANSWERS - {"filtered"}} <= {Outcome.PASSED, Outcome.FAILED}
    assert {told[name].outcome for name in PASSING} == {Outcome.PASSED}

    journaled = records(run)
    tried = {record.key.case for record in journaled if isinstance(record, Tried)}
    assert {f"simple_python_{2 * names.index(name) + 1}" for name in broken | PASSING} <= tried
    asked = {record.key.case: record.reply for record in journaled if isinstance(record, Asked)}
    large = asked[f"simple_python_{2 * names.index('big10mb') + 1}"]
    assert large.content is not None
    assert len(large.content) == 10_000_000, "a large answer is kept whole"
    for name in ("usage_missing", "usage_negative", "usage_absurd"):
        assert asked[f"simple_python_{2 * names.index(name) + 1}"].usage is None
    assert ended.data["summary"]["tally"]["cost_unknown"] >= 3
