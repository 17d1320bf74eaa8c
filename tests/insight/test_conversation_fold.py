"""A conversation folds to the same transcript from disk and from a live socket, whatever the order of frames."""

from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Case, Key
from console.core.chat import Reply, ToolCall, Usage
from console.core.live import Activity, Began, Delta
from console.core.outcome import Outcome, Verdict
from console.core.record import GREETING, Asked, Finished, Noted, Performed, Scored, Started, Tried
from console.insight.conversation import Conversation, speaker_of
from console.insight.passage import Passage, PassageKind, read_arguments

KEY = Key("c1")
SYSTEM = {"role": "system", "content": "be brief"}
USER = {"role": "user", "content": "weather?"}
CALL = ToolCall("id1", "weather", '{"city": "Berlin", "days": 2}')
FIRST = Reply(content=None, tool_calls=(CALL,), reasoning="hm", usage=Usage(10, 5), latency_s=1.5)
RESULT = {"role": "tool", "tool_call_id": "id1", "name": "weather", "content": '{"sun": true}'}
SECOND = Reply(content="Sunny.")


def asked(n: int, reply: Reply, messages: list, prefix: int = 0, role: str = "model", **more) -> Asked:
    return Asked(at=n, key=KEY, n=n, digest="", reply=reply, messages=messages, prefix=prefix, role=role, **more)


RECORDS = [
    Started(at=0, key=KEY, case=Case("c1", "simple", title="weather?")),
    asked(1, FIRST, [SYSTEM, USER]),
    asked(2, SECOND, [FIRST.message(), RESULT], prefix=2, step=1),
    Scored(at=3, key=KEY, name="coherence", value=80, threshold=15),
    Finished(at=4, key=KEY, verdict=Verdict(Outcome.FAILED, "value_error:string", "city", ("no",)), output=["x"]),
]


def folded(records: list) -> Conversation:
    conversation = Conversation(KEY)
    for record in records:
        conversation.apply(record)
    return conversation


def kinds(conversation: Conversation) -> list[PassageKind]:
    return [passage.kind for passage in conversation.passages]


def test_transcript_has_everything_once_and_in_order():
    conversation = folded(RECORDS)
    kind = PassageKind
    assert kinds(conversation) == [
        kind.SYSTEM,
        kind.USER,
        kind.REASONING,
        kind.CALL,
        kind.RESULT,
        kind.ASSISTANT,
        kind.SCORE,
        kind.VERDICT,
    ]
    call = conversation.passages[3]
    assert call.arguments == (("city", '"Berlin"'), ("days", "2"))
    assert conversation.passages[2].usage == Usage(10, 5)
    assert conversation.passages[2].latency_s == 1.5
    assert conversation.passages[4].head == "weather"
    assert conversation.verdict is not None
    assert conversation.output == ["x"]
    assert [(it.turn, it.step) for it in conversation.passages][5] == (0, 1)


def test_pieces_of_a_finished_prompt_are_what_was_asked_and_stand_once():
    first, second, tail = ({"role": "prompt", "content": text} for text in ("<s>weather?", "<a>Sunny.", "<a>"))
    conversation = folded(
        [RECORDS[0], asked(1, SECOND, [first, tail]), asked(2, SECOND, [first, second, tail], step=1)]
    )
    said = [(passage.kind, passage.text) for passage in conversation.passages]
    user, assistant = PassageKind.USER, PassageKind.ASSISTANT
    answer = (assistant, "Sunny.")
    assert said == [(user, "<s>weather?"), (user, "<a>"), answer, (user, "<a>Sunny."), answer]


def test_whole_requests_are_restored_from_differences():
    conversation = folded(RECORDS)
    assert conversation.exchanges[1].messages == [SYSTEM, USER, FIRST.message(), RESULT]


