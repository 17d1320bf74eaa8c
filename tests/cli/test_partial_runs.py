"""A run of a part of a suite is marked wherever its score stands."""

from pathlib import Path

from console.suites.leaderboard import INCOMPLETE_WORDS


def test_lists_and_sites_mark_a_partial_run_and_explain_the_mark(console, tmp_path: Path) -> None:
    console("run", "-m", "sim/careful", "-s", "bfcl-starter", "-n", 4)
    console("run", "-m", "sim/careful", "-s", "bfcl-starter/parallel")
    part, whole, legend = ".750* [", "1.000 [.61 1.00]", f"* {INCOMPLETE_WORDS}"
    listed = console("runs").out
    assert part in listed
    assert whole in listed
    assert legend in " ".join(listed.split())
    runs = [run["id"] for run in console("runs", "--json").data["runs"]]
    console("export", *runs, "--format", "site", "-o", tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert part in page
    assert whole in page
    assert legend in page
