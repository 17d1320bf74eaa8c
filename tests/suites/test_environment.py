"""A world outside of the conversation: a process with files and a database, killed at every effect and rebuilt."""

import asyncio
import base64
import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from console.authoring import Case, SimpleSuite, verdict
from console.core.fault import Fault, FaultKind, UsageError
from console.suites.suite import SuiteEntry
from console.testing import check_suite
from console.testing.case_play import journal_until_cut, play_case, usual_setting

PROGRAM = """
import json, pathlib, sqlite3, sys
folder = pathlib.Path(sys.argv[1])
ledger = sqlite3.connect(folder / "ledger.sqlite")
ledger.execute("CREATE TABLE IF NOT EXISTS paid (sum INTEGER)")
memory = sum(row[0] for row in ledger.execute("SELECT sum FROM paid"))
for line in sys.stdin:
    amount = json.loads(line)
    memory += amount
    ledger.execute("INSERT INTO paid VALUES (?)", (amount,))
    ledger.commit()
    with open(folder / "log.txt", "a") as log:
        log.write(f"{memory}\\n")
    print(json.dumps({"total": memory, "lines": (folder / "log.txt").read_text().split()}), flush=True)
"""
"""Keeps a total in memory, a ledger in SQLite and a log in a file, one amount a line."""


class Till:
    """A process that counts money."""

    def __init__(self, folder: Path, process: asyncio.subprocess.Process) -> None:
        self.folder, self._process = folder, process

    async def pay(self, amount: int) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{amount}\n".encode())
        return json.loads(await self._process.stdout.readline())

    async def close(self) -> None:
        self._process.kill()
        await self._process.wait()
        shutil.rmtree(self.folder)


class Tills(SimpleSuite):
    """One case pays five amounts, with a question to the model after each."""

    replay: Any = "execute"

    def __init__(self, entry: SuiteEntry) -> None:
        super().__init__(entry)
        self.opened, self.executed = 0, Counter[int]()

    def cases(self, categories, setting):
        yield Case("shop", "money", {"amounts": [5, 7, 11, 2, 1]})

    async def play(self, case, stage, setting):
        async def open_till(state: Any) -> Till:
            self.opened += 1
            folder = self.entry.folder / f"till-{self.opened}"
            folder.mkdir()
            for name, content in (state or {}).items():
                (folder / name).write_bytes(base64.b64decode(content))
            pipe = asyncio.subprocess.PIPE
            line = (sys.executable, "-c", PROGRAM, str(folder))
            process = await asyncio.create_subprocess_exec(*line, stdin=pipe, stdout=pipe)
            return Till(folder, process)

        async def files(till: Till) -> dict[str, str]:
            return {path.name: base64.b64encode(path.read_bytes()).decode() for path in sorted(till.folder.iterdir())}

        said = []
        kept = files if self.replay == "snapshot" else None
        async with stage.environment(open_till, Till.close, replay=self.replay, snapshot=kept) as till:
            for place, amount in enumerate(case.data["amounts"]):

                async def pay(world: Till, amount: int = amount) -> dict[str, Any]:
                    self.executed[amount] += 1
                    return await world.pay(amount)

                said.append(await till.act("pay", [place, amount], pay))
                await stage.ask([{"role": "user", "content": f"{said[-1]}"}])
        return said

    def score(self, case, output, setting):
        total = sum(case.data["amounts"])
        return verdict(output[-1]["total"] == total, expected=total, actual=output[-1]["total"])


class SnapshotTills(Tills):
    replay = "snapshot"


def suite(kind: type[Tills], folder: Path) -> Tills:
    return kind(SuiteEntry("tills", "python", folder, "Tills"))


@pytest.mark.parametrize("kind", [Tills, SnapshotTills])
def test_cut_off_at_every_effect_it_goes_on_to_the_same_state(kind: type[Tills], tmp_path: Path) -> None:
    tills = suite(kind, tmp_path)
    check_suite(tills)
    assert tills.opened > 10
    assert list(tmp_path.iterdir()) == [], "every world is closed"


@pytest.mark.parametrize(("kind", "again"), [(Tills, 1), (SnapshotTills, 0)])
async def test_earlier_actions_are_executed_again_or_restored(kind: type[Tills], again: int, tmp_path: Path) -> None:
    tills = suite(kind, tmp_path)
    setting = usual_setting(tills)
    [case] = tills.cases((), setting)
    journal = await journal_until_cut(tills, case, setting, 5, {})  # three payments, two questions
    tills.executed.clear()
    played = await play_case(tills, case, setting, journal=journal)
    assert played.output[-1] == {"total": 26, "lines": ["5", "12", "23", "25", "26"]}
    assert tills.executed == Counter({5: again, 7: again, 11: again, 2: 1, 1: 1})


async def test_a_finished_case_is_replayed_without_its_world(tmp_path: Path) -> None:
    tills = suite(Tills, tmp_path)
    setting = usual_setting(tills)
    [case] = tills.cases((), setting)
    journal = (await play_case(tills, case, setting)).stage.journal
    opened = tills.opened
    await play_case(tills, case, setting, journal=journal)
    assert tills.opened == opened


async def test_a_world_that_answers_otherwise_breaks_the_case(tmp_path: Path) -> None:
    tills = suite(Tills, tmp_path)
    setting = usual_setting(tills)
    [case] = tills.cases((), setting)
    journal = await journal_until_cut(tills, case, setting, 3, {})
    text = json.dumps(journal).replace('\\"total\\": 5', '\\"total\\": 6')
    changed = [tuple(item) for item in json.loads(text)]
    assert changed != [tuple(item) for item in journal]
    with pytest.raises(Fault, match="cannot be rebuilt: pay gives") as raised:
        await play_case(tills, case, setting, journal=changed)
    assert raised.value.kind is FaultKind.SUITE


async def test_snapshots_need_a_function(tmp_path: Path) -> None:
    class Wrong(Tills):
        async def play(self, case, stage, setting):
            stage.environment(None, None, replay="snapshot")

    tills = suite(Wrong, tmp_path)
    [case] = tills.cases((), usual_setting(tills))
    with pytest.raises(UsageError, match="snapshots"):
        await play_case(tills, case, usual_setting(tills))


@pytest.mark.parametrize(
    ("play", "words"),
    [
        ("async with env: await act('outer', lambda world: act('inner'))", "cannot await another action"),
        ("await act()", "only within its `async with`"),
        ("async with env: pass\n    await act()", "only within its `async with`"),
    ],
)
async def test_an_action_in_another_or_outside_is_refused(tmp_path: Path, play: str, words: str) -> None:
    class Wrong(Tills):
        async def play(self, case, stage, setting):
            env = stage.environment(lambda state: [], list.clear)

            async def act(kind: str = "act", action: Any = lambda world: 1) -> Any:
                return await env.act(kind, [], action)

            scope: dict[str, Any] = {}
            exec(f"async def play(env, act):\n    {play}", scope)
            await scope["play"](env, act)

    tills = suite(Wrong, tmp_path)
    [case] = tills.cases((), usual_setting(tills))
    with pytest.raises(UsageError, match=words):
        await play_case(tills, case, usual_setting(tills))


async def test_an_error_of_an_action_is_told_rather_than_one_of_closing(tmp_path: Path) -> None:
    class Wrong(Tills):
        async def play(self, case, stage, setting):
            async with stage.environment(lambda state: [], lambda world: world.missing) as env:
                await env.act("act", [], lambda world: world[0])

    tills = suite(Wrong, tmp_path)
    [case] = tills.cases((), usual_setting(tills))
    with pytest.raises(IndexError):
        await play_case(tills, case, usual_setting(tills))
