"""Failures are grouped by what they have in common, in an order that stays."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from console.core.annotation import Annotation, Label, PeopleVerdict
from console.core.case import Key
from console.core.outcome import Outcome
from console.insight.failures import GroupBy, group, in_order, possible_grouping, with_cases
from console.insight.reasons import reason_words, sentence
from console.insight.rollout import Rollout


def failure(case: str, reason: str, subject: str = "", **more) -> Rollout:
    return Rollout(Key(case), 0, outcome=Outcome.FAILED, reason=reason, subject=subject, **more)


RUN = [
    failure("a", "value_error:string", "city"),
    failure("b", "value_error:string", "unit"),
    failure("c", "ast_decoder:decoder_failed"),
    failure("d", "value_error:others", "unit"),
    failure("e", "value_error:others", "days"),
]


def test_reason_then_subject_largest_first():
    groups = group(RUN, GroupBy.REASON)
    assert [(it.label, it.count) for it in groups] == [("wrong value", 4), ("could not parse the answer", 1)]
    assert [(it.label, it.count) for it in groups[0].parts] == [("unit", 2), ("others", 2)]
    assert groups[1].parts == []
    assert [it.key.case for it in in_order(groups)] == ["b", "d", "a", "e", "c"]


def test_people_and_decided_keys_go_over_the_rules_of_blame():
    ruled = [failure(name, "wrong", scores={f"blame: {party}": 1.0}) for name, party in
             (("a", "user"), ("b", "agent"), ("c", "grader"), ("d", "agent"), ("e", "user"))]  # fmt: skip
    broken = Rollout(Key("f"), 0, outcome=Outcome.BROKEN, reason="timeout")
    notes = {
        ("b", 0): Annotation(people=PeopleVerdict({"ann": "passed"})),
        ("c", 0): Annotation(people=PeopleVerdict({"ann": "failed"})),
        ("e", 0): Annotation(dispute="the key is wrong"),
    }
    groups = group([*ruled, broken], GroupBy.BLAME, notes, contested={"b", "d"})
    blamed = {rollout.key.case: it.label for it in groups for rollout in it.rollouts}
    assert blamed == {"a": "user", "b": "grader", "c": "open", "d": "task", "e": "task", "f": "harness"}


def test_groups_stay_fewer_than_cases():
    singles = [failure(str(n), "value_error:string", f"subject {n}") for n in range(5)]
    assert [(it.count, it.parts, it.subject) for it in group(singles, GroupBy.REASON)] == [(5, [], "")]
    same = [failure(str(n), "value_error:string", "unit") for n in range(5)]
    assert [(it.count, it.parts, it.subject) for it in group(same, GroupBy.REASON)] == [(5, [], "unit")]
    one_other = [*same, failure("x", "value_error:string", "city")]
    assert [it.label for it in group(one_other, GroupBy.REASON)[0].parts] == ["unit", "city"]


def test_cases_of_several_repeats_stand_below_reason_and_subject():
    def repeats(case: str, subject: str, *numbers: int) -> list[Rollout]:
        return [replace(failure(case, "value_error:string", subject), key=Key(case, n)) for n in numbers]

    run = [*repeats("a", "unit", 0, 1), *repeats("b", "unit", 0), *repeats("c", "city", 0, 1), *repeats("b", "day", 1)]
    (reason,) = with_cases(group(run, GroupBy.REASON))
    assert [(it.label, it.size, it.is_case) for it in reason.parts] == [("unit", 2, False), ("others", 2, False)]
    assert [[it.label for it in part.parts] for part in reason.parts] == [["a", "b"], ["c", "b"]]
    assert (reason.size, reason.count) == (3, 6), "a case is counted once"
    assert [it.label for it in reason.leaves] == ["a", "b", "c", "b"]
    assert reason.sections == reason.parts
    alone = with_cases(group(run[3:5], GroupBy.REASON))
    assert [(it.has_cases, it.size) for it in alone] == [(True, 1)], "repeats of one case are no group of their own"


def test_other_groupings():
    tagged = group(RUN, GroupBy.TAG, {("a", 0): Annotation(tag="model")})
    assert [(it.label, it.count) for it in tagged] == [("untagged", 4), ("model", 1)]
    assert [it.label for it in group(RUN, GroupBy.OUTCOME)] == ["failed"]
    assert [it.count for it in group(RUN, GroupBy.NONE)] == [5]
    assert group([], GroupBy.NONE) == []
    assert [it.label for it in group(RUN, GroupBy.CATEGORY)] == ["no category"]


def test_while_repeats_are_played_nothing_is_said_to_be_always_so():
    rollouts = [Rollout(Key("a", 0), 0, outcome=Outcome.FAILED), Rollout(Key("b", 0), 1, outcome=Outcome.PASSED)]
    assert [it.label for it in group(rollouts, GroupBy.REPEATS, repeats=4)] == ["failed so far", "passed so far"]
    rollouts += [Rollout(Key("a", n), 1 + n, outcome=Outcome.FAILED) for n in (1, 2, 3)]
    assert [it.label for it in group(rollouts, GroupBy.REPEATS, repeats=4)] == ["always failed", "passed so far"]


def test_without_labels_the_grouping_is_by_reason():
    assert possible_grouping(GroupBy.LABEL, {("a", 0): Annotation(tag="model")}) is GroupBy.REASON
    labeled = {("a", 0): Annotation(label=Label("invented"))}
    assert possible_grouping(GroupBy.LABEL, labeled) is GroupBy.LABEL
    assert possible_grouping(GroupBy.TAG, {}) is GroupBy.TAG


def test_words():
    assert sentence("value_error:string", "unit") == "wrong value: unit"
    assert reason_words("low_coherence,low_embedding_novelty") == "lost coherence, repeated itself"
    assert reason_words("new_type:of_ours") == "new type: of ours"
    assert reason_words("", Outcome.UNDECIDED) == "no grade could be determined"
    assert reason_words("crash:ValueError") == "answer that crashes the official scorer"


ROLLOUTS = st.lists(
    st.builds(
        failure,
        st.uuids().map(str),
        st.sampled_from(["value_error:string", "value_error:others", "server", ""]),
        st.sampled_from(["", "unit", "city"]),
    ),
    max_size=30,
)


@given(ROLLOUTS, st.sampled_from(GroupBy))
def test_every_failure_is_in_exactly_one_lowest_group(rollouts, by):
    groups = group(rollouts, by)
    order = in_order(groups)
    assert sorted(it.slot for it in order) == sorted(it.slot for it in rollouts)
    assert [it.count for it in groups] == sorted((it.count for it in groups), reverse=True)
