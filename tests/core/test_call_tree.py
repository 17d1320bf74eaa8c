"""Which call continues which: every call is in exactly one thread, whatever runs beside it."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.core.call_tree import CallTree, message_digest
from console.core.chat import Reply, ToolCall

Chat = list[dict[str, Any]]
TOOLS = [{"type": "function", "function": {"name": "look"}}]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@dataclass
class Agent:
    """A conversation that grows by a reply and a message with each call."""

    tree: CallTree
    name: str
    messages: Chat = field(default_factory=list[dict[str, Any]])
    calls: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.messages = [{"role": "system", "content": "Help."}, user(f"{self.name} begins")]

    def call(self, count: int, tools: Any = TOOLS) -> dict[str, Any]:
        reply = Reply(f"{self.name} says {len(self.calls)}")
        self.tree.add(list(self.messages), tools, reply)
        self.calls.append(count)
        message = dict(reply.message())
        self.messages = [*self.messages, message, user(f"{self.name} goes on")]
        return message


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_agents_that_call_at_the_same_time_each_keep_their_thread(order: list[int]) -> None:
    tree = CallTree()
    agents = [Agent(tree, f"agent {number}") for number in range(5)]
    for count, number in enumerate(order):
        agents[number].call(count)
    threads = tree.threads()
    assert sorted(number for thread in threads for number in thread) == list(range(len(order)))
    assert sorted(threads) == sorted(agent.calls for agent in agents if agent.calls)


def test_the_main_conversation_is_neither_a_title_before_it_nor_a_longer_sub_agent_after_it() -> None:
    tree = CallTree()
    tree.add([user("Name this: main begins")], [], Reply("A title"))
    main, below = Agent(tree, "main"), Agent(tree, "below")
    main.call(1)
    for count in range(2, 6):
        below.call(count)
    main.call(6)
    assert tree.threads() == [[1, 6], [0], [2, 3, 4, 5]]


def test_the_main_conversation_that_waits_for_its_sub_agents_is_known_by_tools_or_by_the_case() -> None:
    for tree, tools in ((CallTree(), TOOLS), (CallTree("main begins"), [])):
        tree.add([user("Name this: main begins")], [], Reply("A title"))
        Agent(tree, "main").call(1, tools)
        below = Agent(tree, "below")
        below.call(2, tools)
        below.call(3, tools)
        assert tree.threads() == [[1], [0], [2, 3]]


def test_a_side_call_that_extends_the_conversation_does_not_replace_it() -> None:
    """A title asked in mid-conversation once replaced the transcript of another tool (inspect_ai issue 4605)."""
    tree = CallTree()
    main = Agent(tree, "main")
    main.call(0)
    tree.add([*main.messages[:-1], user("Give this a title.")], [], Reply("A title"))
    main.call(2)
    assert tree.threads() == [[0, 2], [1]]


def test_a_token_in_the_instructions_that_changes_with_each_call_splits_nothing() -> None:
    """Another tool's threads matched 0 of 80 calls because of such tokens (inspect_ai issue 4758)."""
    tree = CallTree()
    main = Agent(tree, "main")
    for count in range(5):
        main.messages[0] = {"role": "system", "content": f"Help. cch={count}; it is 12:0{count}"}
        main.call(count)
    assert tree.threads() == [[0, 1, 2, 3, 4]]


def test_no_conversation_is_dropped_when_a_program_holds_several() -> None:
    """A bridge that kept one conversation silently dropped the others (inspect_ai issue 4759)."""
    tree = CallTree()
    agents = [Agent(tree, name) for name in ("main", "left", "right")]
    for count in range(6):
        agents[count % 3].call(count)
    assert tree.threads() == [[0, 3], [1, 4], [2, 5]]


def test_sub_agents_with_one_beginning_are_told_apart_by_their_replies() -> None:
    """It was unclear whose sub-agent had asked (inspect_swe issue 131)."""
    tree, task = CallTree(), [user("Look into it.")]
    tree.add(task, TOOLS, Reply("left"))
    tree.add(task, TOOLS, Reply("right"))
    tree.add([*task, {"role": "assistant", "content": "right"}, user("and?")], TOOLS, Reply("right again"))
    tree.add([*task, {"role": "assistant", "content": "left"}, user("and?")], TOOLS, Reply("left again"))
    assert tree.threads() == [[0, 3], [1, 2]]


def test_the_transcript_of_the_program_decides_which_conversation_is_the_main_one() -> None:
    tree = CallTree()
    helper, main = Agent(tree, "helper"), Agent(tree, "main")
    helper.call(0)
    helper.call(1)
    said = main.call(2)
    tree.note_transcript([message_digest(said)])
    assert tree.threads() == [[2], [0, 1]]


def test_a_conversation_whose_beginning_was_dropped_goes_on_by_its_tool_call() -> None:
    tree = CallTree()
    reply = Reply(None, (ToolCall("call-1", "look", "{}"),))
    tree.add([user("a long story")], TOOLS, reply)
    result = {"role": "tool", "tool_call_id": "call-1", "content": "seen"}
    tree.add([user("Summary: a story"), dict(reply.message()), result], TOOLS, Reply("done"))
    assert tree.threads() == [[0, 1]]


def test_an_edited_reply_does_not_end_a_conversation() -> None:
    tree, start = CallTree(), [user("go")]
    tree.add(start, TOOLS, Reply("<think>long</think> yes"))
    tree.add([*start, {"role": "assistant", "content": "yes"}, user("and?")], TOOLS, Reply("no"))
    assert tree.threads() == [[0, 1]]
