"""Which run the commands take when none is named."""

from pathlib import Path


def test_every_command_takes_the_same_run_for_the_newest(console, home: Path) -> None:
    made = [
        console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1", "--json", "--quiet").data["run"]
        for _ in range(4)
    ]
    assert console("show", "--json").data["run"] == made[-1]
    assert [one["id"] for one in console("runs", "--json").data["runs"]] == made[::-1]
    assert console("review", "--all", "--json").code == 0
    assert {one["run"] for one in console("export", "--format", "jsonl", "-o", "-").lines} <= {made[-1]}
    assert console("resume").err.strip().endswith(made[-1])
