"""The whole way by keyboard in a real terminal: launch, watch, triage, compare, export; the file is there then."""

import json
from pathlib import Path

import pytest
from support.run_ends import wait_until_ended
from support.tmux_terminal import TmuxTerminal

from console.store.run_list import list_runs


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_launch_watch_triage_compare_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two simulated models play the same cases; the failures are tagged; the two runs are compared and exported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    app = TmuxTerminal(
        tmp_path, "--runs", str(tmp_path / "runs"), size=(120, 40),
        env={"EVAL_CONSOLE_SIM_PACE": "flat", **state},
    )  # fmt: skip
    try:
        app.until("Try the demo", "simulated", "? help", seconds=120)
        app.press("Enter")  # launch: the demo plays two models
        app.until("Live", "bfcl-starter", seconds=120)  # watch
        app.until("finished", "✗", seconds=200)
        app.press("v")  # triage
        app.until("Review", "EXPECTED", "ACTUAL", "1 of ", seconds=120)
        app.press("n")
        app.until("2 of ", seconds=60)
        app.press("t")
        app.until("model at fault", seconds=60)
        app.press("m")
        app.until("3 of ", seconds=60)
        app.press("1")
        app.until("Last failures", "offline, no key needed", seconds=120)  # all runs of the demo are started
        wait_until_ended(list_runs(tmp_path / "runs"))
        app.until_gone(" left")
        app.press("4")  # compare the newest two
        app.until("Compare", "swap A/B", seconds=120)
        app.press("E", "j")
        app.until("Written to", seconds=60)
        app.press("C-q")
        app.until("exit 0", seconds=60)
    finally:
        app.close()
    notes = [path.read_text(encoding="utf-8") for path in (tmp_path / "runs").glob("*/notes.jsonl")]
    assert any('"model"' in text for text in notes)
    written = [path for path in tmp_path.glob("*.json") if path.stat().st_size]
    assert written
    assert json.loads(written[0].read_text(encoding="utf-8"))
