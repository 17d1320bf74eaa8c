"""Loops read from their records: answers as they come, what they collide with, and how long they can go on."""

from console.benchmarks.aidanbench.view.loops import Measure, Round, answer_so_far, collision, rounds_left
from console.insight.word_diff import WORD_LIMIT, compare_words


def test_an_answer_shows_nothing_of_its_tags_while_it_is_written() -> None:
    whole = "Well: <answer>Two bricks <b></answer> done"
    shown = [Round(0, reply=whole[:end]).answer for end in range(len(whole) + 1)]
    assert not any("<ans" in text or "</a" in text for text in shown)
    assert shown[-1] == "Two bricks <b>"
    assert Round(0, reply=whole).outside_answer == "Well:\ndone"
    assert Round(0, reply="no tag at all").answer == "no tag at all"


def test_an_answer_so_far_holds_no_half_of_a_tag() -> None:
    assert [answer_so_far(text) for text in ("<answ", "so <answer>one</ans", "<answer>one</answer> and", "plain")] == [
        "", "one", "one", "plain",
    ]  # fmt: skip


def test_what_the_suite_took_counts_once_it_is_known() -> None:
    assert Round(0, reply="<answer>a</answer>", final="b").answer == "b"


def test_a_loop_collides_only_when_its_likeness_ended_it() -> None:
    first = Round(0, final="one", is_decided=True, accepted=True)
    last = Round(1, final="One", is_decided=True, accepted=False, nearest=0)
    last.measures = {"novelty": Measure(0.1, 0.15)}
    assert collision([first, last]) == (first, last)
    last.measures = {"novelty": Measure(0.9, 0.15), "coherence": Measure(3, 15)}
    assert collision([first, last]) is None
    assert collision([first, last], earlier="one") == (first, last)
    assert collision([first, last], earlier="unknown") is None
    assert collision([]) is None


def test_rounds_left_only_for_what_falls_and_is_known() -> None:
    left = rounds_left([0.9, 0.75, 0.6, 0.45, 0.3], 0.15)
    assert left is not None
    assert abs(left - 1.0) < 1e-9
    assert rounds_left([0.3, 0.4, 0.5, 0.6, 0.7], 0.15) is None
    assert rounds_left([0.9, 0.3], 0.15) is None
    assert rounds_left([90, 80, None, 70, 60, 50], 15) == 3.5


def test_words_are_compared_without_case_and_points() -> None:
    found = compare_words("A stop that sings.", "a stop,  which sings")
    assert (found.same, found.words) == (3, 4)
    assert [part.text.strip() for part in found.left if part.differs] == ["that"]
    assert "".join(part.text for part in found.right) == "a stop,  which sings"


def test_long_texts_are_compared_by_their_beginning_and_kept_whole() -> None:
    text = "word " * (WORD_LIMIT + 50)
    found = compare_words(text, text + "more")
    assert (found.same, found.words) == (WORD_LIMIT, WORD_LIMIT)
    assert "".join(part.text for part in found.right) == text + "more"


def test_empty_texts_have_nothing_in_common() -> None:
    assert compare_words("", "one").same == 0
    assert compare_words("", "").words == 0
