"""A package that offers a benchmark as one face has everything that a benchmark of the program has."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACE = """
from pathlib import Path
from console.authoring import Benchmark, OfficialData

BENCHMARK = Benchmark(
    "rivers",
    suite="eval_rivers.suite:Rivers",
    reasons="eval_rivers.suite:REASONS",
    leaderboard="eval_rivers.ranking:LEADERBOARD",
    pull="eval_rivers.benchmark:DATA",
    template="eval_rivers.benchmark:TEMPLATE",
    exports="eval_rivers.files:EXPORTS",
    imports="eval_rivers.files:IMPORTS",
    verbs="eval_rivers.verbs:VERBS",
    doctor="eval_rivers.verbs:check_gauge",
    view="eval_rivers.view:RiversView",
)
DATA = OfficialData("rivers", "all rivers of Europe", "eval_rivers.files:pull")
TEMPLATE = Path(__file__).parent / "template"
"""
SUITE = """
from console.authoring import Case, Chat, SimpleSuite, verdict

REASONS = {"dry_bed": "the river has run dry"}


class Rivers(SimpleSuite):
    def cases(self, categories, setting):
        for name in (self.entry.folder / "rivers.txt").read_text().split():
            yield Case(name, "europe", {})

    async def play(self, case, stage, setting):
        return await Chat(stage, script=["It flows."], wrong=["It is dry."]).say(f"How is the {case.id}?")

    def score(self, case, output, setting):
        flows = "flows" in output
        return verdict(flows, reason="dry_bed", scores={"depth": 2.5 if flows else 0.0})
"""
RANKING = """
from console.authoring import Cell, PassRates


class Depths(PassRates):
    headings = {"deepest": "metres"}

    def cells(self, played):
        return {"deepest": Cell(7.25)}


LEADERBOARD = Depths()
"""
FILES = """
from console.authoring import ExportFormat, ImportFormat, report_of


def write(run, root, data):
    root.mkdir(parents=True, exist_ok=True)
    (root / "rivers.map").write_text(run.name)
    return [root / "rivers.map"]


def listed(document):
    return f"rivers of {len(document.items)} cases"


def load(path, settings):
    from console.store.run_list import list_runs

    (run,) = list_runs(settings.runs_root)
    yield report_of(run, path, f"gauge of the {settings.options['bank']} bank")


def add_arguments(parser):
    parser.add_argument("--bank", default="left")


def pull(request):
    def fill(folder, scratch):
        (folder / "suite.toml").write_text('format = "rivers"\\n')
        (folder / "rivers.txt").write_text("rhine rhone")

    return request.into("rivers", fill)


EXPORTS = (
    ExportFormat("rivers-map", "x", "river map", "a map of rivers", "eval_rivers.files:write", folder="maps"),
    ExportFormat("rivers-list", "l", "river list", "a list", "eval_rivers.files:listed", ".txt"),
)
IMPORTS = (
    ImportFormat("rivers-gauge", "readings of a gauge", lambda path, head: path.suffix == ".gauge", load,
                 add_arguments=add_arguments),
)
"""
VERBS = """
from console.authoring import GOOD, Finding, Verb

VERBS = {
    "rivers": Verb("say how the rivers are", "eval_rivers.report"),
    "seas": Verb("name the seas", "eval_rivers.seas"),
}


def check_gauge():
    return [Finding("rivers", "gauge", GOOD, "reads 3 metres")]
"""
REPORT = '''
"""Say how the rivers are."""

from console.authoring import JsonKind

STATE = JsonKind("rivers_state", "rivers", "How the rivers are.", {"level": "in metres"})


def arguments(parser):
    parser.add_argument("--metres", type=float, default=3.0)


def run(args):
    if args.json:
        args.output.data(STATE, {"level": args.metres})
    else:
        args.output.text(f"The level is {args.metres:g} m.")
    return 0
'''
SEAS = '''
"""Name the seas; this verb has no options of its own."""


def run(args):
    args.output.text("North Sea")
    return 0
'''
VIEW = """
from console.authoring import SuiteView


