"""The filter language keeps what it says, and refuses what it does not understand."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.annotation import Annotation
from console.core.case import Key
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.insight.filter import FIELDS, read_filter
from console.insight.rollout import Rollout

UNIT = Rollout(
    Key("live_multiple_131-52"),
    0,
    category="live_multiple",
    title="Weather in Chicago?",
    outcome=Outcome.FAILED,
    reason="value_error:string",
    subject="unit",
    message="Invalid value for parameter 'unit'",
    function="get_current_weather",
    seconds=31,
    cost_usd=0.02,
    input_tokens=1500,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "reason:unit",
        "error:value_error",
        'reason:"wrong value"',
        "reason:location,unit",
        "!reason:location",
        "tag:none",
        "!tag:any",
        "time>30s",
        "time>0.5m time<1h",
        "cost>0.01",
        "cost>=$0.02",
        "cost<=$0.02",
        "tokens>1k",
        "cat:live_multiple",
        "category:LIVE",
        "func:get_current",
        "is:failed",
        "is:fail,broken",
        "chicago",
        '"weather in"',
        "id:131-52 unit",
        "!lisbon",
    ],
)
def test_keeps(text):
    assert read_filter(text).matches(UNIT)


@pytest.mark.parametrize(
    "text",
    [
        "reason:location",
        "!reason:unit",
        "tag:any",
        "tag:model",
        "time<30s",
        "cost<0.01",
        "cost>0.02",
        "cost<$0.02",
        "is:passed",
        "lisbon",
        "!unit",
        "turns>1",
    ],
)
def test_drops(text):
    assert not read_filter(text).matches(UNIT)


def test_the_id_of_a_repeat_is_found_as_it_is_written():
    third = msgspec.structs.replace(UNIT, key=Key(UNIT.key.case, 2))
    assert read_filter(f"{UNIT.key.case} r3").matches(third)
    assert not read_filter(f"{UNIT.key.case} r3").matches(UNIT)


def test_tags():
    assert read_filter("tag:model").matches(UNIT, Annotation("model"))
    assert not read_filter("tag:none").matches(UNIT, Annotation("model"))
    assert read_filter("tag:none,data").matches(UNIT, Annotation("data"))


def test_what_readers_said():
    disputed = Annotation(dispute="two answers are right", comment="look")
    assert read_filter("is:disputed").matches(UNIT, disputed)
    assert read_filter("is:reviewed is:commented").matches(UNIT, disputed)
    assert read_filter("is:passed,disputed").matches(UNIT, disputed)
    assert read_filter("dispute:two note:LOOK").matches(UNIT, disputed)
    assert read_filter("two").matches(UNIT, disputed)
    assert not read_filter("is:reviewed").matches(UNIT)
    assert read_filter("!dispute:any note:none").matches(UNIT)


def test_free_text_holds_where_a_conversation_has_it():
    wanted = read_filter('is:failed "Zebra crossing" !lisbon')
    assert wanted.words == ("zebra crossing", "lisbon")
    assert wanted.matches(UNIT, matched_words={"zebra crossing"})
    assert not wanted.matches(UNIT)
    assert not wanted.matches(UNIT, matched_words={"zebra crossing", "lisbon"})


def test_the_model_that_answered():
    other = Rollout(Key("a"), 0, model="gpt-x-2026")
    assert read_filter("model:gpt-x").matches(other)
    assert not read_filter("model:claude").matches(other)


def test_an_unknown_cost_is_neither_more_nor_less():
    unknown = Rollout(Key("a"), 0)
    assert not read_filter("cost>0").matches(unknown)
    assert not read_filter("cost<9").matches(unknown)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("reson:unit", "reason"),
        ("time>soon", "not a number"),
        ("is:faild", "failed"),
        ('"open', "not closed"),
        ("reason>3", "cannot be compared"),
        ("reason:", "lacks a value"),
        ("!time>", "lacks a value"),
    ],
)
def test_a_bad_filter_names_the_mistake_and_the_cure(text, word):
    with pytest.raises(UsageError) as caught:
        read_filter(text)
    assert word in str(caught.value)
    assert caught.value.hint


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_cure(text):
    try:
        answer = str(read_filter(text).matches(UNIT))
    except UsageError as error:
        answer = error.hint
    assert answer


@given(st.sampled_from(FIELDS), st.text(st.characters(exclude_characters='"'), min_size=1, max_size=10))
def test_inversion_is_the_opposite(field, value):
    text = f'{field}:"{value}"'
    try:
        kept = read_filter(text).matches(UNIT)
    except UsageError:
        return
    assert read_filter("!" + text).matches(UNIT) is not kept
