"""The line that tells a replay from a live run: mark, speed, place on a bar, and the time it was then."""

import time

from textual.content import Content

from console.insight import number_format
from console.tui.data.replay_feed import SPEEDS, Replay
from console.tui.render.symbols import SYMBOLS

MUTED = "$muted"


def replay_line(replay: Replay, width: int) -> Content:
    """Return the line for a width."""
    speed = "max" if replay.speed == SPEEDS[-1] else f"×{replay.speed:.0f}"
    mark = SYMBOLS.running if replay.is_playing else SYMBOLS.stopped
    state = "playing" if replay.is_playing else "at the end, p plays again" if replay.is_at_end else "paused"
    length = replay.timeline.length_s
    head = Content.assemble((" REPLAY ", "bold reverse $undecided"), f" {mark} {state} ", (speed, "bold"), "  ")
    if not replay.is_read:
        return head.append_text("reading the journal …", MUTED)
    place = f"{number_format.duration(replay.time_s)} of {number_format.duration(length)}"
    clock = time.strftime("%d %b %H:%M:%S", time.localtime(replay.now()))
    tail = Content.assemble(f"  {place}", (f"   {clock}", MUTED), " ")
    room = max(width - head.cell_length - tail.cell_length, 0)
    done = round(room * min(replay.time_s / length, 1.0)) if length else room
    bar = Content.assemble((SYMBOLS.bar * done, "$undecided"), (SYMBOLS.rule * (room - done), "$line"))
    return head.append(bar).append(tail)
