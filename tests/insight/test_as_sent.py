"""What was sent and answered is edited as text, and comes back as the change it makes."""

import pytest

from console.core.case import Key
from console.core.chat import Reply, ToolCall
from console.core.experiment import PARAMS, TOOL, Change, edited, shared_change
from console.core.fault import UsageError
from console.core.record import Asked
from console.core.request import Thread
from console.insight.as_sent import as_text, change_of, diff_of, from_text, point_at, points_of, text_of
from console.insight.conversation import Conversation

TOOLS = [{"type": "function", "function": {"name": "fly", "description": "Flies.\nFar."}}]
CALL = Reply(None, (ToolCall("c1", "fly", '{"to": "Rome"}'),), finish="tool_calls")
OPENING = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "To Rome."}]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "full\nvery full"}


def conversation() -> Conversation:
    talk, thread, key = Conversation(Key("a")), Thread(), Key("a")
    for n, (messages, reply) in enumerate([(OPENING, CALL), ([*OPENING, CALL.message(), RESULT], Reply("Sorry."))], 1):
        prefix, new, tools = thread.condense([dict(message) for message in messages], TOOLS)
        talk.apply(Asked(0.0, key, n, f"{n}", reply, step=n - 1, prefix=prefix, messages=new, tools=tools))
    return talk


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


@pytest.mark.parametrize(
    ("what", "text", "edited", "after"),
    [
        ("system", "Be brief.", "Be kind.\n", "Be kind."),
        ("user", "To Rome.", "To Bonn.\n", "To Bonn."),
        ("tool.fly.description", "Flies.\nFar.", "Flies.\nNear.\n", "Flies.\nNear."),
        ("params.temperature", "null", "0.2", 0.2),
        ("result", "── tool ──\nfull\nvery full\n", "free\n", [{**RESULT, "content": "free"}]),
        (
            "reply",
            '── call fly ──\n{"to": "Rome"}\n',
            '── assistant ──\nHm.\n── call fly ──\n{"to": "Bonn"}\n',
            {"content": "Hm.", "tool_calls": [{"id": "c1", "name": "fly", "arguments": '{"to": "Bonn"}'}]},
        ),
    ],
)
def test_everything_can_be_edited_as_it_was_sent(what: str, text: str, edited: str, after: object) -> None:
    talk = conversation()
    point = point_at(talk, "1.1")
    assert text_of(talk, point, what) == text
    change = change_of(talk, point, what, edited)
    assert (change.after, change.label) == (after, what)
    assert any(line.startswith("+") for line in diff_of(change))
    if text != "null":
        with pytest.raises(UsageError, match="nothing would change"):
            change_of(talk, point, what, text)


@pytest.mark.parametrize(
    ("at", "what", "words"),
    [
        ("1.3", "system", "there is no step 1.3"),
        ("x", "system", "there is no step x"),
        ("1.2", "result", "no result"),
        ("1.2", "opening", "first step"),
        ("1.1", "tool.walk.description", "no tool 'walk'"),
        ("1.1", "sytem", "cannot be changed"),
    ],
)
def test_what_is_not_there_is_refused(at: str, what: str, words: str) -> None:
    talk = conversation()
    with pytest.raises(UsageError, match=words):
        text_of(talk, point_at(talk, at), what)


def test_a_change_of_many_conversations_has_no_text_before() -> None:
    assert shared_change("tool.fly.description", "x\n") == Change(TOOL, "x", name="fly")
    assert shared_change("params.top_p", "0.5") == Change(PARAMS, 0.5, name="top_p")
    nested = "[" * 100_000
    assert shared_change("params.top_p", nested).after == nested, "what cannot be read as JSON is a text"
    with pytest.raises(UsageError, match="applies to one conversation only"):
        shared_change("reply", "x")


def test_there_is_a_point_for_each_reply_of_the_model() -> None:
    assert [point.beginning.place for point in points_of(conversation())] == ["1.1", "1.2"]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\nb\nc", "a\nB\nc\nd"),
        ("a\nx\nb\ny", "a\nx\nB\ny\nd"),
        ("a\nc", "a\nc\nd"),
        ("", "\nd"),
    ],
)
def test_an_edit_is_made_in_texts_that_are_alike(text: str, after: str) -> None:
    assert edited(text, "a\nb\nc", "a\nB\nc\nd") == after


def test_a_line_is_inserted_after_those_that_stood_before_it() -> None:
    assert edited("x\na\nz", "a\nb", "a\nnew\nb") == "x\na\nnew\nz"
    assert edited("z", "a", "first\na") == "first\nz"
