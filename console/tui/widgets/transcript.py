"""`Transcript`: a searchable view of a conversation of any length that can follow a stream.

It shows blocks (`console.tui.render.block`). While following, new text scrolls into view; scrolling up freezes it, and
a badge counts the lines since; `G` or End resumes. Only visible lines are drawn, and only changed ones redrawn.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Literal

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from console.tui.keymap import bindings_for
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.textual_patches import style_getter
from console.tui.themes import is_ansi
from console.tui.widgets.viewport import Viewport

Hit = tuple[int, int, int, int]
"""Index of block and logical line, start and end offset in the line."""


_HITS = "bold $hit on $hit-text", "$hit-text on $hit"
"""Styles of the current hit and of others.

Not component classes, because Textual drops the backgrounds of those within a line.
"""
_ANSI_HITS = ".text--hit-now", ".text--hit"


class Hits:
    """Case-insensitive search hits, with the current one."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        """Hits in text order."""
        self.current = 0

    def search(self, blocks: Sequence[Block], text: str) -> int:
        """Find all hits and return their number; an empty string clears them."""
        self.hits, self.current = [], 0
        if text:
            pattern = re.compile(re.escape(text), re.IGNORECASE)
            self.hits = [
                (place, number, match.start(), match.end())
                for place, block in enumerate(blocks)
                for number, line in enumerate(block.logical)
                for match in pattern.finditer(line.plain)
            ]
        return len(self.hits)

    def step(self, step: int) -> tuple[int, int]:
        """Move by a number of hits, wrapping around; return the current number, from 1, and the total."""
        if not self.hits:
            return 0, 0
        self.current = (self.current + step) % len(self.hits)
        return self.current + 1, len(self.hits)

    def painted(
        self, line: Content, place: int, part: tuple[int, int, int], indent: int, styles: tuple[str, str] = _HITS
    ) -> Content:
        """Return a wrapped line with its hits highlighted.

        Args:
            line: the wrapped line, including indent.
            place: index of its block.
            part: index of its logical line, start and end offset in it.
            indent: cells before the text.
            styles: of the current hit, and of the others.
        """
        number, start, end = part
        nearest = bisect_left(self.hits, (place, number, start, 0))
        for index in range(max(nearest - 1, 0), len(self.hits)):  # the previous hit may overlap
            block, logical, first, last = self.hits[index]
            if (block, logical, first) >= (place, number, end):
                break
            if (block, logical) == (place, number) and last > start:
                style = styles[index != self.current]
                line = line.stylize(style, max(first, start) - start + indent, min(last, end) - start + indent)
        return line


class Transcript(Viewport):
    """A virtual text of blocks, with wrapping, folding, search and following."""

    ALLOW_SELECT = True
    where: ClassVar[str] = "text"
    """Name of the transcript in the action table."""
    BINDINGS: ClassVar = bindings_for(where)
    COMPONENT_CLASSES: ClassVar[set[str]] = {"text--hit", "text--hit-now", "text--badge", "text--empty"}
    DEFAULT_CSS = """
    Transcript {
        & > .text--badge { background: $cursor; color: $cursor-text; text-style: bold; }
        & > .text--empty { color: $muted; }
        &:ansi > .text--hit { background: ansi_default; color: ansi_default; text-style: underline; }
        &:ansi > .text--hit-now { background: ansi_default; color: ansi_default; text-style: bold; }
        &:ansi > .text--badge { background: ansi_default; color: ansi_default; text-style: bold; }
    }
    """

    @dataclass
    class FollowChanged(Message):
        """Following started or stopped."""

        transcript: "Transcript"
        following: bool

        @property
        def control(self) -> "Transcript":
            """The transcript, for `@on` selectors."""
            return self.transcript

    @dataclass
    class WidthChanged(Message):
        """Message: the width of the text has changed."""

        transcript: "Transcript"

        @property
        def control(self) -> "Transcript":
            """The transcript, for `@on` selectors."""
            return self.transcript

    _width_before = 0

    def __init__(
        self, *, empty: Content | None = None, follow: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """Create a transcript that shows `empty` if it has no blocks; `follow` keeps its end in view."""
        super().__init__(id=id, classes=classes)
        self.follow = follow
        """True if the end is kept in view; scrolling changes it only if following was ever enabled."""
        self._live = follow
        self._empty = empty or Content.empty()
        self._blocks: list[Block] = []
        self._place: dict[str, int] = {}
        self._tops: list[int] = [0]
        """First line of every block, then the total number of lines."""
        self._unseen_from = 0
        self._hits = Hits()
        self._moving = False
        self._is_at_hit = False
        self._anchor = ""
        """Key of the block that was scrolled to last, kept at the top in other sizes; empty after other moves."""
        self.fold_key: Literal["", "first", "all"] = ""
        """Folded blocks that the screen's fold key opens, whose titles name it: none, `fold_target`, or all."""

    # What is shown ---------------------------------------------------------------------------------------------------

    @property
    def blocks(self) -> Sequence[Block]:
        return self._blocks

    def show(self, blocks: Sequence[Block], *, follow: bool | None = None, keep_place: bool = False) -> None:
        """Replace all blocks.

        Args:
            blocks: the new content, with unique keys.
            follow: whether to follow; None to keep the setting.
            keep_place: keep the scroll position instead of going to the top; has no effect while following.
        """
        self._blocks = list(blocks)
        self._place = {block.key: place for place, block in enumerate(self._blocks)}
        if follow is not None:
            self.follow = self._live = follow
        self._hits.search((), "")
        self._measure()
        self._unseen_from = self._tops[-1]
        if self.follow:
            self._scroll(self._tops[-1])
        elif not keep_place:
            self._scroll(0)
        self.refresh()

    def add(self, block: Block) -> None:
        self._place[block.key] = len(self._blocks)
        self._blocks.append(block)
        top = self._tops[-1]
        self._tops.append(top + block.height_at(self.room))
        self._grown(top)

    def append(self, key: str, text: str) -> None:
        place = self._place[key]
        first = self._blocks[place].append(text)
        self._restack(place)
        self._grown(self._tops[place] + first, last_only=place == len(self._blocks) - 1)

    def replace(self, block: Block) -> None:
        """Replace the block with the same key, or add the block at the end."""
        place = self._place.get(block.key)
        if place is None:
            self.add(block)
            return
        self._blocks[place] = block
        self._restack(place)
        self._grown(self._tops[place], last_only=False)

    def toggle_fold(self, key: str) -> None:
        place = self._place[key]
        block = self._blocks[place]
        block.folded = not block.folded
        self._restack(place)
        self._grown(self._tops[place], last_only=False)

    def block_at_top(self) -> Block | None:
        """Return the block of the first visible line."""
        if not self._blocks:
            return None
        return self._blocks[min(bisect_right(self._tops, self.scroll_offset.y) - 1, len(self._blocks) - 1)]

    def fold_target(self) -> Block | None:
        """Return the first folded block in view, else the first that can be folded, if any."""
        first, bottom = self.scroll_offset.y, self.scroll_offset.y + self.page
        begun = self._blocks[bisect_left(self._tops, first) : bisect_left(self._tops, bottom)]
        at_top = self.block_at_top()
        candidates = [at_top, *begun] if at_top is not None else begun
        folded = next((block for block in begun if block.folded), None)
        return folded or next((block for block in candidates if block.can_fold), None)

    def action_thread(self) -> None:
        """Open the first folded thread in view, or fold all that are open if none is folded there."""
        threads = [block for block in self._blocks if block.opened_by == "enter"]
        first, bottom = self.scroll_offset.y, self.scroll_offset.y + self.page
        in_view = [block for block in threads if first <= self._tops[self._place[block.key]] < bottom]
        closed = next((block for block in in_view if block.folded), None)
        for block in [closed] if closed else [block for block in threads if not block.folded]:
            self.toggle_fold(block.key)

    def on_click(self, event: events.Click) -> None:
        """Open the folded block whose title was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or not self._blocks:
            return
        y = offset.y + self.scroll_offset.y
        place = bisect_right(self._tops, y) - 1
        if place < len(self._blocks) and self._tops[place] == y and self._blocks[place].folded:
            self.toggle_fold(self._blocks[place].key)

    def scroll_to_block(self, key: str) -> None:
        self._freeze()
        self._scroll(self._tops[self._place[key]])
        self._anchor = key

    def set_follow(self, follow: bool) -> None:
        self._live = True
        if follow and not self.follow:
            self._resume()
        elif not follow:
            self._freeze()

    @property
    def unseen(self) -> int:
        """Number of lines added since following stopped."""
        return 0 if self.follow else max(self._tops[-1] - self._unseen_from, 0)

    # Finding ---------------------------------------------------------------------------------------------------------

    def find(self, text: str) -> int:
        """Highlight all case-insensitive hits, go to the next one from here, and return their number."""
        count = self._hits.search(self._blocks, text)
        if count:
            top = self.scroll_offset.y
            hits = self._hits.hits
            self._hits.current = next(
                (i for i, hit in enumerate(hits) if _line_of(hit, self._tops, self._blocks) >= top), 0
            )
            self._show_hit()
        self.redraw()
        return count

    def find_step(self, step: int) -> tuple[int, int]:
        """Go to the next or previous hit; return its number, from 1, and the total."""
        number, count = self._hits.step(step)
        if count:
            self.redraw()
            self._show_hit()
        return number, count

    def _show_hit(self) -> None:
        hit = self._hits.hits[self._hits.current]
        block = self._blocks[hit[0]]
        if block.folded:
            self.toggle_fold(block.key)
        self._freeze()
        y = _line_of(hit, self._tops, self._blocks)
        if not self.scroll_offset.y <= y < self.scroll_offset.y + self.page:
            self._scroll(max(y - self.page // 3, 0))
        self._is_at_hit = True

    # Scrolling -------------------------------------------------------------------------------------------------------

    def move_by(self, step: int) -> None:
        self._scroll(self.scroll_offset.y + step, by_user=True)

    def move_to_first(self) -> None:
        self._scroll(0, by_user=True)

    def move_to_last(self) -> None:
        """Go to the last line, and resume following if enabled."""
        self._scroll(self._tops[-1], by_user=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Freeze when the user scrolls up, and resume at the end."""
        super().watch_scroll_y(old_value, new_value)
        self._is_at_hit &= self._moving
        if not self._moving and new_value < self.max_scroll_y:
            self._anchor = ""
        if not self._moving and self._live and round(old_value) != round(new_value):
            if new_value >= self.max_scroll_y:
                self._resume()
            elif new_value < old_value:
                self._freeze()

    def _scroll(self, y: int, *, by_user: bool = False) -> None:
        self._moving, self._anchor = not by_user, ""
        self.go_to(y)
        self._moving = False

    def _freeze(self) -> None:
        if self.follow:
            self.follow = False
            self._unseen_from = self._tops[-1]
            self._refresh_badge()
            self.post_message(self.FollowChanged(self, False))

    def _resume(self) -> None:
        if not self.follow:
            self.follow = True
            self._scroll(self._tops[-1])
            self._refresh_badge()
            self.post_message(self.FollowChanged(self, True))

    # Measuring -------------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        room = self.room
        self._tops = list(accumulate((block.height_at(room) for block in self._blocks), initial=0))
        self._strips.clear()
        self.set_length(self._tops[-1])

    def _restack(self, place: int) -> None:
        """Remeasure one block and shift those below it."""
        height = self._blocks[place].height_at(self.room)
        shift = height - (self._tops[place + 1] - self._tops[place])
        if shift:
            for below in range(place + 1, len(self._tops)):
                self._tops[below] += shift

    def _grown(self, first: int, *, last_only: bool = True) -> None:
        """Update the length, position and drawing after lines have changed from `first` on."""
        total, room, page = self._tops[-1], self.room, self.page
        if last_only:
            for y in range(first, first + page + 1):
                for opens in (True, False):
                    self._strips.discard((y, room, opens))
        else:
            self._strips.clear()
        self.set_length(total)
        if self.follow:
            self._scroll(total)
        bottom = self.scroll_offset.y + page
        if first < bottom:
            self.refresh_lines(first, max(bottom - first, 1))
        elif self._live:
            self._refresh_badge()

    def on_resize(self, event: events.Resize) -> None:
        """Rewrap at the new width, keeping the block at the top and the current hit in view."""
        top, anchor = self.block_at_top(), self._anchor if self._anchor in self._place else ""
        self._measure()
        if self.follow:
            self._scroll(self._tops[-1])
        elif anchor:
            self.scroll_to_block(anchor)
        elif top is not None and self.scroll_offset.y:
            self._scroll(self._tops[self._place[top.key]])
        if self._is_at_hit and self._hits.hits:
            self._show_hit()
        self.refresh()
        if self.room != self._width_before:
            self._width_before = self.room
            self.post_message(self.WidthChanged(self))

    # Drawing ---------------------------------------------------------------------------------------------------------

    def selection_updated(self, selection: Selection | None) -> None:
        """Redraw with the new selection."""
        self.redraw()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, with wrapped lines joined."""
        first = selection.start or Offset(0, 0)
        last = selection.end or Offset(self.room, self._tops[-1] - 1)
        parts: list[str] = []
        before: tuple[int, int] | None = None
        for y in range(max(first.y, 0), min(last.y + 1, self._tops[-1])):
            place, line, part = self._at(y)
            plain = line.plain
            start = first.x if y == first.y else 0
            end = last.x if y == last.y else len(plain)
            now = (place, part[0]) if part else None
            parts.append("" if not parts else " " if now is not None and now == before else "\n")
            indent = self._blocks[place].indent_at(part[1]) if part else 0
            parts.append(plain[max(start, indent) : end] if part else plain[start:end].rstrip())
            before = now
        return "".join(parts), "\n"

    def render_line(self, y: int) -> Strip:
        room, base = self.room, self.visual_style
        if not self._blocks:
            style = self.get_visual_style("text--empty")
            return lines.sentence_line(self._empty, y, room, style, style_getter(self))
        number = self.scroll_offset.y + y
        if number >= self._tops[-1]:
            strip = Strip.blank(room, base.rich_style)
        elif (strip := self._strips.get(drawn := (number, room, self._opens_at(number)))) is None:
            _, line, _ = self._at(number)
            strip = lines.strip_of(self._selected(line, number), room, base, style_getter(self))
            strip = self._strips[drawn] = strip.apply_offsets(0, number)
        if y == self.page - 1 and self._live and not self.follow:
            strip = self._with_badge(strip, room)
        return strip

    def _at(self, y: int) -> tuple[int, Content, tuple[int, int, int] | None]:
        """Return the block's index, the drawn line, and the part of the logical line it shows."""
        place = bisect_right(self._tops, y) - 1
        block, inner = self._blocks[place], y - self._tops[place]
        line, part = block.line_at(inner, self.room, opens=self._opens_at(y)), block.part_at(inner)
        if part and self._hits.hits:
            styles = _ANSI_HITS if is_ansi(self) else _HITS
            line = self._hits.painted(line, place, part, block.indent_at(part[1]), styles)
        return place, line, part

    def _opens_at(self, y: int) -> bool:
        """Return whether a key opens the folded block with its title in a line."""
        block = self._blocks[bisect_right(self._tops, y) - 1]
        if block.opened_by == "enter":
            return block.folded
        if not self.fold_key:
            return False
        return block.folded and (self.fold_key == "all" or block is self.fold_target())

    def _selected(self, line: Content, y: int) -> Content:
        selection = self.text_selection
        if selection is None or (span := selection.get_span(y)) is None:
            return line
        start, end = span
        style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
        return line.stylize(style, start, len(line) if end == -1 else end)

    def _with_badge(self, strip: Strip, room: int) -> Strip:
        """Return the last visible line with the badge over its right end."""
        text = f" frozen, +{self.unseen:,} lines  G follows " if self.unseen else " frozen  G follows "
        style = self.get_visual_style("text--badge")
        if is_ansi(self):
            style += Style(reverse=True)
        badge = lines.strip_of(Content(text), len(text), style, style_getter(self))
        return Strip.join([strip.crop_extend(0, max(room - len(text), 0), None), badge]).crop(0, room)

    def _refresh_badge(self) -> None:
        self.refresh_line(self.scroll_offset.y + self.page - 1)


def _line_of(hit: Hit, tops: Sequence[int], blocks: Sequence[Block]) -> int:
    return tops[hit[0]] + blocks[hit[0]].place_of(hit[1], hit[2])
