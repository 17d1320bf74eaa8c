"""What Live shows of a run's workers."""

from typing import Any

from support.screen_text import assert_until, text_of

from console.core.live import WorkerState
from console.tui.dialogs.help import TextScreen
from console.tui.render.progress import worker_lines


def test_each_worker_has_a_line_that_says_what_it_is_at():
    workers = [
        WorkerState("node-a/11", "playing", conversations=3, calls=40, since=80.0),
        WorkerState("", "starting"),
        WorkerState("node-b/12", "lost", calls=7, why="the node died \x1b[31m"),
    ]
    playing, starting, lost = (line.plain for line in worker_lines(workers, now=100.0))
    assert playing.startswith("node-a/11")
    assert playing.endswith("3 conversations   2 calls/s")
    assert starting.endswith("is being started")
    assert "lost after 7 calls: the node died" in lost
    assert "\x1b" not in lost


async def test_the_list_of_workers_follows_the_run_while_it_is_open(opened: Any) -> None:
    states = [WorkerState("node-a/11", "playing", since=80.0)]
    async with opened() as (app, pilot):
        app.push_screen(TextScreen("Workers", lambda: worker_lines(states, now=100.0), "none"))
        await assert_until(pilot, lambda: "node-a/11" in text_of(app))
        states[0] = WorkerState("node-a/11", "lost", why="its process ended")
        await assert_until(pilot, lambda: "its process ended" in text_of(app))
