"""Playing single-turn entries through a stage: what is sent in both modes, and which output is recorded."""

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.strict_stage import StrictStage

from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Case, Setting
from console.core.chat import Message, Reply, ScriptedAnswers, ToolCall
from console.core.fault import Fault, FaultKind
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"


class Recorder(StrictStage):
    """A stage that answers with one prepared reply and keeps what it was asked."""

    def __init__(self, reply: Reply | Fault) -> None:
        super().__init__()
        self.asked: list[tuple[list[Message], list[dict[str, Any]]]] = []
        self.scripted_answers: list[ScriptedAnswers] = []
        self._reply = reply

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        self.asked.append((list(messages), list(more.get("tools", ()))))
        self.scripted_answers.append(more["scripted"]())
        if isinstance(self._reply, Fault):
            raise self._reply
        return self._reply

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        raise AssertionError("nothing is performed")


@pytest.fixture(scope="module")
def suite() -> BfclSuite:
    return BfclSuite(read_entry(STARTER))


def _case(suite: BfclSuite, case_id: str) -> Case:
    return select_cases(suite, Selection(ids=(case_id,)), Setting())[0]


async def test_prompting_describes_the_functions_in_a_system_message(suite: BfclSuite):
    stage = Recorder(Reply("[move_shutter(window='east', position=50)]"))
    case = _case(suite, "multiple_7")
    output = await suite.play(case, stage, Setting(mode="prompt"))
    [(messages, tools)] = stage.asked
    assert output == "[move_shutter(window='east', position=50)]"
    assert tools == []
    assert [message["role"] for message in messages] == ["system", "user"]
    assert all(name in messages[0]["content"] for name in ("set_lamp", "move_shutter", "heating.set_schedule"))
    assert "Python 3" in messages[0]["content"]
    assert case.data["wording"] == "eval-console 1"


async def test_a_system_message_of_the_entry_stays_after_the_prompt(suite: BfclSuite):
    stage = Recorder(Reply("no"))
    await suite.play(_case(suite, "live_simple_5-5-0"), stage, Setting(mode="prompt"))
    system = stage.asked[0][0][0]["content"] or ""
    assert system.index("cinema.showtimes") < system.index("visitors of a cinema portal")
    assert [message["role"] for message in stage.asked[0][0]] == ["system", "user"]


async def test_tool_mode_sends_tools_and_records_names_with_argument_texts(suite: BfclSuite):
    calls = (ToolCall("1", "harbour_tide_height", '{"harbour": "Saint-Malo",  "hour": 16}'),)
    stage = Recorder(Reply(None, calls))
    output = await suite.play(_case(suite, "simple_python_0"), stage, Setting(mode="fc"))
    [(messages, tools)] = stage.asked
    assert output == [{"harbour_tide_height": '{"harbour": "Saint-Malo",  "hour": 16}'}]
    assert [message["role"] for message in messages] == ["user"]
    function = tools[0]["function"]
    assert function["name"] == "harbour_tide_height"
    assert function["parameters"]["type"] == "object"
    assert function["parameters"]["properties"]["hour"]["type"] == "integer"


@pytest.mark.parametrize("content", ["I cannot.", "", None])
async def test_tool_mode_without_calls_records_the_text(suite: BfclSuite, content: str | None):
    stage = Recorder(Reply(content))
    assert await suite.play(_case(suite, "simple_python_0"), stage, Setting(mode="fc")) == content


async def test_an_entry_without_functions_sends_no_tools(suite: BfclSuite):
    stage = Recorder(Reply("ha"))
    await suite.play(_case(suite, "live_irrelevance_5-5-0"), stage, Setting(mode="fc"))
    assert stage.asked[0][1] == []
    assert stage.scripted_answers[0].right.content


async def test_a_fault_is_no_answer(suite: BfclSuite):
    stage = Recorder(Fault(FaultKind.SERVER, "down"))
    with pytest.raises(Fault, match="down"):
        await suite.play(_case(suite, "simple_python_0"), stage, Setting())


async def test_the_dataset_is_not_changed_by_playing(suite: BfclSuite):
    before = json.dumps(_case(suite, "simple_python_0").data)
    for mode in ("fc", "prompt"):
        await suite.play(_case(suite, "simple_python_0"), Recorder(Reply("x")), Setting(mode=mode))
    assert json.dumps(_case(suite, "simple_python_0").data) == before


def test_the_estimate_knows_what_is_sent(suite: BfclSuite):
    one = suite.estimate(_case(suite, "simple_python_0"), Setting(mode="prompt"))
    more = suite.estimate(_case(suite, "multiple_7"), Setting(mode="prompt"))
    assert one.calls == 1
    assert more.input_tokens > one.input_tokens > 100
