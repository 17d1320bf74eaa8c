"""A machine without Linux's parts, as a Mac is one: everything plays, is killed and resumed, shown and exported.

`support/mac_machine.py` lists what is taken away, with the source of each fact, and what only a Mac can show.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted, say_ok
from support import mac_machine
from support.child_process import run_module
from support.pseudo_terminal import PseudoTerminal
from support.ray_runs import Playing, home_of

from console.core.record import Finished
from console.store.run_list import list_runs
from console.store.runs import RunFolder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is taken away is Linux's")
ROOT = Path(__file__).resolve().parents[2]
STARTUP = ROOT / "tests" / "support" / "mac_startup"
HOME = "Zoë"
"""Listed decomposed on this machine."""
TRUSTED = ("--option", "i_trust_this_model=true")
SUITES = {
    "aidan-starter": ("-n", "3"),
    "bfcl-starter": ("-n", "1"),
    "dialogue-starter": ("-n", "2", "--judge", "sim/careful"),
    "cave-starter": ("-n", "1", *TRUSTED),
}


class Mac:
    """The home of somebody on such a machine, and command lines there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "Users" / unicodedata.normalize("NFD", HOME)
        self.home.mkdir(parents=True)
        (folder / "private" / "var").mkdir(parents=True)
        (folder / "var").symlink_to(folder / "private" / "var")
        temporary = folder / "var" / "folders" / "zz"
        temporary /= "z" * max(1, 46 - len(str(temporary)))  # as long as there: 49 bytes with the T
        temporary /= "T"
        temporary.mkdir(parents=True)
        self.syncs = folder / "syncs"
        names = folder / "names.json"
        names.write_text(json.dumps(mac_machine.lacking_names(stubs())), encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
        self.variables = kept | {
            "HOME": str(folder / "Users" / HOME),
            "TMPDIR": str(temporary),
            "TERM": "xterm-256color",
            "COLUMNS": "200",
            "EVAL_CONSOLE_SIM_PACE": "flat",
            "PYTHONPATH": os.pathsep.join(map(str, (STARTUP, ROOT))),
            mac_machine.NAMES: str(names),
            mac_machine.FOLDED: str(folder),
            mac_machine.FULL_SYNCS: str(self.syncs),
        }

    def line(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "console", *map(str, arguments)]

    def run(self, *arguments: object, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        return self.start(self.line(*arguments), code)

    def python(self, program: str) -> str:
        return self.start([sys.executable, "-c", program], 0).stdout

    def start(self, line: list[str], code: int | None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            line, cwd=self.home, env=self.variables, capture_output=True, text=True, timeout=100, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert code is None or done.returncode == code, (line, done.returncode, done.stdout, done.stderr)
        return done

    @property
    def runs(self) -> list[RunFolder]:
        return list_runs(self.home / "runs")


def stubs() -> Path:
    spec = importlib.util.find_spec("basedpyright")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "dist" / "typeshed-fallback" / "stdlib"


@pytest.fixture
def mac() -> Iterator[Mac]:
    with tempfile.TemporaryDirectory(prefix="mac", dir="/tmp") as folder:  # short, as /var/folders is
        yield Mac(Path(folder))


def test_everything_in_the_list_is_taken_away(mac: Mac) -> None:
    """In the process that starts, and in the confined ones that ignore its path."""
    seen = json.loads(mac.python(LOOK))
    assert seen["missing"] == []
    assert seen["platform"] == ["darwin", "Darwin", "arm64"]
    assert seen["limit"] == [256, "refused"]
    assert seen["proc"] == ["FileNotFoundError"] * 3
    assert seen["socket"] == ["AF_UNIX path too long", "No such file or directory"]
    assert seen["libc"] == [False, -1]
    assert seen["names"] == [[unicodedata.normalize("NFD", "Müll.txt")], True, True, "FileExistsError"]
    assert seen["worker"] == "darwin"


LOOK = """
import contextlib, ctypes, importlib, json, os, platform, resource, socket, subprocess, sys, pathlib
lacking = json.load(open(os.environ["EVAL_CONSOLE_MAC_NAMES"]))
assert {"fdatasync", "O_PATH", "sched_getaffinity", "memfd_create", "pidfd_open", "pipe2"} <= set(lacking["os"])
assert {"epoll"} <= set(lacking["select"]) and {"SO_PEERCRED"} <= set(lacking["socket"])
def why(do):
    try: do()
    except (OSError, ValueError) as error: return error
with contextlib.suppress(ValueError): resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(7)[1]))
os.mkdir("names"); open("names/Müll.txt", "w").close()
unix = socket.socket(socket.AF_UNIX)
script = pathlib.Path("worker.py"); script.write_text("import sys; print(sys.platform)")
print(json.dumps({
    "missing": [f"{m}.{n}" for m, names in lacking.items() for n in names if hasattr(importlib.import_module(m), n)],
    "platform": [sys.platform, platform.system(), platform.machine()],
    "limit": [resource.getrlimit(resource.RLIMIT_NOFILE)[0],
              "refused" if why(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))) else ""],
    "proc": [type(why(do)).__name__ for do in (lambda: open("/proc/cpuinfo"), lambda: os.listdir("/proc/self/fd"),
                                               lambda: os.stat("/sys"))],
    "socket": [str(why(lambda: unix.bind("x" * 104))), why(lambda: unix.bind("\\0abstract")).strerror],
    "libc": [hasattr(ctypes.CDLL(None), "prctl"), ctypes.CDLL(None).syscall(39)],
    "names": [os.listdir("names"), os.path.exists("NAMES/MÜLL.TXT"),
              pathlib.Path("names/mu\u0308ll.txt").is_file(), type(why(lambda: os.mkdir("Names"))).__name__],
    "worker": subprocess.run([sys.executable, "-s", "-S", "-B", "-P", str(script)],
                             capture_output=True, text=True, env={}).stdout.strip(),
}))
"""


def test_a_run_is_played_and_shown(mac: Mac) -> None:
    """The shortest of all: what failed on every Mac was the first sync."""
    mac.run("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--quiet")
    assert mac.syncs.read_text().count("\n") in range(4, 16)
    assert "completed" in mac.run("runs").stdout
    mac.run("show", "latest")
    doctor = mac.run("doctor", "--offline", code=None)
    assert "256 at once" in doctor.stdout
    assert "confinement: files ✘ net ✘ processes ✘" in doctor.stdout
    assert doctor.returncode in (0, 2)


def test_code_that_cannot_be_confined_is_refused_with_the_option(mac: Mac) -> None:
    refused = mac.run("run", "-m", "sim/careful", "-s", "cave-starter", "-n", "1", code=2)
    assert "the model's code can reach files, network, processes of this machine" in refused.stderr
    assert "--option i_trust_this_model=true" in refused.stderr


def test_results_of_models_whose_names_differ_in_case_stay_apart(mac: Mac) -> None:
    written = json.loads(mac.python(TWO_MODELS))
    assert [texts for texts, _ in written.values()] == [["GPT/4"], ["gpt/4"], ["Zoë"]]
    assert written["GPT/4"][1] == "GPT_4", "the official name, unless it is taken"


TWO_MODELS = """
import json, pathlib
from console.benchmarks.bfcl.files.layout import model_folder, read_lines, result_path, write_lines
root, models = pathlib.Path("result"), ("GPT/4", "gpt/4", "Zoë")
for _ in range(2):
    for model in models:
        path = result_path(root, model_folder(root, model), "simple_python")
        write_lines(path, [{"id": "simple_python_0", "result": model}], ascii_only=True)
folders = {model: model_folder(root, model) for model in models}
print(json.dumps({m: [[x["result"] for x in read_lines(result_path(root, f, "simple_python"))], f]
                  for m, f in folders.items()}))
assert len(list(root.iterdir())) == 3
"""


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_is_played_reviewed_exported_and_written_as_a_site(mac: Mac, suite: str) -> None:
    mac.run("run", "-m", "sim/careful", "-s", suite, "-c", "8", *SUITES[suite])
    [run] = mac.runs
    assert run.summary().state == "completed"
    assert run.summary().tally.broken == 0
    assert mac.run("show", run.name, "--json").stdout
    first = next(record for record in run.reader().iter_all() if isinstance(record, Finished))
    assert first.key.case in mac.run("show", f"{run.name}#{first.key.case}").stdout
    mac.run("failures", "latest", code=None)
    for form in ("csv", "json", "html", "markdown"):
        mac.run("export", "--format", form, "-o", f"Ergebnisse.{form}")
    mac.run("export", "--format", "site", "-o", "Übersicht")
    mac.run("export", "--format", "site", "-o", "ÜBERSICHT")  # the same folder there, which is replaced
    sites = [path for path in mac.home.iterdir() if (path / "index.html").is_file()]
    assert [path.name for path in sites] == [unicodedata.normalize("NFD", "ÜBERSICHT")]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_a_run_that_is_killed_anywhere_is_resumed(mac: Mac, suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in mac.variables.items():
        monkeypatch.setenv(name, value)
    cases = [["SIGKILL", "half asked", 2], ["SIGKILL", "sync", 1], ["SIGTERM", "mid stream", 3]]
    done = run_module("killed_suite_runs", mac.home, suite, json.dumps(cases), timeout_s=100)
    assert done.returncode == 0, done.stderr
    told: list[Any] = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    assert [it for it in told if not (it["sent"] and it["complete"] and it["equal"] and it["once"])] == []
    assert len(told) == len(cases)


@pytest.mark.slow
def test_a_run_in_the_background_is_watched_to_its_end(mac: Mac) -> None:
    mac.variables.pop("EVAL_CONSOLE_SIM_PACE")
    mac.run("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "2", "-c", "1", "--detach")
    [run] = mac.runs
    watching = subprocess.Popen(
        mac.line("watch", run.name), cwd=mac.home, env=mac.variables, stderr=subprocess.PIPE, text=True
    )
    _, said = watching.communicate(timeout=100)
    assert watching.returncode == 0, said
    assert run.summary().state == "completed"


@pytest.mark.slow
def test_the_app_opens_a_run_in_review(mac: Mac) -> None:
    mac.run("run", "-m", "sim/hasty", "-s", "aidan-starter", "-n", "3", "--quiet")
    [run] = mac.runs
    terminal = PseudoTerminal(["sh", "-c", f'cd "{mac.home}" && exec "$@"', "sh", *mac.line("review", run.name)],
                              (140, 40), mac.variables)  # fmt: skip
    try:
        terminal.read_until(b"asked again, with")  # in the conversation of the first failure
        assert b"^[[" not in terminal.output, "the app draws on the terminal itself"
        terminal.send(b"\x11")
        assert terminal.wait() == 0
    finally:
        terminal.close()


@pytest.mark.slow
def test_two_engines_share_the_limits_of_an_endpoint(mac: Mac) -> None:
    most = 3

    def answer(request: dict[str, object]) -> Scripted:
        scripted = say_ok(request)
        scripted.latency_s = 0.1
        return scripted

    line = ("run", "-m", "served", "-s", "bfcl-starter", "--category", "simple_python", "-r", "4", "-c", "8", "--quiet")
    variables = mac.variables | {"SERVED_KEY": "sk-served-0123456789"}
    with OpenAIServer(answer) as server, home_of(mac.home, server.base_url, f"concurrency = {most}"):
        engines, folders = list[Playing](), set[Path]()
        for _ in range(2):
            engines.append(Playing(mac.home, *line, **variables))
            folders.add(engines[-1].folder.path)  # there before the other starts
        for engine in engines:
            assert engine.wait()[0] in (0, 3), engine.said
        assert len(folders) == 2
        assert server.most_in_flight == most
