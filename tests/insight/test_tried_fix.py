"""A tried change in words: what is lost, and what may be chance among several changes."""

from console.core.case import Key, Setting
from console.core.experiment import SYSTEM, Change, Experiment, Stratum
from console.core.outcome import Outcome
from console.core.run import Manifest, ModelFacts
from console.insight.experiment import CHOSEN, PASSED, TriedFix, sentence_of, tried_fix
from console.insight.rollout import Rollout

CHANCE = "which may be chance among several changes"


def rollout(case: str, number: int, passes: bool) -> Rollout:
    return Rollout(Key(case, number), 0, outcome=Outcome.PASSED if passes else Outcome.FAILED)


def tried(*fixed: int, lost: tuple[int, ...] = (), repeats: int = 1) -> TriedFix:
    """Try changes that each make some of 20 failures pass.

    Args:
        fixed: number of failures that pass with each change.
        lost: number of rollouts that fail now, of each passed case.
        repeats: number of rollouts with each change.
    """
    arms = tuple((Change(SYSTEM, after=f"text {number}"),) for number in range(len(fixed)))
    failures, passed = [f"f{n}" for n in range(20)], [f"p{n}" for n in range(len(lost))]
    strata = (Stratum(CHOSEN, 20, tuple(failures)), Stratum(PASSED, len(passed), tuple(passed)))
    plain = Manifest(id="a", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting())
    manifest = Manifest(
        id="b", at=1.0, suite="s", model=ModelFacts("m"), setting=Setting(), rollouts=len(arms) * repeats,
        experiment=Experiment(arms, strata=strata),
    )  # fmt: skip
    before = [*(rollout(case, 0, False) for case in failures), *(rollout(case, 0, True) for case in passed)]
    now = [
        *(
            rollout(case, number, place < fixed[number % len(arms)])
            for place, case in enumerate(failures)
            for number in range(len(arms) * repeats)
        ),
        *(
            rollout(case, number, number // len(arms) >= lost[place])
            for place, case in enumerate(passed)
            for number in range(len(arms) * repeats)
        ),
    ]
    result = tried_fix(
        manifest, {one.slot: one for one in now}, plain, {one.slot: one for one in before}, len(now), len(before)
    )
    assert result is not None
    return result


def test_a_change_that_is_significant_only_by_itself_may_be_chance_among_several() -> None:
    alone, several, clear = tried(5), tried(5, 0), tried(8, 0)
    assert alone.arms[0].effect == several.arms[0].effect
    assert 0.025 < several.arms[0].effect.p < 0.05
    assert CHANCE not in sentence_of(alone, alone.arms[0])
    assert CHANCE in sentence_of(several, several.arms[0])
    assert CHANCE not in sentence_of(several, several.arms[1]), "it is not significant by itself either"
    assert CHANCE not in sentence_of(clear, clear.arms[0])


def test_a_passed_case_is_lost_if_most_of_its_rollouts_fail() -> None:
    result = tried(5, lost=(0, 1, 2, 2), repeats=2)
    assert "of 4 passed 2 fail:" in sentence_of(result, result.arms[0])
