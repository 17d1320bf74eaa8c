"""A run has one table of reasons: `show`, Review, `failures` and the exports count alike."""

from pathlib import Path
from typing import Any

from console.cli.history import read_overview
from console.core.outcome import Outcome
from console.insight.failures import GroupBy, group
from console.insight.reasons import counts_in_words
from tests.support.recorded_runs import Recorder


def test_a_cut_answer_or_a_call_as_text_is_counted_alike_everywhere(console: Any, home: Path) -> None:
    recorder = Recorder(home / "runs", cases=10, name="cut")
    for place, more in enumerate((
        *[{"cut": "length"}] * 3, {"cut": "content_filter"}, {"written": "<tool_call>"}, {}, {},
        {"cut": "length", "written": "<tool_call>"},
    )):  # fmt: skip
        recorder.finish(recorder.start(f"c{place}"), Outcome.FAILED, "ast_decoder:decoder_failed", **more)
    recorder.finish(recorder.start("c8"), Outcome.BROKEN, "server", cut="length")
    recorder.finish(recorder.start("c9"), Outcome.PASSED, cut="length")
    run = recorder.close()
    overview = read_overview(run)
    listed = group((each for each in overview.rollouts.values() if each.is_failure), GroupBy.REASON)
    counts = counts_in_words(run.summary().reasons)
    assert counts == counts_in_words(overview.fold.reasons) == {part.label: part.count for part in listed}
    assert counts["answer cut at the token limit"] == 4
    assert sorted(counts.values()) == [1, 1, 1, 2, 4]
    shown, markdown = console("show", "cut").out, console("export", "cut", "--format", "markdown", "-o", "-").out
    for name, count in counts.items():
        assert any(line.split() == [*name.split(), str(count)] for line in shown.splitlines()), name
        assert f"| {name} | {count} |" in markdown
