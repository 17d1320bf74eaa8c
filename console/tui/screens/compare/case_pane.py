"""`CasePane`: the current case in both runs: side by side, what each side said, or the numbers of all cases."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from console.insight.case_in_both import CaseInBoth, CaseInRun
from console.tui.render.conversation import passage_block
from console.tui.render.side_by_side import side_by_side_lines
from console.tui.sanitize import literal, one_line
from console.tui.widgets.block import Block
from console.tui.widgets.titles import PaneTitle
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"


class CasePane(Vertical):
    """A title, one transcript, and where there is room the conversations of both sides below it."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(id="case-side")
        self._caption = PaneTitle("", id="case-caption")
        self._case = Transcript(id="case", classes="pane")
        self._conversations = (
            Transcript(id="conversation-a", classes="pane"),
            Transcript(id="conversation-b", classes="pane"),
        )

    def compose(self) -> ComposeResult:
        """Lay out title, case and conversations."""
        yield self._caption
        yield self._case
        with Horizontal(id="conversations"):
            yield from self._conversations

    def clear(self) -> None:
        """Show no case."""
        self._case.show([])
        self._caption.tell(Content.empty())

    def show_fault(self, why: str) -> None:
        """Say why the case cannot be shown. Foreign text."""
        self._case.show([Block("fault", literal(why, 600, "$broken"))])

    def show_title(self, key: str, position: Content, view: str, *, is_first_view: bool) -> None:
        """Name the case, where it is in the list, and how it is shown."""
        name = one_line(key, 50, "bold")
        self._caption.tell(name if is_first_view else name.append_text(f"  {view}", MUTED), position)
        self._case.border_title, self._case.border_subtitle = name, Content.styled(view, MUTED)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Show a view of the case."""
        self._case.show(blocks)

    def show_conversations(self, case: CaseInBoth, models: tuple[str, str]) -> None:
        """Show what both sides said, where there is room for it."""
        sides = zip(self._conversations, (case.a, case.b), "AB", models, strict=True)
        for transcript, side, letter, model in sides:
            transcript.border_title = Content.assemble(f"{letter} ", one_line(model, 40))
            transcript.show(conversation_blocks(side))


def comparison_blocks(case: CaseInBoth, why_no_suite: str, width: int) -> list[Block]:
    """Return expected, A and B side by side, and why something of it is not known."""
    blocks = [Block("side-by-side", body=tuple(side_by_side_lines(case, width)), indent=0)]
    for letter, fault in (("A", case.a.fault), ("B", case.b.fault)):
        if fault:
            blocks.append(Block(f"fault-{letter}", one_line(f"{letter}: {fault}", 400, "$undecided")))
    if why_no_suite:
        blocks.append(Block("why", one_line(why_no_suite, 400, "$undecided")))
    return blocks


def conversation_blocks(side: CaseInRun) -> list[Block]:
    """Return what one side said."""
    return [passage_block(passage, f"passage {index}") for index, passage in enumerate(side.conversation.passages)]
