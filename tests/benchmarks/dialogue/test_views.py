"""Views of rows: texts of rows, models and judges are shown as plain text, whatever they hold."""

from pathlib import Path

from support.hostile_texts import HOSTILE
from support.row_suite import recorded_rows, suite_in, write_folder
from textual.content import Content

from console.benchmarks.dialogue.view import DialogueView
from console.core.case import Key
from console.core.comparison import Comparison, Mark, Pair
from console.core.outcome import Outcome
from console.core.record import Finished, Noted, Started
from console.insight.case_in_run import CaseInRun
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.store.journal import JournalReader
from console.suites.suite import Metric, Report
from console.tui.render import diff
from console.tui.render.side_by_side import AnsweredCase, side_by_side_lines
from console.tui.screens.review.views import STANDARD_VIEWS
from console.tui.suite_views.suite_view import DrawContext, ReviewedCase

FORBIDDEN = {chr(code) for code in (*range(32), 0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F))} - {"\n"}


async def test_hostile_rows_are_drawn_as_plain_text_in_every_view(tmp_path: Path) -> None:
    text = " ".join(HOSTILE).encode("utf-8", "ignore").decode()  # half a character is no JSON, and refused
    tool = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
    user = {"goal": text, "persona": text, "knows": text, "max_turns": 2}
    says = {"right": [text], "wrong": [text]}
    rows = [
        {"id": "judged", "prompt": text, "judge": {"criteria": [{"name": text, "about": text}]}, "simulated": says},
        {"id": "user", "user": user, "contains": f"{text}!", "simulated": says},
        {"id": "calls", "prompt": text, "tools": [tool], "expect": [{"calls": [{"look": {"at": text}}]}]},
    ]
    folder = write_folder(tmp_path / "rows", rows)
    run = await recorded_rows(tmp_path / "runs", folder, ("judged", "calls"), name="hostile")
    suite, view = suite_in(folder), DialogueView()
    conversations: dict[str, Conversation] = {}
    for record in JournalReader(run.journal_path).read_new():
        if isinstance(record, Started):
            conversations[record.key.case] = Conversation(record.key)
        if key := getattr(record, "key", None):
            conversations[key.case].apply(record)
    drawn = 0
    for conversation in conversations.values():
        case, verdict = conversation.case, conversation.verdict
        assert case is not None
        assert verdict is not None
        comparison = suite.compare(case, conversation.output, verdict, run.manifest().setting)
        rollout = Rollout(conversation.key, 0, outcome=verdict.outcome)
        reviewed = ReviewedCase(rollout, conversation, comparison)
        report = Report((Metric(f"{text}: accuracy", 0.5, count=1),))
        context = DrawContext(90, diff.Style(), view, report=lambda report=report: report)
        for case_view in view.case_views(STANDARD_VIEWS):
            for block in case_view.draw(reviewed, context):
                lines = [block.title.plain, block.aside.plain, *(line.plain for line in block.logical)]
                assert not FORBIDDEN & set("".join(lines)), (case_view.id, block.key)
                drawn += len(lines)
    assert drawn > 100
    assert {Finished, Noted} <= {type(record) for record in JournalReader(run.journal_path).read_new()}


def test_two_runs_of_different_length_are_compared_at_their_ends() -> None:
    def side(turns: int) -> CaseInRun:
        at_end = (("call", "book"), ("check", "one"), ("check", "two"), ("judge", "kind"))
        pairs = [Pair(Mark.SAME, text, text, turn=turns, kind=kind) for kind, text in at_end]
        pairs.insert(0, Pair(Mark.SAME, "first", "first", turn=0, kind="check"))
        comparison = Comparison("", tuple(pairs), turns=(Mark.SAME,) * (turns + 1), has_end=True)
        rollout = Rollout(Key("c"), 0, outcome=Outcome.PASSED)
        return CaseInRun(rollout, Conversation(Key("c")), comparison)

    a, b = side(2), side(4)
    lines = [
        line.plain for line in side_by_side_lines([AnsweredCase(Content("A"), a), AnsweredCase(Content("B"), b)], 100)
    ]
    names = ["turn 1", "at the end", "check 1", "check 2", "grade"]
    assert [line[:10].strip() for line in lines[1:6]] == names
    for line, text in zip(lines[1:6], ["first", "book", "one", "two", "kind"], strict=True):
        assert line.split()[-3:] == [text, "=", "="], line


def test_what_only_one_run_has_moves_no_other_item_of_two_runs() -> None:
    def side(*kinds: str) -> CaseInRun:
        pairs = tuple(Pair(Mark.SAME, f"the {kind}", f"the {kind}", kind=kind) for kind in kinds)
        return CaseInRun(Rollout(Key("c"), 0), Conversation(Key("c")), Comparison("", pairs))

    a, b = side("call", "check"), side("blame", "call", "check", "state")
    answered = [AnsweredCase(Content("A"), a), AnsweredCase(Content("B"), b)]
    lines = [line.plain.split() for line in side_by_side_lines(answered, 100)]
    marks = [(line[0], line[3:]) for line in lines[1:5]]
    assert marks[:2] == [("call", ["=", "="]), ("check", ["=", "="])]
    assert {name for name, _ in marks[2:]} == {"blame", "state"}
