"""Simulated models that name a row of the registry: their answers have the form that the row's handler reads."""

import asyncio
import json
from pathlib import Path
from random import Random

import pytest
from support.own_texts import OwnTexts

from console.benchmarks.bfcl.conversation.single_turn import play_single_turn
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.official_wording import load_wording
from console.benchmarks.bfcl.models.decoding import profile_setting
from console.benchmarks.bfcl.models.handlers.table import handler_for
from console.benchmarks.bfcl.models.profile import find_profile, profiles
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.scoring import score_output
from console.core.case import Key
from console.core.chat import ChatRequest, Reply, ToolCall
from console.core.fault import UsageError
from console.llm.simulated.personas import judge

DATA = Path(__file__).resolve().parents[3] / "data" / "bfcl"
STARTER = DATA.with_name("bfcl-starter")
WRONG_ANYWAY = {
    "MiningHandler": "officially its native calls are recorded in a form that its decoder refuses",
    "WriterHandler": "as Fireworks",
    "FireworksHandler": "its function names keep their dots, which simulated models write as underscores",
}
ENTRIES = ("simple_python_0", "parallel_0", "irrelevance_0")


def asked_rows() -> list[str]:
    """Return a row of each template and of each service that is asked."""
    rows = {row.template or (row.handler, row.is_fc): row for row in profiles().values()}
    return [row.name for row in rows.values() if row.handler not in WRONG_ANYWAY and is_asked(row.name)]


def is_asked(name: str) -> bool:
    try:
        handler_for(find_profile(name), Dataset(STARTER))
    except UsageError:
        return False
    return True


class RightAnswers:
    """A stage that gives the right answer, as a simulated model writes it."""

    def __init__(self) -> None:
        self.key = Key("x")

    async def ask(self, messages, *, tools=(), scripted, **_):
        planned = judge(ChatRequest(list(messages), list(tools), scripted=scripted), Random(1), 1)
        calls = [ToolCall(f"c{number}", name, json.dumps(given)) for number, (name, given) in enumerate(planned.calls)]
        return Reply(planned.content, tuple(calls))


@pytest.mark.parametrize(
    "data",
    [
        STARTER,
        pytest.param(
            DATA,
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(not DATA.is_dir(), reason="`eval-console pull bfcl` brings the official texts"),
            ],
        ),
    ],
    ids=["our texts", "official texts"],
)
@pytest.mark.parametrize("row", asked_rows())
def test_a_right_answer_has_the_form_that_its_row_reads(row, data, monkeypatch):
    if data == STARTER:
        monkeypatch.setattr(ReleaseTexts, "of", OwnTexts.of)
    dataset, profile = Dataset(data), find_profile(row)
    handler = handler_for(profile, dataset)
    for name in ENTRIES:
        if (name, profile.family) == ("parallel_0", "glm_local"):
            continue  # it reads at most one call of an answer
        entry = dataset.entry(name)
        output = asyncio.run(play_single_turn(entry, RightAnswers(), handler, load_wording(dataset)))
        verdict = score_output(entry, output, profile_setting(profile))
        assert verdict.outcome == "passed", (name, output, verdict.messages)


def test_every_template_and_service_is_tried():
    assert len(asked_rows()) > 45
