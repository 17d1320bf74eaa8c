"""Runs whose records hold any JSON at any place are written in every format, or refused in one sentence."""

import contextlib
import json
import random
import shutil
from pathlib import Path
from zlib import crc32

import pytest
from support.crafted_journals import craft
from support.fuzz_budget import BUDGET
from support.made_up_json import KINDS

from console.__main__ import main
from console.core.fault import UsageError
from console.exchange.exports.formats import own_exports
from console.store.runs import RunFolder

SUITES = {"bfcl-starter": ("--category", "simple_python,multiple"), "aidan-starter": (), "cave-starter": ()}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Finished runs of three suites."""
    runs = tmp_path_factory.mktemp("played") / "runs"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
        for suite, more in SUITES.items():
            flags = [*more, "--name", suite, "--runs", str(runs), "--quiet", "--yes"]
            assert main(["run", "-m", "sim/hasty", "-s", suite, "-n", "9", *flags]) == 0
    return {suite: next(runs.glob(f"*-{suite}-*")) for suite in SUITES}


def copied(run: Path, to: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(run, to / "runs" / run.name)))


def write_all(run: RunFolder, to: Path) -> None:
    """Write a run in every format; only a sentence may come instead of a file."""
    for form in own_exports().values():
        with contextlib.suppress(UsageError):
            if form.extension:
                form.content(form.read(run, None)[0])
            else:
                form.write_folder(run, to / form.name)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("seed", range(3 * BUDGET))
def test_a_crafted_journal_is_written_in_every_format(
    played: dict[str, Path], tmp_path: Path, suite: str, seed: int
) -> None:
    run = copied(played[suite], tmp_path)
    craft(run, random.Random(f"{suite} {seed}"))
    write_all(run, tmp_path)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=lambda kind: type(KINDS[kind]).__name__)
def test_a_tool_that_requires_anything_is_shown_on_pages(played: dict[str, Path], tmp_path: Path, kind: int) -> None:
    """A schema may hold anything where names of parameters are expected, and is shown beside what was called."""
    run = copied(played["bfcl-starter"], tmp_path)
    lines: list[bytes] = []
    for line in run.journal_path.read_bytes().splitlines():
        record = {name: value for name, value in json.loads(line).items() if name != "crc"}
        for function in record.get("case", {}).get("data", {}).get("function", ()):
            function["parameters"]["required"] = [KINDS[kind]]
        body = json.dumps(record).replace("NaN", "null").encode()[:-1]
        lines.append(body + b',"crc":"%08x"}\n' % crc32(body))
    run.journal_path.write_bytes(b"".join(lines))
    write_all(run, tmp_path)
