"""A run that goes out as an Inspect log and comes in again: the same totals, scores, calls and judges."""

from pathlib import Path

import pytest
from support.exported_runs import played

from console.exchange.export_formats import export_file, export_format
from console.exchange.import_formats import ImportSettings, find_items
from console.exchange.run_reader import RunReader
from console.store.runs import RunFolder


def test_what_goes_out_comes_back(tmp_path: Path):
    there = played(tmp_path / "there")
    export_file(there, export_format("eval"), tmp_path / "log.eval", None)
    (item,) = find_items(tmp_path / "log.eval")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    back = RunFolder(tmp_path / "back" / report.run)
    assert report.outcomes == {"passed": 1, "failed": 1, "broken": 1}
    assert [(total.score, total.reported, total.agrees) for total in report.totals] == [
        ("eval_console", 0.5, True),
        ("style", 0.5, True),
        ("coherence", 80.0, True),
    ]
    shown = [RunReader(folder) for folder in (there, back)]
    texts = [
        [
            (passage.kind.value, passage.role, passage.arguments or passage.text)
            for passage in reader.conversation(reader.side.rollouts["a", 0]).passages
            if passage.kind.value not in ("verdict", "score")
        ]
        for reader in shown
    ]
    assert texts[0] == texts[1]
    assert shown[1].side.rollouts["a", 0].scores == pytest.approx(
        {"eval_console": 1.0, "style": 0.75, "coherence": 80.0}
    )
