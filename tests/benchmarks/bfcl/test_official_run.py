"""Over five hundred official entries over HTTP: watched while they run, judged, reviewed, judged again offline."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from server.openai_server import OpenAIServer
from support.bfcl_oracle import Oracle

from console.benchmarks.bfcl.data.official_wording import load_wording
from console.benchmarks.bfcl.suite import BfclSuite
from console.config.paths import find_data_roots
from console.core.case import Setting
from console.core.live import Deltas, Status
from console.core.outcome import Outcome
from console.core.record import Finished, Started
from console.core.run import Selection
from console.engine.attach import EngineLink
from console.store.journal import JournalReader
from console.store.runs import RunFolder
from console.suites.catalog import Catalog
from console.suites.check import check
from console.suites.selection import select_cases

CATEGORIES = ("simple_python", "parallel_multiple", "irrelevance", "live_parallel", "live_relevance")


def official() -> BfclSuite:
    catalog = Catalog(find_data_roots())
    if not any(entry.name == "bfcl" for entry in catalog.entries()):
        pytest.skip("the official data is not pulled (`eval-console pull bfcl`)")
    suite = catalog.open("bfcl")
    assert isinstance(suite, BfclSuite)
    return suite


def command(folder: Path, *more: str) -> list[str]:
    """`eval-console run` of the official suite with the model in the folder's models.toml."""
    places = ["--models", str(folder / "models.toml"), "--runs", str(folder / "runs")]
    return [sys.executable, "-m", "console", "run", *places, "-m", "local", "-s", "bfcl", "--json", *more]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prompt", "fc"])
def test_a_run_of_official_entries(tmp_path: Path, mode: str) -> None:
    suite, setting = official(), Setting(mode=mode)
    cases = select_cases(suite, Selection(categories=CATEGORIES), setting)
    assert len(cases) >= 500
    oracle = Oracle(cases, load_wording(suite.dataset), mode)
    with OpenAIServer(oracle, keep=False) as server:
        models = tmp_path / "models.toml"
        models.write_text(
            f'[local]\nmodel_id = "local"\nbase_url = "{server.base_url}"\nmode = "{mode}"\n'
            "[local.limits]\nconcurrency = 64\nbackoff_s = 0.01\n"
        )
        done = subprocess.run(
            command(tmp_path, "--category", ",".join(CATEGORIES)),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert oracle.strangers == 0
    run = next(RunFolder(path) for path in (tmp_path / "runs").iterdir())
    records = JournalReader(run.journal_path).read_new()
    finished = [record for record in records if isinstance(record, Finished)]
    assert len(finished) == len(cases)
    outcomes = {outcome: sum(one.verdict.outcome is outcome for one in finished) for outcome in Outcome}
    assert outcomes[Outcome.BROKEN] == outcomes[Outcome.UNDECIDED] == 0
    # What no output can pass fails although the oracle says its best.
    assert oracle.kinds["wrong"] <= outcomes[Outcome.FAILED] <= oracle.kinds["wrong"] + 12

    kept = {record.key.case: record.case for record in records if isinstance(record, Started)}
    for one in finished:
        assert suite.score(kept[one.key.case], one.output, setting) == one.verdict
    lines = [
        json.dumps(
            {"case": one.key.case, "category": kept[one.key.case].category, "id": one.key.case, "output": one.output}
            | ({"mode": "fc", "u2d": True} if mode == "fc" else {})
        )
        for one in finished
    ]
    for row, one in zip(check("bfcl", lines, find_data_roots()), finished, strict=True):
        assert row["valid"] is (one.verdict.outcome is Outcome.PASSED), row
        assert row["error_type"] == one.verdict.reason


async def test_a_detached_run_is_watched_live(tmp_path: Path) -> None:
    suite, setting = official(), Setting()
    cases = select_cases(suite, Selection(categories=("simple_python",), limit=60), setting)
    oracle = Oracle(cases, load_wording(suite.dataset), "prompt")
    for answer in oracle.answers.values():
        answer.itl_s = 0.02
        answer.chunk = 6
    with OpenAIServer(oracle, keep=False) as server:
        models = tmp_path / "models.toml"
        models.write_text(
            f'[local]\nmodel_id = "local"\nbase_url = "{server.base_url}"\n[local.limits]\nbackoff_s = 0.01\n'
        )
        started = await asyncio.create_subprocess_exec(
            *command(tmp_path, "--category", "simple_python", "-n", "60", "-c", "16", "--detach"),
            stdout=subprocess.PIPE,
        )
        printed, _ = await started.communicate()
        run = RunFolder(Path(json.loads(printed)["folder"]))
        link = None
        while link is None:
            link = await EngineLink.connect(run.path)
        texts, states = "", set[str]()
        async for frame in link.frames():
            if isinstance(frame, Deltas):
                texts += "".join(item.text for item in frame.items)
            if isinstance(frame, Status):
                states |= {activity.state for activity in frame.activities}
        link.close()
    assert "streaming" in states
    assert "[" in texts
    async with asyncio.timeout(60):
        while run.is_live:  # noqa: ASYNC110  a lock has no event
            await asyncio.sleep(0.01)
    summary = run.summary()
    assert summary.state == "completed"
    assert summary.tally.finished == 60
    assert json.loads(run.manifest_path.read_bytes())["suite"] == "bfcl"