def test_live_text_streams_and_gives_way_to_the_record():
    conversation = folded(RECORDS[:1])
    conversation.begin(Began(key=KEY, n=1, role="model", messages=[SYSTEM, USER]))
    conversation.extend(Delta(KEY, 1, "h", "reasoning"))
    conversation.extend(Delta(KEY, 1, "m", "reasoning"))
    conversation.extend(Delta(KEY, 1, "Su"))
    assert kinds(conversation) == [PassageKind.SYSTEM, PassageKind.USER]
    assert [(it.kind, it.text, it.streaming) for it in conversation.tail()] == [
        (PassageKind.REASONING, "hm", True),
        (PassageKind.ASSISTANT, "Su", True),
    ]
    for record in RECORDS[1:]:
        conversation.apply(record)
    assert conversation.tail() == []
    assert conversation.passages == folded(RECORDS).passages


def test_late_and_repeated_frames_change_nothing():
    conversation = folded(RECORDS)
    before = list(conversation.passages)
    conversation.begin(Began(key=KEY, n=2, role="model", messages=[RESULT]))
    conversation.extend(Delta(KEY, 2, "late"))
    assert conversation.passages == before
    assert conversation.tail() == []


def test_a_failed_try_drops_what_was_streamed_and_stays_in_the_transcript():
    conversation = folded(RECORDS[:1])
    conversation.begin(Began(key=KEY, n=1, role="model"))
    conversation.extend(Delta(KEY, 1, "half"))
    conversation.apply(Tried(at=1, key=KEY, n=1, kind="rate_limit", message="429", partial="half", wait_s=3))
    assert conversation.tail() == []
    conversation.extend(Delta(KEY, 1, "new"))
    assert [it.text for it in conversation.tail()] == ["new"]
    tried = conversation.passages[-1]
    assert (tried.kind, tried.head, tried.threshold) == (PassageKind.TRY, "rate_limit", 3)
    assert "half" in tried.text


def test_judge_keeps_its_own_thread_and_does_not_move_the_turn():
    conversation = folded(RECORDS[:2])
    conversation.apply(asked(2, Reply(content="87"), [{"role": "user", "content": "rate"}], role="judge", turn=9))
    assert conversation.turn == 0
    assert [it.role for it in conversation.passages[-2:]] == ["judge", "judge"]
    assert conversation.exchanges[-1].messages == [{"role": "user", "content": "rate"}]


def test_a_reply_of_calls_alone_in_a_later_request_has_no_empty_text():
    restored = [USER, FIRST.message(), RESULT]
    conversation = folded([asked(1, SECOND, restored)])
    assert [(passage.kind, passage.text != "") for passage in conversation.passages] == [
        (PassageKind.USER, True), (PassageKind.CALL, True), (PassageKind.RESULT, True), (PassageKind.ASSISTANT, True)
    ]  # fmt: skip


def test_notes_and_effects_are_shown():
    conversation = folded(
        [
            *RECORDS[:1],
            Noted(at=1, key=KEY, kind="decoded", data={"a": 1}),
            Performed(at=2, key=KEY, n=1, digest="", kind="running code", request="1+1", result="2"),
        ]
    )
    assert [(it.head, it.text) for it in conversation.passages] == [
        ("decoded", '{\n  "a": 1\n}'),
        ("running code", "1+1\n2"),
    ]


def test_a_greeting_that_no_model_wrote_opens_the_conversation_once():
    hello, please = {"role": "assistant", "content": "Hello!"}, Reply(content="Please cancel.")
    to_user = [{"role": "system", "content": "You call."}, {"role": "user", "content": "Hello!"}]
    conversation = folded([
        RECORDS[0],
        Noted(at=1, key=KEY, kind=GREETING, data="Hello!"),
        asked(1, please, to_user, role="user"),
        asked(2, SECOND, [SYSTEM, hello, {"role": "user", "content": "Please cancel."}]),
    ])  # fmt: skip
    spoken = [(it.role, it.text) for it in conversation.passages if it.kind is PassageKind.ASSISTANT]
    assert spoken == [("model", "Hello!"), ("user", "Please cancel."), ("model", "Sunny.")]


