"""Notes of a table are written once below it, however many rows they belong to."""

from console.insight.report import Row, footnotes


def test_a_note_of_many_rows_counts_them_by_measure():
    names = [f"scenario_{number}" for number in range(20)]
    rows = [Row((f"{name}: {measure}", "1"), note="turns") for name in names for measure in ("success rate", "steps")]
    rows += [Row(("total", "1"), note="all"), Row(("mean", "1"), note="all"), Row(("plain", "1"))]
    rows.append(Row(("overall steps", "1"), note="turns"))
    rows += [Row((f"pass@{k}", "1"), note="rough") for k in range(5)]
    assert list(footnotes(rows)) == [
        ("turns", "success rate in 20 rows, steps in 20 rows, overall steps"),
        ("all", "total, mean"),
        ("rough", "pass@0, pass@1, pass@2 and 2 more"),
    ]
