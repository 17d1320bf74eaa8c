"""Compare: what changed? Two runs case by case, what was lost first, with expected, A and B beside each other.

Reads both runs in a thread when it opens and when asked to; the cursor stays on its case whatever is listed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError
from console.exchange.comparison_table import change_words, comparison_csv, comparison_markdown, comparison_object
from console.insight.comparison import RolloutPair
from console.store.runs import RunFolder, slug
from console.tui.actions import Action
from console.tui.keymap import bindings_for
from console.tui.render.conversation import passage_block
from console.tui.sanitize import literal, one_line
from console.tui.screens.compare import summary
from console.tui.screens.compare.change_list import COLUMNS, SCOPES, Changes
from console.tui.screens.compare.number_tables import number_blocks
from console.tui.screens.compare.pairing import PairScreen
from console.tui.screens.compare.run_pair import Half, PairOfRuns
from console.tui.screens.compare.side_by_side import beside_lines
from console.tui.services import Services
from console.tui.widgets.block import Block
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList
from console.tui.widgets.rule import Rule
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"
TABLE_LINES = 7
LIST_WIDTH = 60
"""Cells of the list where it stands beside the case."""
VIEWS = ("Beside", "Talk A", "Talk B", "Numbers")


class CompareScreen(PairScreen):
    """Two runs; see the module."""

    where: ClassVar[str] = "compare"
    heading: ClassVar[str] = "Compare"
    AUTO_FOCUS: ClassVar[str | None] = "#changes"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("compare")
    DEFAULT_CSS = """
    CompareScreen {
        #numbers { height: 5; } #numbers.-failed { height: 1fr; }
        #pairs { height: 1fr; layout: vertical; }
        #list-side { height: 7fr; } #case-side { height: 8fr; }
        #changes, #beside { height: 1fr; } #lost, #talks { display: none; }
        RowList, Transcript { scrollbar-gutter: stable; }
        &.-wide {
            PaneTitle { display: none; }
            #numbers { height: 10; border: round $line; padding: 0 1; border-title-color: $foreground; }
            #pairs { layout: horizontal; }
            #list-side { width: 60; height: 1fr; } #case-side { width: 1fr; height: 1fr; }
            &.-tall #lost { display: block; height: auto; max-height: 9; padding: 0 2; }
            &.-tall #talks { display: block; height: 1fr; }
            #talks Transcript { width: 1fr; height: 1fr; }
        }
    }
    """

    def __init__(self, services: Services, a: RunFolder, b: RunFolder, case: str = "") -> None:
        """Compare two runs, with the cursor on a case if one is named; nothing is read before the screen is mounted."""
        super().__init__(services, a, b)
        self.changes = Changes()
        self.view = VIEWS[0]
        self._wanted_case = case

    # Layout ----------------------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """Lay out the numbers, the list and the case."""
        yield Static(id="numbers")
        yield Rule()
        with Container(id="pairs"):
            with Vertical(id="list-side"):
                yield RowList(COLUMNS, id="changes", classes="pane", names=True, empty=Content("reading both runs …"))
                yield Static(id="lost")
            with Vertical(id="case-side"):
                yield PaneTitle("", id="case-caption")
                yield Transcript(id="beside", classes="pane")
                with Horizontal(id="talks"):
                    yield Transcript(id="talk-a", classes="pane")
                    yield Transcript(id="talk-b", classes="pane")

    def on_mount(self) -> None:
        """Say what is compared, and begin to read."""
        self.top_line.tell(title=one_line(" and ".join(folder.name for folder in self._folders), 60))
        self.read()

    def on_resize(self, event: events.Resize) -> None:
        """Lay everything out again for the new size."""
        self.call_after_refresh(self._draw_all)

    def refuse(self, why: str) -> None:
        """Say why they cannot be shown."""
        self.query_one("#changes", RowList).show([], empty=literal(why, 400, "$broken"))

    def take(self, pair: PairOfRuns) -> None:
        """Show both runs as they are now; the cursor stays on its case."""
        if not pair.comparison.changes() and self.changes.scope == "changed":
            self.changes.scope = "all"
        self._draw_all()
        if self._wanted_case:
            at = next((key for key, it in self.changes.pairs.items() if it.slot[0] == self._wanted_case), "")
            self._wanted_case = ""
            if at:
                self.rows.move_to(at)

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> RowList:
        """The list of pairs."""
        return self.query_one("#changes", RowList)

    @property
    def current(self) -> RolloutPair | None:
        """The pair under the cursor."""
        return self.changes.pairs.get(self.rows.cursor or "")

    def _draw_all(self) -> None:
        if self.pair is None or not self.is_mounted:
            return
        found, wide = self.pair.comparison, self.has_class("-wide")
        checks = summary.checks(found, wide=wide, live=self.pair.live)
        self.top_line.tell(title=summary.title(found, wide=wide), status=checks)
        numbers, lost = self.query_one("#numbers", Static), self.query_one("#lost", Static)
        width = max((numbers.content_size.width or self.size.width) - 1, 40)
        if wide:
            rule = Content.assemble(" A ", one_line(f"{found.a.model} {found.a.name}", 58), "   against   B ",
                                    one_line(f"{found.b.model} {found.b.name}", 58), " ")  # fmt: skip
            numbers.border_title, numbers.border_subtitle = rule, Content.styled("b swap   p other run", MUTED)
            text = [summary.difference(found), *summary.table_lines(found, width, TABLE_LINES - 1)]
        else:
            text = [*summary.head_lines(found, width), *summary.square_lines(found)]
        numbers.update(Content("\n").join(text))
        lost.update(Content("\n").join(summary.reason_lines(found, 56, 7)))
        self._relist()

    def _relist(self) -> None:
        assert self.pair is not None
        self.changes.take(self.pair.comparison)
        rows = self.rows
        rows.border_title = Content.assemble(
            ("Changed" if self.changes.scope == "changed" else self.changes.scope.capitalize()),
            (f"  {len(self.changes.pairs)}", MUTED),
        )
        rows.border_subtitle = Content.styled("f filter", MUTED)
        words = "Nothing matches. F clears the filter." if self.changes.words else (
            f"No case is {self.changes.scope}. f chooses others."
        )  # fmt: skip
        if not self.pair.comparison.pairs:
            words = "The two runs have no case in common. p picks another run."
        rows.show(list(self.changes.pairs), draw=self.changes.draw, empty=Content(words))
        self._show_case()

    def _show_case(self) -> None:
        pairing, beside = self.current, self.query_one("#beside", Transcript)
        caption = self.query_one("#case-caption", PaneTitle)
        if self.pair is None or pairing is None:
            beside.show([])
            caption.tell(Content.empty())
            return
        try:
            both = self.pair.both(pairing)
        except UsageError as error:
            beside.show([Block("gone", literal(str(error), 600, "$broken"))])
            return
        width = self._room
        name = one_line(str(pairing.a.key), 50, "bold")
        place = list(self.changes.pairs).index(self.rows.cursor or "") + 1
        scope = Content.styled(f"{place} of {len(self.changes.pairs)} {self.changes.scope}", MUTED)
        caption.tell(name.append_text(f"  {self.view}" if self.view != VIEWS[0] else "", MUTED), scope)
        beside.border_title, beside.border_subtitle = name, Content.styled(self.view, MUTED)
        if self.view == VIEWS[0]:
            blocks = [Block("beside", body=tuple(beside_lines(both, width)), indent=0)]
            if self.pair.why:
                blocks.append(Block("why", one_line(self.pair.why, 400, "$undecided")))
        elif self.view == VIEWS[3]:
            blocks = number_blocks(self.pair.comparison, self._disputed(), width)
        else:
            blocks = _talk(both.a if self.view == VIEWS[1] else both.b)
        beside.show(blocks)
        if self.has_class("-wide") and self.has_class("-tall"):
            for id, half, letter in (("#talk-a", both.a, "A"), ("#talk-b", both.b, "B")):
                talk = self.query_one(id, Transcript)
                talk.border_title = Content.assemble(f"{letter} ", one_line(self._model(letter), 40))
                talk.show(_talk(half))

    def _disputed(self) -> list[int]:
        assert self.pair is not None
        return [sum(bool(it.dispute) for it in annotations.values()) for annotations in self.pair.annotations]

    @property
    def _room(self) -> int:
        """Cells of a line of the case: computed, because the pane may not have been laid out at this size yet."""
        return max(self.size.width - LIST_WIDTH - 5 if self.has_class("-wide") else self.size.width - 2, 40)

    def _model(self, letter: str) -> str:
        assert self.pair is not None
        found = self.pair.comparison
        return (found.a if letter == "A" else found.b).model

    # Moving ----------------------------------------------------------------------------------------------------------

    @on(RowList.RowHighlighted, "#changes")
    def _highlighted(self, event: RowList.RowHighlighted) -> None:
        if event.key == self.rows.cursor:
            self._show_case()

    @on(RowList.RowChosen, "#changes")
    def _chosen(self, event: RowList.RowChosen) -> None:
        self._open("b")

    def _open(self, side: str) -> None:
        pairing = self.current
        if self.pair is not None and pairing is not None:
            folder = self.pair.folders[0 if side == "a" else 1]
            self.services.navigator.open_review(folder, pairing.slot[0])

    def action_open_a(self) -> None:
        """Open the case of A in Review."""
        self._open("a")

    def action_fail_next(self) -> None:
        """Go to the next pair."""
        self._step(1)

    def action_fail_prev(self) -> None:
        """Go to the previous pair."""
        self._step(-1)

    def _step(self, by: int) -> None:
        key = self.changes.step(self.rows.cursor, by)
        if key is None:
            self.services.notify(Content("That was the last one." if by > 0 else "This is the first one."))
        else:
            self.rows.move_to(key)

    def action_view_next(self) -> None:
        """Show the next view of the case."""
        self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self._show_case()

    def action_view_numbers(self) -> None:
        """Show every category and error type, or the case again."""
        self.view = VIEWS[0] if self.view == VIEWS[3] else VIEWS[3]
        self._show_case()

    # What is listed --------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        """List only pairs with these words."""
        self.changes.words = text
        if self.pair is not None:
            self._relist()

    def _list(self, scope: str) -> None:
        assert scope in SCOPES
        self.changes.scope = scope
        if self.pair is not None:
            self._relist()

    def action_filter_changed(self) -> None:
        """List what was lost and gained."""
        self._list("changed")

    def action_filter_lost(self) -> None:
        """List what was lost."""
        self._list("lost")

    def action_filter_gained(self) -> None:
        """List what was gained."""
        self._list("gained")

    def action_filter_neither(self) -> None:
        """List what both fail."""
        self._list("both fail")

    def action_filter_left(self) -> None:
        """List what is left out of the numbers."""
        self._list("left out")

    def action_filter_all(self) -> None:
        """List every pair."""
        self._list("all")

    def action_filter_clear(self) -> None:
        """List all changes again."""
        self.changes.scope = "changed"
        self.find_session.clear()

    # Acting ----------------------------------------------------------------------------------------------------------

    def why_not(self, action: Action) -> str:
        """Say why an action cannot act now."""
        if self.pair is None and action.where == "compare" and action.id not in ("compare.pick", "reload"):
            return "the runs are being read"
        return ""

    def key_words(self) -> Mapping[str, str]:
        """Name enter by where it leads."""
        return {"open": "open B in Review"}

    def _path(self, extension: str) -> Path:
        a, b = (slug(folder.name, 60) for folder in self._folders)
        return Path(f"compare-{a}-{b}{extension}")

    def action_export_markdown(self) -> None:
        """Write the comparison as Markdown."""
        if self.pair is not None:
            self.services.export_text(comparison_markdown(self.pair.comparison), self._path(".md"))

    def action_export_csv(self) -> None:
        """Write every pair as a CSV row."""
        if self.pair is not None:
            self.services.export_text(comparison_csv(self.pair.comparison), self._path(".csv"))

    def action_export_json(self) -> None:
        """Write the comparison as JSON."""
        if self.pair is not None:
            text = json.dumps(comparison_object(self.pair.comparison), indent=1)
            self.services.export_text(text, self._path(".json"))

    def action_copy_id(self) -> None:
        """Copy the case id."""
        if (pairing := self.current) is not None:
            self.services.copy(pairing.slot[0], "the case id")

    def action_copy_table(self) -> None:
        """Copy the comparison as Markdown."""
        if self.pair is not None:
            self.services.copy(comparison_markdown(self.pair.comparison), "the comparison as Markdown")

    def action_copy_message(self) -> None:
        """Copy how the case changed and why."""
        if (pairing := self.current) is not None:
            self.services.copy(": ".join((str(pairing.a.key), *change_words(pairing))), "the change")

    def action_copy_command(self) -> None:
        """Copy the shell command that compares the same runs."""
        import shlex

        words = ["eval-console", "compare", *(folder.name for folder in self._folders)]
        self.services.copy(shlex.join(words), "the command")


def _talk(half: Half) -> list[Block]:
    return [passage_block(passage, f"talk {place}") for place, passage in enumerate(half.conversation.passages)]
