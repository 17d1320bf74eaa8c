"""A suite in a folder, one case of which runs code that a test gives."""

from pathlib import Path

SUITE = """
import asyncio, contextlib, contextvars, os, sys, threading, time
from console.authoring import Case, Chat, SimpleSuite, verdict

class Own(BaseException):
    pass

class Unspeakable(Exception):
    def __str__(self):
        raise KeyboardInterrupt

class Escapes(SimpleSuite):
    def cases(self, categories, setting):
        for name in ("first", "bad", "last"):
            yield Case(name, "all", {})

    async def play(self, case, stage, setting):
        await Chat(stage, script=["yes"]).say(case.id)
        if case.id == "bad":
            loop = asyncio.get_running_loop()
            PLAY
        return case.id

    def score(self, case, output, setting):
        if case.id == "bad":
            SCORE
        return verdict(True)

async def raises(error):
    await asyncio.sleep(0)
    raise error

def throws(error):
    raise error

async def goes_on():
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(600)

def sleeps():
    while True:
        time.sleep(600)

async def until_stopped():
    await asyncio.sleep(600)
"""


def write_escaping_suite(data: Path, play: str = "pass", score: str = "pass", first: str = "") -> None:
    """Write the suite `escapes`, which runs this code first, and whose case `bad` when it is played or scored."""
    folder = data / "escapes"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('module = "suite.py"\n')
    (folder / "suite.py").write_text(SUITE.replace("PLAY", play).replace("SCORE", score) + first)
