"""Runs of old versions, read, scored and resumed as then: `bfcl-memory` is of ed1f8de, the others of 240f423."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from console.benchmarks.bfcl.models.decoding import sent_underscored
from console.benchmarks.bfcl.models.handlers.reply_readings import READINGS
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.config.paths import WorkspacePaths
from console.core.chat import Reply
from console.core.outcome import Outcome
from console.core.record import Finished, Started
from console.core.request import digest
from console.core.run import Summary
from console.engine.launch import run_in_foreground
from console.engine.plan import reopen
from console.engine.queue import RetryScope
from console.llm.wires.request_body import native_content
from console.store.journal import JournalReader
from console.store.old_runs import read_summary
from console.store.runs import RunFolder

OLD = Path(__file__).parent / "old_runs"
FORMATS = {"aidan-starter": "aidanbench", "bfcl-starter": "bfcl", "cave-starter": "cavebench"}
every_suite = pytest.mark.parametrize("suite", FORMATS)


@pytest.fixture
def old_run(tmp_path: Path, suite: str) -> RunFolder:
    shutil.copytree(OLD / suite, tmp_path / "runs" / suite)
    return RunFolder(tmp_path / "runs" / suite)


def endings(run: RunFolder) -> dict[str, Finished]:
    records = JournalReader(run.journal_path).read_new()
    return {record.key.case: record for record in records if isinstance(record, Finished)}


@every_suite
def test_its_manifest_and_summary_name_the_format(old_run: RunFolder, suite: str) -> None:
    assert "format" not in json.loads(old_run.manifest_path.read_bytes())
    assert old_run.manifest().format == FORMATS[suite]
    kept = json.loads(old_run.summary_path.read_bytes())
    summary = old_run.summary()
    assert summary.format == FORMATS[suite]
    assert (summary.tally.passed, summary.tally.failed) == (kept["tally"].get("passed", 0), kept["tally"]["failed"])
    assert old_run.fold()[1].format == FORMATS[suite]


def test_a_suite_of_another_name_is_known_by_its_options_modes_or_first_case(tmp_path: Path) -> None:
    for suite, form in FORMATS.items():
        shutil.copytree(OLD / suite, tmp_path / suite)
        run = RunFolder(tmp_path / suite)
        manifest = json.loads(run.manifest_path.read_bytes()) | {"suite": "mine"}
        run.manifest_path.write_text(json.dumps(manifest))
        assert run.manifest().format == form
        manifest["setting"].pop("options")
        manifest["setting"].pop("mode", None)
        run.manifest_path.write_text(json.dumps(manifest))
        assert run.manifest().format == form
        run.journal_path.unlink()
        assert run.manifest().format == ""


@pytest.mark.parametrize("suite", ["bfcl-starter"])
def test_a_field_that_became_the_suites_own_is_still_read(old_run: RunFolder) -> None:
    manifest = json.loads(old_run.manifest_path.read_bytes())
    assert not sent_underscored(old_run.manifest().setting)
    manifest["setting"]["underscore_to_dot"] = True
    old_run.manifest_path.write_text(json.dumps(manifest))
    assert sent_underscored(old_run.manifest().setting)


@every_suite
def test_it_is_scored_the_same(old_run: RunFolder) -> None:
    ready = reopen(old_run, WorkspacePaths())
    cases = [record.case for record in JournalReader(old_run.journal_path).read_new() if isinstance(record, Started)]
    finished = endings(old_run)
    assert cases
    for case in cases:
        again = ready.suite.score(case, finished[case.id].output, old_run.manifest().setting)
        assert again == finished[case.id].verdict


@every_suite
def test_it_is_resumed_to_the_same_verdicts(old_run: RunFolder) -> None:
    whole = endings(old_run)
    lines = old_run.journal_path.read_bytes().splitlines(keepends=True)
    old_run.journal_path.write_bytes(b"".join(lines[: -len(lines) // 4]))
    old_run.summary_path.unlink()
    assert set(endings(old_run)) < set(whole)
    ending = run_in_foreground(old_run, reopen(old_run, WorkspacePaths()), retry=RetryScope.NONE)
    assert ending.closed.reason == "completed"
    resumed = endings(old_run)
    assert {case: end.verdict for case, end in resumed.items()} == {case: end.verdict for case, end in whole.items()}
    assert all(end.verdict.outcome in (Outcome.PASSED, Outcome.FAILED) for end in resumed.values())


def test_native_content_of_an_old_journal_is_sent_and_digested_as_it_was() -> None:
    blocks = [{"type": "text", "text": "Warm."}]
    line = msgspec.json.encode({"content": "Warm.", "native": {"wire": "anthropic", "content": blocks}})
    reply = msgspec.json.decode(line, type=Reply)
    assert native_content(reply.message(), "anthropic") == blocks
    assert native_content(reply.message(), "gemini") is None
    assert digest("ask", "model", {"messages": [reply.message()]}) == "7785465a0f29470d7fc04657"
    shown = READINGS["anthropic"].prompting(reply, SERVICES["ClaudeHandler"]).message
    assert shown["native"] == {"wire": "anthropic", "content": "Warm."}


def test_the_scale_of_the_headline_was_a_field_of_its_own(tmp_path: Path) -> None:
    written = json.loads((OLD / "bfcl-starter" / "run.json").read_text())
    written |= {"headline": "judge", "headline_scale": [1.0, 5.0]}
    (tmp_path / "run.json").write_text(json.dumps(written))
    manifest = RunFolder(tmp_path).manifest()
    assert (manifest.scales, manifest.headline_scale) == ({"judge": (1.0, 5.0)}, (1.0, 5.0))


def test_counts_under_an_old_name_are_read_from_the_summary(tmp_path: Path) -> None:
    shutil.copytree(OLD / "bfcl-memory", tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    data = run.summary_path.read_bytes()
    assert b'"prepared":2' in data
    old = read_summary(data)
    assert (old.tally.passed, old.tally.setup) == (1, 2)
    assert [tally.setup for tally in old.categories.values()] == [2]
    derived = run.fold()[1]
    assert (derived.tally, derived.categories) == (old.tally, old.categories)
    rewritten = run.summary_path.read_bytes()
    assert b'"setup":2' in rewritten
    assert read_summary(rewritten) == msgspec.json.decode(rewritten, type=Summary)


def test_an_old_summary_that_was_changed_is_derived_anew(tmp_path: Path) -> None:
    shutil.copytree(OLD / "bfcl-memory", tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    changed = run.summary_path.read_bytes().replace(b'"prepared":2', b'"prepared":7')
    with pytest.raises(ValueError, match="as it was written"):
        read_summary(changed)
    run.summary_path.write_bytes(changed)
    assert run.summary().tally.setup == 2
