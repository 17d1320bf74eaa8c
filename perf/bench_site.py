"""A run of very many cases as a site: how long it takes, how large it is, and how soon a browser shows it.

    python perf/bench_site.py [--cases 10000] [--keep FOLDER]

Plays a small simulated run and repeats its cases under other ids. Ends with 1 when the site is larger than it may be.
The browser is Chromium, if it is installed; its time is with a warm start of its own beside it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from console.core.case import Key
from console.core.record import Started
from console.store.journal import JournalReader, JournalWriter
from console.store.runs import RunFolder, create_run

MAY_TAKE_MB = 50
LINE = [sys.executable, "-m", "console"]
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="a folder to leave the site in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="site-") as name:
        folder = Path(name)
        run = repeat_cases(play_one(folder), folder / "many", options.cases)
        out = options.keep or folder / "site"
        wall, cpu, memory = measure(
            [*LINE, "export", run.name, "--format", "site", "-o", str(out), "--runs", str(folder / "many")], folder
        )
        sizes = [path.stat() for path in out.rglob("*") if path.is_file()]
        size, blocks = sum(stat.st_size for stat in sizes) / 1e6, sum(stat.st_blocks * 512 for stat in sizes) / 1e6
        print(f"{options.cases} cases: {wall:.1f} s ({cpu:.1f} CPU), {memory:.0f} MB of memory at most")
        print(f"  {len(sizes)} files, {size:.1f} MB ({blocks:.1f} MB on disk)")
        show_in_browser(out, folder)
    if size > MAY_TAKE_MB:
        print(f"FAILED: the site takes {size:.1f} MB, and may take {MAY_TAKE_MB}")
    return int(size > MAY_TAKE_MB)


def play_one(folder: Path) -> RunFolder:
    """Play one small run and return it."""
    line = [*LINE, "run", "-m", "sim/hasty", "-s", "bfcl-starter", "--quiet", "--json"]
    played = subprocess.run(line, env=env(), cwd=folder, capture_output=True, text=True, check=True)
    return RunFolder(Path(json.loads(played.stdout)["folder"]))


def repeat_cases(original: RunFolder, root: Path, count: int) -> RunFolder:
    """Write a run of so many cases, those of another one again and again under ids of their own."""
    records = [*JournalReader(original.journal_path).iter_all()]
    cases = {getattr(record, "key", None) for record in records} - {None}
    root.mkdir()
    manifest = msgspec.structs.replace(original.manifest(), cases=count)
    run = create_run(root, manifest)
    writer = JournalWriter(run.journal_path)
    for copy in range(-(-count // len(cases))):
        kept = set(sorted(map(str, cases))[: count - copy * len(cases)])
        for record in records:
            key: Key | None = getattr(record, "key", None)
            if key is None or str(key) not in kept:
                continue
            key_here = msgspec.structs.replace(key, case=f"{key.case}-copy{copy}")
            changes: dict[str, object] = {"key": key_here}
            if isinstance(record, Started):
                changes["case"] = msgspec.structs.replace(record.case, id=key_here.case, depends_on=())
            writer.append(msgspec.structs.replace(record, **changes))
    writer.close()
    return run


def show_in_browser(out: Path, folder: Path) -> None:
    """Print how long Chromium takes to show pages, beside an empty one."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("  no chromium here: not looked at in a browser")
        return
    empty = folder / "empty.html"
    empty.write_text("<!doctype html><title>empty</title>")
    line = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    for name, page in (("empty page", empty), ("overview", out / "index.html"), ("case", out / "cases/00001.html")):
        times: list[float] = []
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run(
                [*line, f"--screenshot={folder / 'page.png'}", page.resolve().as_uri()],
                capture_output=True, check=True, timeout=120,
            )  # fmt: skip
            times.append(time.perf_counter() - began)
        print(f"  {name}: {min(times):.2f} s from the start of Chromium to its picture")


def measure(line: list[str], folder: Path) -> tuple[float, float, float]:
    """Return how many seconds a command takes, how many of them it computes, and its memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen(line, env=env(), cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(line)} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "EVAL_CONSOLE_SIM_PACE": "flat"}


if __name__ == "__main__":
    raise SystemExit(main())