def test_a_request_seen_before_the_record_of_the_users_reply_does_not_repeat_it():
    please, words = Reply(content="Please cancel."), {"role": "user", "content": "Please cancel."}
    conversation = folded(RECORDS[:1])
    conversation.begin(Began(KEY, 1, "user", 0, 0, [{"role": "system", "content": "You call."}]))
    conversation.begin(Began(KEY, 2, "model", 0, 0, [SYSTEM, words]))
    assert "Please cancel." not in [it.text for it in conversation.passages]
    conversation.apply(asked(1, please, [{"role": "system", "content": "You call."}], role="user"))
    assert [it.text for it in conversation.passages] == ["You call.", "Please cancel.", SYSTEM["content"]]
    conversation.apply(asked(2, SECOND, [SYSTEM, words]))
    assert [it.text for it in conversation.passages].count("Please cancel.") == 1


def test_words_of_a_simulated_user_that_end_with_a_space_are_not_repeated():
    please, words = Reply(content="Please cancel. "), {"role": "user", "content": "Please cancel. "}
    conversation = folded([
        RECORDS[0],
        asked(1, please, [{"role": "system", "content": "You call."}], role="user"),
        asked(2, SECOND, [SYSTEM, words]),
    ])  # fmt: skip
    assert [it.text for it in conversation.passages].count(words["content"]) == 1


def test_every_result_names_its_call_in_both_modes():
    unnamed = {"role": "tool", "tool_call_id": "id1", "content": "1"}
    native = folded([asked(1, FIRST, [USER]), asked(2, SECOND, [FIRST.message(), unnamed], prefix=1, step=1)])
    assert [it.head for it in native.passages if it.kind is PassageKind.RESULT] == ["weather"]
    calls = [("cd(folder='a')", "{}"), ("ls()", "['b']")]
    told = {"role": "user", "content": repr([{"role": "tool", "name": it, "content": text} for it, text in calls])}
    spoken = Reply(content="[cd(folder='a'), ls()]")
    prompted = folded([asked(1, spoken, [USER]), asked(2, SECOND, [spoken.message(), told], prefix=1, step=1)])
    assert [(it.head, it.text) for it in prompted.passages if it.kind is PassageKind.RESULT] == calls
    broken = told | {"content": told["content"][:-3]}
    kept = folded([asked(1, spoken, [USER]), asked(2, SECOND, [spoken.message(), broken], prefix=1, step=1)])
    assert [it.text for it in kept.passages if it.kind is PassageKind.USER][-1] == broken["content"]


def test_state_comes_from_the_engine_and_ends_with_the_verdict():
    conversation = folded(RECORDS[:1])
    conversation.act(Activity(KEY, "waiting", why="rate limited"))
    assert (conversation.state, conversation.why) == ("waiting", "rate limited")
    conversation.apply(RECORDS[-1])
    assert conversation.state == ""


def test_unreadable_arguments_keep_the_text_and_name_the_complaint():
    for text in ('{"a": ', "[1]", "[" * 100_000, "9" * 5000):
        arguments, complaint = read_arguments(text)
        assert arguments is None
        assert complaint
    assert read_arguments("") == ((), "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_any_message_is_read(message):
    conversation = folded([RECORDS[0], asked(1, SECOND, [message])])
    assert conversation.passages[-1].text == "Sunny."


@given(st.lists(st.text(max_size=6), max_size=20), st.data())
def test_streamed_text_is_the_sum_of_its_deltas(parts, data):
    conversation = folded(RECORDS[:1])
    conversation.begin(Began(key=KEY, n=1, role="model"))
    sent = {"text": "", "reasoning": ""}
    for part in parts:
        kind = data.draw(st.sampled_from(["text", "reasoning"]))
        sent[kind] += part
        conversation.extend(Delta(KEY, 1, part, kind))
    shown = {it.kind: it.text for it in conversation.tail()}
    assert shown.get(PassageKind.ASSISTANT, "") == sent["text"]
    assert shown.get(PassageKind.REASONING, "") == sent["reasoning"]


def test_a_simulated_users_reply_and_a_judges_are_not_called_the_assistants() -> None:
    said = [Passage(PassageKind.ASSISTANT, "Hello!", role=role) for role in ("model", "user", "judge")]
    assert [speaker_of(passage) for passage in said] == ["assistant", "user", "judge"]
    assert speaker_of(Passage(PassageKind.SYSTEM, "You play a user.", role="user")) == "to the simulated user"
    assert speaker_of(Passage(PassageKind.CALL, "{}", role="user")) == "call"