class RiversView(SuiteView):
    everything_label = "all rivers"
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Installed(NamedTuple):
    """A folder with the package, and a working folder."""

    site: Path
    home: Path

    def __call__(self, *args: str) -> Ended:
        code = "import sys; from console.__main__ import main; sys.exit(main())"
        return self.python(code, *args)

    def python(self, code: str, *args: str) -> Ended:
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            cwd=self.home,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (self.site, ROOT))), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the package as pip would, pull its data, and play a run that fails."""
    site, home = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("home")
    files = {"__init__": "", "benchmark": FACE, "suite": SUITE, "ranking": RANKING, "files": FILES, "verbs": VERBS,
             "report": REPORT, "seas": SEAS, "view": VIEW}  # fmt: skip
    package = site / "eval_rivers"
    (package / "template").mkdir(parents=True)
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    (package / "template" / "suite.toml").write_text('# Your own rivers.\nformat = "rivers"\ntitle = "$name"\n')
    (package / "template" / "rivers.txt").write_text("danube")
    info = site / "eval_rivers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: eval-rivers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[eval_console.benchmarks]\nrivers = eval_rivers.benchmark:BENCHMARK\n")
    installed = Installed(site, home)
    pulled = installed("pull", "rivers", "--data", "data")
    assert pulled.code == 0, pulled.err
    played = installed("run", "-m", "sim/hasty", "-s", "rivers", "--rollouts", "4", "--quiet", "--json")
    assert json.loads(played.out)["summary"]["tally"]["failed"], played.err
    return installed


def test_its_reasons_are_worded(console: Installed) -> None:
    assert "the river has run dry" in console("failures", "latest").out


def test_a_verb_without_options_of_its_own_needs_no_function_for_them(console: Installed) -> None:
    assert console("seas").out == "North Sea\n"
    assert "--metres" not in console("seas", "--help").out


def test_its_rules_rank_models_also_without_its_suite(console: Installed) -> None:
    assert "7.25" in console("leaderboard").out
    (board,) = json.loads(console("leaderboard", "--json", "--data", str(console.site)).out)["boards"]
    assert "7.25" in json.dumps(board)


def test_runs_are_exported_in_its_form(console: Installed) -> None:
    written = console("export", "latest", "--format", "rivers-map")
    assert written.out.strip() == "maps/rivers.map  (simulated)", written.err
    assert (console.home / "maps" / "rivers.map").is_file()
    listed = console("export", "latest", "--format", "rivers-list")
    assert listed.out.startswith("rivers of "), listed.err


def test_files_of_its_form_are_imported_with_its_options(console: Installed) -> None:
    (console.home / "spring.gauge").write_text("3 m")
    assert "imported from spring.gauge (gauge of the left bank)" in console("import", "spring.gauge").out
    assert "(gauge of the right bank)" in console("import", "spring.gauge", "--bank", "right").out


def test_its_verb_is_found_listed_and_writes_its_kind_of_json(console: Installed) -> None:
    assert console("rivers", "--metres", "4").out == "The level is 4 m.\n"
    written = json.loads(console("rivers", "--json").out)
    assert (written["kind"], written["level"]) == ("rivers_state", 3.0)
    assert "say how the rivers are" in console("help").out
    assert "--metres" in console("help", "rivers").out
    assert "did you mean rivers?" in console("river").err


def test_its_template_makes_a_suite(console: Installed) -> None:
    assert console("new", "mine", "--kind", "rivers", "--data", "new").code == 0
    assert (console.home / "new" / "mine" / "rivers.txt").read_text() == "danube"


def test_doctor_checks_what_it_checks_and_says_what_could_be_pulled(console: Installed) -> None:
    found = console("doctor", "--offline", "--data", str(console.site)).out
    assert "gauge: reads 3 metres" in found
    assert "not installed; all rivers of Europe" in found
    unknown = console("run", "-m", "sim/hasty", "-s", "rivers", "--data", str(console.site))
    assert "eval-console pull rivers" in unknown.err


def test_its_view_is_shown(console: Installed) -> None:
    code = (
        "from console.tui.suite_views.registry import find_view, load_view\n"
        "assert load_view('rivers') == ''\nprint(find_view('rivers').everything_label)"
    )
    assert console.python(code).out == "all rivers\n"


def test_a_part_that_cannot_be_loaded_costs_itself_and_doctor_says_so(console: Installed) -> None:
    path = console.site / "eval_rivers" / "ranking.py"
    path.write_text("raise RuntimeError('no ranking today')\n")
    try:
        assert "no ranking today" in console("doctor", "--offline").out
        assert console("leaderboard").code == 0
    finally:
        path.write_text(RANKING)
