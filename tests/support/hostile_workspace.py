"""A workspace in which every name that a verb may show attacks the terminal: folders, suites, models, runs, notes …"""

import json
from dataclasses import dataclass
from pathlib import Path

from support.recorded_runs import Recorder, call_reply

from console.core.case import Key
from console.core.chat import Reply, Usage
from console.core.outcome import Outcome
from console.core.record import Noted, Scored, Tried
from console.core.run import ModelFacts
from console.store.notes import Note, Notes
from console.store.run_queue import Queued, RunQueue

ATTACK = "\x1b]52;c;aGk\x07\x9b2J\x1b[8m\u202e\u2066\x7f\r\x08\x85\u200b\x1b]0;owned\x9c"
"""What would write the clipboard, hide, overwrite, reverse and retitle, were it obeyed. It may be a file's name."""


def attack(word: str) -> str:
    """Return a name that begins with a word, so that one can tell which was shown."""
    return f"{word}{ATTACK}{word}"


MODEL, DEAD_MODEL, SUITE, CATEGORY, CASE, PRESET = map(attack, ("model", "dead", "suite", "category", "case", "preset"))


@dataclass(frozen=True)
class HostileWorkspace:
    """Where it is."""

    root: Path
    runs: tuple[str, ...]
    """Names of three runs over the same cases, each with every kind of outcome."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that name its files, as every verb takes them."""
        return (
            *("--models", str(self.root / "models.toml")),
            *("--data", str(self.root / attack("data"))),
            *("--runs", str(self.runs_root)),
        )

    @property
    def rows(self) -> Path:
        """A file whose lines are no records of anything."""
        return self.root / attack("rows")

    @property
    def foreign_results(self) -> Path:
        """A file as cave-bench writes it."""
        return self.root / f"{attack('results')}.json"

    @property
    def presets(self) -> Path:
        """The file with the preset, and with one that holds a mistake."""
        return self.root / attack("presets.toml")

    @property
    def runs_root(self) -> Path:
        return self.root / attack("runs")


def write_workspace(root: Path) -> HostileWorkspace:
    """Write everything below a folder of this name."""
    (root / attack("data")).mkdir(parents=True)
    _write_suite(root / attack("data") / SUITE)
    _write_models(root / "models.toml")
    _write_other_files(root)
    runs_root = root / attack("runs")
    runs = tuple(_write_run(runs_root, attack(f"run{number}"), number) for number in range(3))
    RunQueue(runs_root).add([Queued(name, 0.0) for name in runs])
    broken = runs_root / attack("broken")
    broken.mkdir()
    (broken / "run.json").write_text(f"{{ {json.dumps(ATTACK)}")
    return HostileWorkspace(root, runs)


def _write_suite(folder: Path) -> None:
    folder.mkdir()
    title = json.dumps(attack("title"))
    (folder / "suite.toml").write_text(
        f'format = "aidanbench"\ntitle = {title}\ncomparable = false\n[source]\nname = {title}\nversion = {title}\n'
    )
    questions = [{"id": f"{CASE}{n}", "question": attack("question"), "category": CATEGORY} for n in range(4)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))


def _write_models(path: Path) -> None:
    lines = []
    for name, rest in (
        (MODEL, 'provider = "simulated"\nmodel_id = "hasty"'),
        (
            DEAD_MODEL,
            f'model_id = {json.dumps(attack("id"))}\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "HOSTILE_KEY"',
        ),
        (attack("mistake"), f"model_id = 3\n{json.dumps(attack('key'))} = {json.dumps(attack('value'))}"),
    ):
        lines += [f"[{json.dumps(name)}]", rest]
    path.write_text("\n".join(lines).replace("\x7f", "\\u007f") + "\n")


def _write_other_files(root: Path) -> None:
    place = HostileWorkspace(root, ())
    odd = {attack("key"): attack("value"), "id": attack("id"), "question": attack("question")}
    place.rows.write_text(f"{json.dumps(odd)}\n{json.dumps(attack('text'))}\n{ATTACK}\n", encoding="utf-8")
    call = {"function": attack("tool"), "arguments": {attack("argument"): attack("value")}}
    turn = {"query": attack("query"), "validation_errors": [attack("error")], "actual_calls": [call]}
    scenario = {"conversations": [{"id": attack("conversation"), "turns": [turn]}]}
    place.foreign_results.write_text(json.dumps({attack("scenario"): scenario}))
    preset = f"[{json.dumps(PRESET)}]\nmodels = [{json.dumps(MODEL)}]\nsuites = [{json.dumps(SUITE)}]\nlimit = 1\n"
    mistake = f"[{json.dumps(attack('mistake'))}]\n{json.dumps(attack('key'))} = 1\n"
    place.presets.write_text((preset + mistake).replace("\x7f", "\\u007f"))


def _write_run(root: Path, name: str, number: int) -> str:
    model = ModelFacts(MODEL if number < 2 else attack("other"), model_id=attack("id"), simulated=number == 0)
    recorder = Recorder(root, cases=6, name=name, suite=SUITE, model=model, format="aidanbench",
                        dataset={"name": attack("dataset"), "version": attack("version")})  # fmt: skip
    outcomes = [Outcome.PASSED, Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED, Outcome.FAILED]
    for place, outcome in enumerate(outcomes):
        key = recorder.start(f"{CASE}{place}", CATEGORY, attack("question"))
        question = attack("prompt") + "\n" + attack("second line")
        recorder.write(
            Tried(recorder.tick(), key=key, n=1, kind="server", message=attack("fault"), partial=attack("partial"))
        )
        recorder.ask(key, question, call_reply(attack("tool"), json.dumps({attack("argument"): attack("value")})))
        reply = Reply(attack("answer"), reasoning=attack("thought"), usage=Usage(9, 9), model=attack("served"))
        recorder.ask(key, question, reply, n=2, turn=1)
        recorder.write(Scored(recorder.tick(), key=key, name=attack("score"), value=0.5, threshold=0.1, turn=1))
        recorder.write(Noted(recorder.tick(), key=key, kind="decoded", data={attack("note"): attack("text")}, turn=1))
        outcome = Outcome.PASSED if place == 4 and number else outcome
        recorder.finish(
            key, outcome, "" if outcome is Outcome.PASSED else attack("reason"), attack("subject"),
            messages=[attack("message")], output=[attack("output")], model=attack("served"), cut="length",
        )  # fmt: skip
    recorder.start(f"{CASE}5", CATEGORY, attack("question"))  # interrupted
    folder = recorder.close("halted" if number == 1 else "completed", attack("why"))
    notes = Notes(folder.path)
    for place, kind in enumerate(("tag", "comment", "dispute")):
        notes.add(Note(Key(f"{CASE}{place + 1}"), kind, attack(kind), who=attack("who")))
    return folder.name
