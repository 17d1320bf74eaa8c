"""Conversations with simulators: played, resumed, judged and compared, on the simulators of the bundled suite."""

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.strict_stage import RightStage

from console.benchmarks.bfcl.models.decode.reply import executable_calls
from console.benchmarks.bfcl.simulators.call import execute
from console.benchmarks.bfcl.simulators.host import close_hosts, host_of
from console.benchmarks.bfcl.simulators.turn_check import check_turns
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Case, Setting
from console.core.chat import Message, Reply
from console.core.outcome import Outcome, Verdict
from console.core.run import Selection
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"


class Player(RightStage):
    """A stage whose model follows the script, or gives prepared replies; executed effects may be known before."""

    def __init__(self, replies: Sequence[str] | None = None, known: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.asked: list[tuple[int, int, list[Message], list[dict[str, Any]]]] = []
        self.performed: list[tuple[Any, Any]] = []
        self._replies = None if replies is None else list(replies)
        self._known = known or {}

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        self.asked.append((more["turn"], more["step"], list(messages), list(more.get("tools", ()))))
        return await super().ask(messages, **more) if self._replies is None else Reply(self._replies.pop(0))

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        known = self._known.get(json.dumps(request))
        result = known if known is not None else await action()
        self.performed.append((request, result))
        return result


@pytest.fixture(scope="module")
def suite() -> Iterator[BfclSuite]:
    yield BfclSuite(read_entry(STARTER))
    close_hosts()


def _case(suite: BfclSuite, case_id: str) -> Case:
    return select_cases(suite, Selection(ids=(case_id,)), Setting())[0]


def _judged(suite: BfclSuite, case_id: str, output: Any, mode: str = "prompt") -> Verdict:
    return suite.score(_case(suite, case_id), output, Setting(mode=mode))


@pytest.mark.parametrize("mode", ["prompt", "fc"])
async def test_every_ground_truth_passes_when_it_is_played(suite: BfclSuite, mode: str):
    for case in select_cases(suite, Selection(categories=("multi_turn",)), Setting()):
        setting = Setting(mode=mode)
        output = await suite.play(case, Player(), setting)
        verdict = suite.score(case, output, setting)
        assert verdict.outcome is Outcome.PASSED, (case.id, verdict)
        assert suite.compare(case, output, verdict, setting).sentence.startswith("all turns")


async def test_results_go_back_to_the_model_in_the_form_of_the_mode(suite: BfclSuite):
    prompted, native = Player(), Player()
    await suite.play(_case(suite, "multi_turn_base_0"), prompted, Setting(mode="prompt"))
    await suite.play(_case(suite, "multi_turn_base_0"), native, Setting(mode="fc"))
    assert [(turn, step) for turn, step, *_ in prompted.asked] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    told = prompted.asked[1][2][-1]
    assert told["role"] == "user"
    results = [
        {"role": "tool", "name": "take(item='flour', amount=400)", "content": '{"item": "flour", "left": 1100}'},
        {"role": "tool", "name": "take(item='eggs', amount=3)", "content": '{"item": "eggs", "left": 3}'},
    ]
    assert told["content"] == repr(results)
    roles = [message["role"] for message in native.asked[1][2]]
    assert roles == ["user", "assistant", "tool", "tool"]
    assert native.asked[1][2][2] == {"role": "tool", "content": '{"item": "flour", "left": 1100}', "tool_call_id": "c0"}


async def test_withheld_functions_come_when_their_turn_comes(suite: BfclSuite):
    prompted, native = Player(), Player()
    await suite.play(_case(suite, "multi_turn_miss_func_0"), prompted, Setting(mode="prompt"))
    await suite.play(_case(suite, "multi_turn_miss_func_0"), native, Setting(mode="fc"))
    assert "clear_shopping_list" not in (prompted.asked[0][2][0].get("content") or "")
    handed = next(asked for asked in prompted.asked if asked[0] == 2)[2][-1]["content"] or ""
    assert handed.startswith("[{'name': 'clear_shopping_list'")
    offered = {turn: {tool["function"]["name"] for tool in tools} for turn, _, _, tools in native.asked}
    assert "clear_shopping_list" not in offered[1]
    assert "clear_shopping_list" in offered[2] & offered[3]


async def test_a_resumed_conversation_plays_what_was_executed_before(suite: BfclSuite):
    whole = Player()
    output = await suite.play(_case(suite, "multi_turn_base_1"), whole, Setting())
    first = {json.dumps(request): result for request, result in whole.performed[:2]}
    resumed = Player(known=first)
    assert await suite.play(_case(suite, "multi_turn_base_1"), resumed, Setting()) == output
    assert resumed.performed == whole.performed


async def test_a_conversation_survives_the_loss_of_its_worker(suite: BfclSuite):
    whole = Player()
    await suite.play(_case(suite, "multi_turn_base_1"), whole, Setting())

    class Losing(Player):
        async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
            if request["turn"] == 2:
                await _lose_worker(suite)
            return await super().perform(kind, request, action)

    losing = Losing()
    await suite.play(_case(suite, "multi_turn_base_1"), losing, Setting())
    assert losing.performed == whole.performed


async def _lose_worker(suite: BfclSuite) -> None:
    host = host_of(suite.dataset)
    before = host.generation
    host.restart()
    await host.acall("spent", {})
    assert host.generation == before + 1


async def test_a_turn_without_end_ends_the_conversation(suite: BfclSuite):
    stage = Player(["[get_balance()]"] * 30)
    output = await suite.play(_case(suite, "multi_turn_base_1"), stage, Setting())
    assert [len(turn) for turn in output] == [21]
    assert _judged(suite, "multi_turn_base_1", output).reason == "multi_turn:force_terminated"


BALANCE, TOP_UP, CANCEL = (
    "[get_balance()]",
    "[top_up(cents=1000), buy_ticket(fare='day', zone='B')]",
    "[cancel_ticket(ticket=7)]",
)


@pytest.mark.parametrize(
    ("turns", "reason", "subject"),
    [
        ([[BALANCE], [TOP_UP], [CANCEL]], None, ""),
        ([[BALANCE, "[list_fares()]", "[nonsense(x=1)]"], [TOP_UP, "Done."], [CANCEL]], None, ""),
        ("nothing", "multi_turn:inference_error", ""),
        ([[BALANCE], [TOP_UP]], "multi_turn:force_terminated", ""),
        ([[BALANCE], ["I did it."], [CANCEL]], "multi_turn:empty_turn_model_response", ""),
        ([[BALANCE], ["[top_up(cents=1000)]"], [CANCEL]], "multi_turn:instance_state_mismatch", "BusPass"),
        ([["[list_fares()]"], [TOP_UP], [CANCEL]], "multi_turn:execution_response_mismatch", ""),
        ([[BALANCE], None, [CANCEL]], "checker:uncheckable", ""),
    ],
)
def test_what_decides_a_conversation(suite: BfclSuite, turns: Any, reason: str | None, subject: str):
    verdict = _judged(suite, "multi_turn_base_1", turns)
    assert (verdict.reason, verdict.subject) == (reason, subject)
    json.dumps(verdict.detail)
    shown = suite.compare(_case(suite, "multi_turn_base_1"), turns, verdict, Setting())
    assert shown.sentence


def test_a_state_that_differs_is_shown_attribute_by_attribute(suite: BfclSuite):
    turns = [[BALANCE], ["[top_up(cents=1000), buy_ticket(fare='day', zone='C')]"], [CANCEL]]
    verdict = _judged(suite, "multi_turn_base_1", turns)
    shown = suite.compare(_case(suite, "multi_turn_base_1"), turns, verdict, Setting())
    assert shown.sentence == "turn 2: the state of BusPass differs: tickets"
    [state] = [pair for pair in shown.pairs if pair.kind == "state"]
    assert (state.turn, state.expected, state.actual) == (1, "BusPass.tickets", "BusPass.tickets")
    assert [(row.name, row.expected, row.actual, row.decisive) for row in state.rows] == [
        ("8.zone", ("'B'",), "'C'", True)
    ]
    first = next(pair for pair in shown.pairs if pair.turn == 1)
    assert first.kind == "state", "what decided comes first"
    bought = next(pair for pair in shown.pairs if pair.actual == "buy_ticket")
    assert [(row.mark.value, row.name) for row in bought.rows] == [("=", "fare"), ("≠", "zone")]


def test_a_conversation_that_passed_keeps_the_results_of_its_calls(suite: BfclSuite):
    turns = [[BALANCE], [TOP_UP], [CANCEL]]
    verdict = _judged(suite, "multi_turn_base_1", turns)
    shown = suite.compare(_case(suite, "multi_turn_base_1"), turns, verdict, Setting())
    assert verdict.outcome is Outcome.PASSED
    assert all(pair.note for pair in shown.pairs), "each call with what it gave"


class Workspace:
    """Holds what a test gives it."""

    def __init__(self) -> None:
        self.owner: str | None = None
        self.books = ["a", "b"]
        self.labels: dict[str, Any] = {"new": None}

    def _load_scenario(self, scenario: dict[str, Any], long_context: bool = False) -> None:
        del scenario, long_context

    def put(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)


@pytest.mark.parametrize(
    ("put", "differences"),
    [
        ("owner='x'", [("Shelf.owner", "None", "'x'")]),
        ("labels={}", [("Shelf.labels.new", "None", None)]),
        ("labels={'new': None, 'old': None}", [("Shelf.labels.old", None, "None")]),
        ("books=['a', 'c']", [("Shelf.books[1]", "'b'", "'c'")]),
        ("books=['a', 'b', 'c']", [("Shelf.books[2]", None, "'c'")]),
        ("books=['a']", [("Shelf.books[1]", "'b'", None)]),
        ("books=['b']", [("Shelf.books", "['a', 'b']", "['b']")]),
        ("books=None", [("Shelf.books", "['a', 'b']", "None")]),
    ],
)
def test_nothing_is_told_apart_from_not_there(put: str, differences: list[tuple[str, Any, Any]]):
    entry = {"id": "multi_turn_base_0", "classes": ["Shelf"], "config": {}, "long_context": False}
    finding = check_turns({"Shelf": Workspace}, entry, [[[f"put({put})"]]], [["put()"]])
    assert [(one["path"], one["expected"], one["actual"]) for one in finding["differences"]] == differences


class Box:
    """A stand-in for a simulator."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def put(self, thing: Any, twice: bool = False) -> dict[str, Any]:
        self.held += [thing] * (2 if twice else 1)
        return {"held": len(self.held)}

    def size(self) -> int:
        return len(self.held)

    def run(self) -> str:
        return "ran"

    def _secret(self) -> str:
        return "secret"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("put(thing='a')", '{"held": 1}'),
        ("put('a', twice=True)", '{"held": 2}'),
        ("put(thing=size())", '{"held": 1}'),
        ("size( )", "0"),
        ("put(thing=[1, -2.5, (3, None)], twice=False)", '{"held": 1}'),
        ("put(thing=dict(a=1))", '{"held": 1}'),
        ("take(x=1)", "Error during execution: name 'take' is not defined"),
        ("put(thing=x)", "Error during execution: name 'x' is not defined"),
        ("put(thing=1, thing=2)", "Error during execution: keyword argument repeated: thing (<string>, line 1)"),
        ("Box.put(thing=1)", "Error during execution: name 'Box' is not defined"),
        ("put(wrong=1)", "Error during execution: Box.put() got an unexpected keyword argument 'wrong'"),
        ("put()", "Error during execution: Box.put() missing 1 required positional argument: 'thing'"),
        ("run()", "Error during execution: Function call run is not allowed."),
        ("_secret()", "Error during execution: name '_secret' is not defined"),
        ("box_1._secret()", "Error during execution: '_secret' is not public"),
        ("__import__(name='os')", "Error during execution: name '__import__' is not defined"),
        ("open(file='/etc/passwd')", "Error during execution: name 'open' is not defined"),
        ("put(thing=().__class__)", "Error during execution: an expression contains Attribute"),
        ("put(thing=(lambda: 1)())", "Error during execution: lambda: 1 may not be called"),
    ],
)
def test_calls_are_dispatched_and_never_evaluated(text: str, result: str):
    box = Box()
    owners = dict.fromkeys(("put", "size", "run"), "box_1")
    assert execute(text, {"box_1": box}, owners) == result


def test_a_syntax_error_has_pythons_words():
    assert execute("put(a b=1)", {}, {}).startswith("Error during execution: invalid syntax")


def test_texts_in_arguments_are_rewritten_like_calls():
    box = Box()
    execute("put(thing='see size (now) and other (x)')", {"box_1": box}, dict.fromkeys(("put", "size"), "box_1"))
    assert box.held == ["see box_1.size(now) and other(x)"]


@pytest.mark.parametrize(
    ("step", "family", "calls"),
    [
        ("[f(a=1, b='x')]", "prompt", ["f(a=1, b='x')"]),
        ("[f(a=g(b=1))]", "prompt", ["f(a=g(b=1))"]),
        ("[f(a={'b': 1})]", "prompt", ["f(a={'b': 1})"]),
        ("[f(a={'b': {'c': 1}})]", "prompt", ["f(a=b(c=1))"]),
        ("[f(a={})]", "prompt", []),
        ("All done.", "prompt", []),
        ("[]", "prompt", []),
        (None, "prompt", []),
        ([{"f": '{"a": 1}'}, {"g": {}}], "fc_json", ["f(a=1)", "g()"]),
        ({"f": '{"a": {}}'}, "fc_json", ["f(a={})"]),
        ([{"f": "oops"}], "fc_json", []),
        ("f(a=1)", "fc_json", []),
    ],
)
def test_steps_become_call_texts(step: Any, family: str, calls: list[str]):
    assert executable_calls(step, family) == calls
