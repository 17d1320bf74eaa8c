"""Where good models agree against a key, or weak ones pass what good ones fail, the key is suspect."""

import random
import statistics

import pytest

from console.insight.suspects import GivenAnswer, suspects, three_scores

RIGHT, WRONG = GivenAnswer(True, "right"), GivenAnswer(False, "wrong")


@pytest.mark.parametrize(("models", "recall"), [(3, 0.67), (5, 0.8), (8, 0.82), (15, 0.85)])
def test_twice_as_many_as_are_wrong_hold_most_of_the_wrong_keys(models: int, recall: float) -> None:
    """Of 800 cases one key in twenty is wrong; means of ten draws reach those of the simulation behind the method."""
    assert statistics.fmean(recall_of(models, random.Random(seed)) for seed in range(10)) >= recall


def recall_of(models: int, rng: random.Random, cases: int = 800, share: float = 0.05) -> float:
    """Simulate models of differing skill; return the share of wrong keys in the top of twice as many."""
    skills = [0.5 + 0.45 * number / (models - 1) for number in range(models)]
    planted = {f"c{number}" for number in range(cases) if rng.random() < share}
    answers: dict[str, dict[str, GivenAnswer]] = {}
    for number in range(cases):
        case, hard = f"c{number}", rng.uniform(-0.3, 0.3)
        given: dict[str, GivenAnswer] = {}
        for model, skill in enumerate(skills):
            knows = rng.random() < min(0.98, max(0.02, skill - hard))
            answer = "truth" if knows else f"mistake {min(int(rng.expovariate(0.7)), 5)}"
            key = "planted" if case in planted else "truth"
            given[f"m{model}"] = GivenAnswer(answer == key, answer)
        answers[case] = given
    top = [each.case for each in suspects(answers)[: 2 * len(planted)]]
    return len(planted & set(top)) / len(planted)


def test_agreement_counts_by_the_score_on_other_cases() -> None:
    easy = {f"e{number}": {"good": RIGHT, "fine": RIGHT, "weak": WRONG} for number in range(8)}
    told = {"good": GivenAnswer(False, "x"), "fine": GivenAnswer(False, "x"), "weak": RIGHT}
    (first, *_) = suspects({**easy, "odd": told})
    assert (first.case, first.same, first.models, first.answer) == ("odd", 2, 3, "x")
    assert first.against == 1.0
    assert first.odd == 0.0  # too few models for a correlation
    five = {f"e{number}": dict.fromkeys("abcd", RIGHT) | {"w": WRONG} for number in range(8)}
    against = dict(zip("abcd", (GivenAnswer(False, each) for each in "1234"), strict=True)) | {"w": RIGHT}
    (only,) = suspects({**five, "odd": against})
    assert (only.case, only.same) == ("odd", 0)
    assert only.odd == pytest.approx(-1.0)


def test_a_mistake_of_one_model_speaks_against_no_key_however_good_it_is() -> None:
    easy = {f"e{number}": {"good": RIGHT, "weak": WRONG} for number in range(8)}
    listed = {each.case: each for each in suspects({**easy, "alone": {"good": WRONG, "weak": RIGHT}})}
    assert "alone" not in listed or (listed["alone"].same, listed["alone"].against) == (0, 0.0)


def test_a_model_is_weighed_by_its_other_cases_alone() -> None:
    """The score of who passed only this case is none elsewhere: its mistake shared with a good one adds nothing."""
    given = {"good": WRONG, "once": WRONG, "right": RIGHT}
    others = {f"e{number}": {"good": RIGHT, "once": WRONG, "right": RIGHT} for number in range(4)}
    [first] = [each for each in suspects({"odd": given, **others}) if each.case == "odd"]
    assert first.against == pytest.approx(0.5)


def test_three_scores_stand_apart() -> None:
    given = {"a": RIGHT, "b": GivenAnswer(False, "seats=2"), "c": WRONG, "d": RIGHT}
    scores = three_scores(given, {"b": "seats=2"}, frozenset({"c"}))
    assert (scores.official, scores.without_contested, scores.corrected) == (0.5, 1.0, 1.0)
    assert three_scores(given, {"b": ""}, frozenset()).corrected is None
