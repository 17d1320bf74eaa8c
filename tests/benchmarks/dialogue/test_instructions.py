"""Instructions: each kind agrees with IFEval's checkers on 500 recorded texts; shares, loose forms and the report."""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.row_suite import SETTING, judged, suite_in, write_folder

from console.benchmarks.dialogue.rules.instructions import check_instructions, has_detector, parts_of
from console.benchmarks.dialogue.rules.row import Instructions
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.suites.suite import Result

RECORDED = json.loads((Path(__file__).parent / "instruction_verdicts.json").read_text(encoding="utf-8"))
KINDS = {row["kind"]: row for row in RECORDED["kinds"]}
DIFFER = {
    "length_constraints:number_sentences": "their splitter knows other abbreviations and quotation marks",
    "length_constraints:number_paragraphs": "only lines of *** separate theirs, blank lines ours too",
    "length_constraints:nth_paragraph_first_word": "theirs also wants the number of paragraphs",
    "detectable_format:number_bullet_lists": "ours counts •",
    "change_case:english_capital": "theirs also wants English by a detector",
    "change_case:english_lowercase": "theirs also wants English by a detector",
    "language:response_language": "another detector, and random words",
}


def holds(instruction: dict[str, Any], text: str) -> bool | None:
    return check_instructions(msgspec.convert(instruction, Instructions), text).holds


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(DIFFER)))
def test_a_kind_agrees_with_ifeval(kind: str) -> None:
    row, texts = KINDS[kind], RECORDED["texts"]
    followed = f"{int(row['followed'], 16):0{len(texts)}b}"
    assert 0 < followed.count("1") < len(texts)
    wrong = [
        text for text, theirs in zip(texts, followed, strict=True) if holds(row["instruction"], text) != (theirs == "1")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("instruction", "right", "wrong"),
    [
        ({"sentences": 2}, "Mr. Smith came at 5.30. He left!", "He came, e.g. today."),
        ({"sentences": 2}, "he came. he left.", "he came"),
        ({"paragraphs": 2}, "One.\n\nTwo.", "One.\nTwo."),
        ({"paragraph_starts": {"2": "two"}}, "One.\n\n*Two* things.", "Two.\n\nOne."),
        ({"bullets": {"min": 2, "max": 2}}, "- a\n• b", "- a\n- b\n- c"),
        ({"case": "upper"}, "A B 1", "A b"),
        ({"words": {"min": 2}, "loose": True}, "Sure!\nTwo words", "Sure"),
        ({"starts_with": "Two", "loose": True}, "Sure!\nTwo words", "Sure!\nNo"),
        ({"highlights": {"max": 1}}, "*a*", "*a* **b**"),
    ],
)
def test_what_differs_from_ifeval_or_is_loose(instruction: dict[str, Any], right: str, wrong: str) -> None:
    assert (holds(instruction, right), holds(instruction, wrong)) == (True, False)


def test_no_text_takes_long() -> None:
    wanted = msgspec.convert(
        {
            "sentences": 1,
            "paragraphs": 1,
            "bullets": 1,
            "highlights": 1,
            "placeholders": 1,
            "capital_words": 1,
            "title": True,
        },
        Instructions,
    )
    started = time.process_time()
    for text in ("." * 20_000 + "a", "\n" * 20_000 + "a", "[" * 20_000, "*" * 20_000, "<" * 20_000, "A'" * 10_000):
        check_instructions(wanted, text)
    assert time.process_time() - started < 5


def test_a_case_counts_as_a_share_and_all_instructions_have_an_interval(tmp_path: Path) -> None:
    row = {"instructions": {"words": 2, "no_commas": True, "case": "lower", "contains": ["x"]}}
    verdict, comparison = judged(tmp_path, row, "Yes, indeed")
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "not_followed")
    assert verdict.scores["instructions"] == 0.25
    assert [pair.mark.value for pair in comparison.pairs] == ["=", "≠", "≠", "≠"]
    assert set(verdict.scores) == {"instructions", "instructions, loosely"}
    other = verdict.__class__(
        Outcome.PASSED,
        scores={"instructions": 1.0, "instructions, loosely": 1.0},
        detail={"instructions asked": 1},
    )
    results = [Result(str(number), "cases", 1, verdict if number % 2 else other) for number in range(40)]
    metrics = {metric.name: metric for metric in suite_in(tmp_path).report(results, SETTING).metrics}
    assert metrics["instructions"].value == pytest.approx(0.625)
    pooled = metrics["instructions, of all"]
    assert pooled.value == pytest.approx(40 / 100)
    assert pooled.low is not None
    assert pooled.low < 0.4 < pooled.high < 1  # type: ignore[operator]
    assert "instructions asked" not in metrics


@pytest.mark.parametrize(
    ("instructions", "message"),
    [
        ({}, "no instruction"),
        ({"words": {}}, "without bounds"),
        ({"words": {"min": 3, "max": 2}}, "from 3 to 2"),
        ({"wrods": 1}, "words"),
    ],
)
def test_instructions_that_cannot_be_checked_are_refused(tmp_path: Path, instructions: Any, message: str) -> None:
    suite = suite_in(write_folder(tmp_path, [{"prompt": "?", "instructions": instructions}]))
    with pytest.raises(UsageError, match=message):
        suite.cases((), SETTING)


@pytest.mark.skipif(not has_detector(), reason="the language detector is an extra")
def test_a_language_is_detected() -> None:
    german = "Guten Morgen, wie geht es dir heute? Das Wetter ist sehr schön."
    assert holds({"language": "de"}, german)
    assert not holds({"language": "en"}, german)


def test_every_field_is_an_instruction() -> None:
    values = {
        "times": {"a": 1},
        "letters": {"a": 1},
        "sections": {"a": 1},
        "paragraph_starts": {"1": "a"},
        "case": "upper",
    }
    values |= {name: ["a"] for name in ("contains", "without", "one_of")}
    values |= dict.fromkeys(("postscript", "starts_with", "ends_with"), "a") | {"language": "en"}
    values |= dict.fromkeys(("no_commas", "json", "quoted", "title", "two_answers"), True)
    fields = [name for name in Instructions.__struct_fields__ if name != "loose"]
    for name in fields:
        wanted = msgspec.convert({name: values.get(name, 1)}, Instructions)
        assert len(parts_of(wanted)) == 1, name
