"""What a prompt says otherwise than another, line by line, with a little of what is the same around it."""

from typing import Any

from console.core.case import Key
from console.core.chat import Reply
from console.core.record import Asked
from console.insight.conversation import Conversation
from console.insight.prompt_change import ChangedLine, prompt_changes

LONG = "You turn requests into function calls, and say so in a sentence when no function fits."


def told(*messages: dict[str, Any]) -> Conversation:
    conversation = Conversation(Key("a"))
    if messages:
        conversation.apply(Asked(at=1.0, key=Key("a"), n=1, digest="d", messages=list(messages), reply=Reply("x")))
    return conversation


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def test_the_words_that_differ_stand_between_some_that_do_not() -> None:
    user = {"role": "user", "content": "weather?"}
    before, after = told(system(LONG), user), told(system(f"{LONG} Answer in one word."), user)
    assert prompt_changes(before, after) == [
        ChangedLine("-", "system", "… so in a sentence when no function fits.", "", ""),
        ChangedLine("+", "system", "… so in a sentence when no function fits.", " Answer in one word.", ""),
    ]
    (old, new) = prompt_changes(told(system(LONG)), told(system(LONG.replace("function calls", "plain words"))))
    assert (old.before, old.text, old.after) == ("You turn requests into ", "function call", "s, and say so in a …")
    assert new.text == "plain word"


def test_a_line_that_only_one_has_is_shown_whole() -> None:
    assert prompt_changes(told(system("one\ntwo")), told(system("one\ntwo\n\nthree"))) == [
        ChangedLine("+", "system", "", "three", "")
    ]


def test_only_an_empty_line_more_is_still_a_difference() -> None:
    assert prompt_changes(told(system("one")), told(system("one\n"))) == [ChangedLine("+", "system", "", "", "")]


def test_the_same_prompt_and_one_never_sent_have_no_difference() -> None:
    assert prompt_changes(told(system(LONG)), told(system(LONG))) == []
    assert prompt_changes(told(system(LONG)), told()) == []
