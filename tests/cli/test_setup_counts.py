"""What is played but not graded is counted apart from the cases that were asked for, wherever a count is shown."""

import re

from console.core.case import Case, Key
from console.core.outcome import SETUP_DEPENDENCY, Outcome, Verdict
from console.core.record import Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.insight.overview import Overview
from console.tui.render.progress import begun_words, progress_line

RUN = ("run", "-m", "sim/careful", "-s", "bfcl-starter/memory_kv", "-n", 3)


def test_a_dry_run_counts_the_asked_cases_and_the_setup(console):
    text = console(*RUN, "--dry-run").out
    assert re.search(r": 3 cases \+ [1-9]\d* setup, about", text)
    together = console(*RUN, "-m", "sim/hasty", "--dry-run").out
    assert re.search(r"together: 2 runs, 6 rollouts \+ [1-9]\d* setup", together)
    fields = console(*RUN, "--dry-run", "--json").data
    assert fields["cases"] == 3
    assert fields["setup"] > 0


def test_progress_and_summary_count_them_apart(console):
    ended = console(*RUN)
    setup = console("show", "latest", "--json").data["summary"]["setup"]
    assert setup > 0
    assert f"3/3 + {setup} setup  passed" in ended.err
    page = console("export", "latest", "--format", "html", "-o", "-").out
    assert f"<p>{setup} setup, not graded</p>" in page
    trend = console("trends", "--json").lines
    assert "3 cases" in str(trend)


def test_live_counts_them_apart():
    run = Manifest(id="r", at=1.0, suite="s", model=ModelFacts("m"), setting=None, cases=38, setup=8)  # type: ignore[arg-type]
    overview = Overview()
    overview.apply(Opened(at=1.0, pid=1))
    for number in range(3):
        overview.apply(Started(at=2.0, key=Key(f"p{number}"), case=Case(f"p{number}", "c", graded=False)))
    overview.apply(Started(at=2.0, key=Key("g"), case=Case("g", "c")))
    overview.apply(Finished(at=3.0, key=Key("p0"), verdict=Verdict(Outcome.PASSED)))
    overview.apply(Finished(at=3.0, key=Key("p1"), verdict=Verdict(Outcome.BROKEN)))
    overview.apply(Finished(at=3.0, key=Key("p3"), verdict=Verdict(Outcome.NOT_RUN, SETUP_DEPENDENCY)))
    assert begun_words(overview, run) == "1 + 4 setup"
    line = progress_line(overview, run, live=True, now=2.0, width=200, average="").plain  # type: ignore[arg-type]
    assert "30 + 5 setup left" in line
    assert "! 0" in line, "broken setup is no broken case"
    assert "1 of 3 setup (not graded)" in line
    assert overview.fold.tally.cost_unknown == 2, "what never began cost nothing"
