"""A branch asks one case anew, as a run of its own, with another opening where its reader edited one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from console.core.case import PromptEdit
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Asked, Finished
from console.core.run import Selection
from console.engine.branch import branch_plan
from console.engine.engine import Engine
from console.engine.launch import start
from console.engine.plan import Plan, reopen
from console.insight.prompt_edit import as_text, from_text
from console.store.journal import JournalReader
from console.store.runs import RunFolder


def played(folder: RunFolder, prepared: Any) -> list[Any]:
    asyncio.run(Engine(folder, prepared).run())
    return JournalReader(folder.journal_path).read_new()


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RunFolder, list[Any]]:
    """A finished run of two cases by a simulated model."""
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)
    plan = Plan("sim/hasty", "bfcl-starter", Selection(limit=2), runs_path=tmp_path / "runs")
    folder, prepared = start(plan)
    return folder, played(folder, prepared)


def test_another_opening_is_sent_journaled_and_kept_apart(old: tuple[RunFolder, list[Any]]) -> None:
    run, records = old
    first = next(it for it in records if isinstance(it, Asked))
    before = run.journal_path.read_bytes()
    after = [*first.messages[:-1], {"role": "user", "content": "Something else, please."}]
    edit = PromptEdit(tuple(first.messages), tuple(after))
    case = first.key.case
    plan = branch_plan(run.name, run.manifest(), (case,), model="sim/careful", edit=edit, runs_path=run.path.parent)
    branch, prepared = start(plan)
    asked = [it for it in played(branch, prepared) if isinstance(it, Asked)]
    assert asked[0].messages == after
    manifest = branch.manifest()
    assert (manifest.parent, manifest.model.name, manifest.selection.ids) == (run.name, "sim/careful", (case,))
    assert manifest.setting.edit == edit
    assert run.journal_path.read_bytes() == before
    assert reopen(branch, None, None).manifest == manifest


def test_an_opening_that_is_not_the_suites_breaks_the_case(old: tuple[RunFolder, list[Any]]) -> None:
    run, records = old
    case = next(it for it in records if isinstance(it, Asked)).key.case
    edit = PromptEdit(({"role": "user", "content": "never said"},), ({"role": "user", "content": "x"},))
    branch, prepared = start(branch_plan(run.name, run.manifest(), (case,), edit=edit, runs_path=run.path.parent))
    ended = next(it for it in played(branch, prepared) if isinstance(it, Finished))
    assert (ended.verdict.outcome, ended.verdict.reason) == (Outcome.BROKEN, "data")


def test_messages_survive_being_text() -> None:
    messages = [{"role": "system", "content": "Be brief.\n\n- so"}, {"role": "user", "content": "Why?"}]
    assert from_text(as_text(messages)) == messages


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "does not begin"),
        ("── user ──\n", "the user's message is empty"),
        ("── robot ──\nx\n── user ──\ny", "robot"),
    ],
)
def test_a_bad_opening_is_refused_with_a_cure(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_text(text)
    assert words in str(caught.value)
    assert caught.value.hint


def test_messages_that_are_more_than_text_are_refused() -> None:
    with pytest.raises(UsageError, match="more than text"):
        as_text([{"role": "user", "content": [{"type": "image"}]}])
