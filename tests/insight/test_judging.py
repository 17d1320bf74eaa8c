"""What is known of a judge: what it left open, whether a second one agrees, and what readers say of it."""

import pytest

from console.core.annotation import Annotation
from console.core.case import Key, Setting
from console.core.outcome import Outcome
from console.core.run import Manifest, ModelFacts
from console.insight.judging import judging_lines, judging_object, judging_of
from console.insight.rollout import Rollout, Track
from console.suites.stage import SECOND_JUDGE, SECOND_PREFIX

ROLES = {"judge": ModelFacts("strict"), "second_judge": ModelFacts("mild")}


def manifest(roles):
    return Manifest("run", 1.0, "loops", ModelFacts("m"), Setting(), roles=roles)


def loop(name, outcome, first=(), second=()):
    tracks = {"coherence": Track(list(first), 15.0), f"{SECOND_PREFIX}coherence": Track(list(second), 15.0)}
    return Rollout(Key(name), 0, outcome=outcome, tracks=tracks)


ROLLOUTS = [
    loop("a", Outcome.PASSED, (80.0, 90.0, 10.0), (70.0, 10.0, 12.0)),
    loop("b", Outcome.FAILED, (10.0, 90.0), (11.0, 60.0)),
    loop("c", Outcome.UNDECIDED, (None,), (50.0,)),
    loop("d", Outcome.BROKEN),
    loop("e", None),
]


def test_a_run_without_a_judge_has_nothing_of_the_kind():
    assert judging_of(manifest({}), ROLLOUTS, {}) is None
    assert judging_object(None) is None


def test_two_judges_are_compared_judgement_by_judgement():
    judging = judging_of(manifest(ROLES), ROLLOUTS, {})
    assert (judging.agreement.pairs, judging.agreement.agreed) == (6, pytest.approx(4 / 6))
    assert judging.agreement.low < judging.agreement.kappa < judging.agreement.high
    assert (judging.undecided_count, judging.undecided.value) == (1, pytest.approx(1 / 3))
    assert "strict and mild: agree in .667 of 6 judgments, κ" in "\n".join(judging_lines(judging))
    assert judging.bias is None


def test_readers_say_whether_it_is_too_strict():
    said = {
        ("a", 0): Annotation(tag="grader"),
        ("b", 0): Annotation(dispute="the answer was fine"),
        ("c", 0): Annotation(tag="grader"),
        ("d", 0): Annotation(tag="model"),
    }
    judging = judging_of(manifest({"judge": ModelFacts("strict")}), ROLLOUTS, said)
    assert (judging.too_strict, judging.too_lenient, judging.readers.pairs) == (1, 1, 2)
    assert judging.bias == 0
    assert judging.agreement is None
    assert "too strict in 1, too lenient in 1" in judging_lines(judging)[-1]
    values = judging_object(judging)
    assert values["readers"]["agreed"] == 0
    assert values["undecided"]["cases"] == 3


def test_what_neither_judged_is_no_agreement():
    nothing = [loop("f", Outcome.UNDECIDED, (None, None), (None, None))]
    roles = manifest({"judge": ModelFacts("a"), SECOND_JUDGE: ModelFacts("b")})
    assert judging_of(roles, nothing, {}).agreement is None
    both = judging_of(roles, [*ROLLOUTS, *nothing], {}).agreement
    assert both == judging_of(roles, ROLLOUTS, {}).agreement
