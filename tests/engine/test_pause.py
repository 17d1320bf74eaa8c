"""Pauses that a provider asks for: the longest one counts, and ends by itself or at once."""

import asyncio

from console.engine.pause import ProviderPause


async def test_a_shorter_pause_shortens_no_longer_one_and_the_end_ends_both() -> None:
    ended: list[bool] = []
    pause = ProviderPause(lambda: ended.append(True))
    assert (pause.left_s, pause.why) == (0.0, "")
    pause.extend(3600)
    pause.extend(1)
    assert 3000 < pause.left_s <= 3600
    assert "asks to wait" in pause.why
    pause.extend(7200)
    assert pause.left_s > 3600
    waiting = asyncio.create_task(pause.wait())
    await asyncio.sleep(0)
    pause.end()
    await asyncio.wait_for(waiting, 60)
    assert (pause.left_s, bool(ended)) == (0.0, True)
