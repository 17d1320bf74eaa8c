"""Rows of one's own beside BFCL entries that ask the same: what opening many costs, and what playing one costs.

    python perf/bench_dialogue.py [--rows 10000] [--played 4000]

Both suites hold look-ups with one tool and one expected call. CPU seconds of a whole process; for a case, two sizes are
played with a simulated model that answers at once, and subtracted. Ends with 1 when a row costs more than 1.3 times an
entry.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.lookup_suite import write_suite  # noqa: E402

MOST = 1.3
TRIES = 5
MODEL = ("-m", "sim/careful", "--mode", "fc")
TOOL = {
    "name": "look_up",
    "description": "Looks a number up.",
    "parameters": {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "The number."}},
        "required": ["number"],
    },
}
FORMS = ("entries", "rows", "csv")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--played", type=int, default=4_000)
    options = parser.parse_args()
    slow: list[str] = []
    with tempfile.TemporaryDirectory(prefix="rows-") as name:
        root = Path(name)
        for form in FORMS:
            write(form, root / form, options.rows)
        opened = costs_of_opening(root, options.rows)
        played = costs_of_cases(root, options.played)
    for what, costs in (("open", opened), ("play", played)):
        for form in FORMS:
            ratio = costs[form] / costs["entries"]
            print(f"{what} {form:8} {costs[form] * 1e6:8.1f} µs CPU each   {ratio:.2f} × BFCL")
            if ratio > MOST:
                slow.append(f"{what} of {form} takes {ratio:.2f} times as long as BFCL's, more than {MOST}")
    for sentence in slow:
        print(f"FAILED: {sentence}")
    return 1 if slow else 0


def write(form: str, folder: Path, count: int) -> None:
    """Write the suite `lookups` in a form."""
    if form == "entries":
        write_suite(folder, count)
        return
    suite = folder / "lookups"
    suite.mkdir(parents=True)
    defaults = f'[defaults]\nsystem = "Look it up."\ntools = {toml([TOOL])}\n'
    (suite / "suite.toml").write_text(f'format = "dialogue"\n{defaults}')
    rows = [(f"row-{n}", f"Look up number {n}.", [{"look_up": {"number": [n]}}]) for n in range(count)]
    if form == "rows":
        lines = (json.dumps({"id": name, "prompt": text, "calls": calls}) for name, text, calls in rows)
        (suite / "cases.jsonl").write_text("".join(f"{line}\n" for line in lines))
        return
    cells = (f'{name},{text},"{json.dumps(calls).replace(chr(34), chr(34) * 2)}"\n' for name, text, calls in rows)
    (suite / "cases.csv").write_text("id,prompt,calls\n" + "".join(cells))


def toml(value: object) -> str:
    """Return JSON values as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def costs_of_opening(root: Path, count: int) -> dict[str, float]:
    """Return CPU seconds of reading and checking one more case, by form, before anything is asked."""
    lines = {form: ["run", *MODEL, "-s", "lookups", "--data", root / form, "--dry-run"] for form in FORMS}
    least = least_of_all({**lines, **{f"{form}, none": [*line, "--help"] for form, line in lines.items()}}, root)
    return {form: (least[form] - least[f"{form}, none"]) / count for form in FORMS}


def costs_of_cases(root: Path, count: int) -> dict[str, float]:
    """Return CPU seconds of playing one more case, by form."""
    sizes = {"few": count // 10, "many": count}
    lines: dict[str, list[object]] = {}
    for form in FORMS:
        line = ["run", *MODEL, "-s", "lookups", "--data", root / form, "--runs", root / form / "runs"]
        lines |= {f"{form}, {size}": [*line, "--yes", "--quiet", "-n", count] for size, count in sizes.items()}
    least = least_of_all(lines, root)
    span = sizes["many"] - sizes["few"]
    return {form: (least[f"{form}, many"] - least[f"{form}, few"]) / span for form in FORMS}


def least_of_all(lines: dict[str, list[object]], folder: Path) -> dict[str, float]:
    """Return the least CPU seconds of some tries of each command, by name: a busy machine only adds.

    All are tried in turn, so that a busy minute adds to each of them.
    """
    tries = [{name: measure(words, folder) for name, words in lines.items()} for _ in range(TRIES)]
    return {name: min(one_try[name] for one_try in tries) for name in lines}


def measure(words: list[object], folder: Path) -> float:
    """Return how many CPU seconds a command takes."""
    env = dict(os.environ) | {"PYTHONPATH": str(HERE.parent), "EVAL_CONSOLE_SIM_PACE": "flat"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-m", "console", *map(str, words)]
    subprocess.run(line, env=env, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
