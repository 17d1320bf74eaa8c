"""Real models, a suite and runs in a folder of their own, for the app to show."""

from dataclasses import dataclass, field
from pathlib import Path

from console.config.paths import WorkspacePaths
from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.runs import RunFolder, create_run

AT = 1_737_120_000.0
"""17 January 2025, 13:20 UTC: far enough back that lists always show it the same way."""
MODELS = """\
[gpt-x]
model_id = "gpt-x-1"
api_key_env = "DESK_KEY"
price = { in = 1.25, out = 10.0 }

[claude-y]
model_id = "claude-y-1"
api_key_env = "DESK_KEY_THAT_IS_NOT_SET"
price = { in = 3.0, out = 15.0 }
"""
TWO_MODELS = """\
[gpt-x]
model_id = "gpt-x-1"
api_key_env = "DESK_KEY"
price = { in = 1.25, out = 10.0 }

[free-z]
model_id = "z"
base_url = "http://127.0.0.1:1/v1"
"""
SUITE = """\
format = "aidanbench"
title = "Small talk, six questions"
[source]
name = "desk"
version = "1"
digest = "0"
licence = "Apache-2.0"
"""
QUESTIONS = (
    ("what-1", "what", "What could a brick be good for?"),
    ("what-2", "what", "What would a city without clocks be like?"),
    ("what-3", "what", "What makes a good bench?"),
    ("why-1", "why", "Why do people hum?"),
    ("why-2", "why", "Why are some chairs never used?"),
    ("why-3", "why", "Why do we keep old keys?"),
)


@dataclass
class SampleWorkspace:
    """Folders for one test."""

    root: Path
    paths: WorkspacePaths = field(init=False)

    def __post_init__(self) -> None:
        self.paths = WorkspacePaths(self.root / "models.toml", self.root / "data", self.root / "runs")
        (self.root / "runs").mkdir()
        self.write_models(MODELS)
        self.write_suite("small-talk")

    def write_models(self, text: str) -> None:
        (self.root / "models.toml").write_text(text, encoding="utf-8")

    def write_suite(self, name: str, title: str = "Small talk, six questions") -> None:
        folder = self.root / "data" / name
        folder.mkdir(parents=True)
        (folder / "suite.toml").write_text(SUITE.replace("Small talk, six questions", title), encoding="utf-8")
        lines = [f'{{"id": "{id}", "category": "{part}", "question": "{text}"}}\n' for id, part, text in QUESTIONS]
        (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")

    def run(
        self,
        id: str,
        *,
        suite: str = "small-talk",
        model: str = "gpt-x",
        category: str = "what",
        passed: int = 0,
        failed: int = 0,
        broken: int = 0,
        planned: int | None = None,
        reason: str | None = "completed",
        simulated: bool = False,
        cost: float | None = 0.002,
        age_days: float = 0.0,
    ) -> RunFolder:
        """Make a run with so many rollouts of each outcome; without a `reason` its engine died."""
        at = AT - age_days * 86_400
        facts = ModelFacts(name=model, simulated=simulated)
        total = passed + failed + broken
        run = create_run(
            self.root / "runs",
            Manifest(id=id, at=at, suite=suite, model=facts, setting=Setting(), cases=planned or total),
        )
        writer = JournalWriter(run.journal_path)
        writer.append(Opened(at=at, pid=1))
        outcomes = [Outcome.PASSED] * passed + [Outcome.FAILED] * failed + [Outcome.BROKEN] * broken
        for number, outcome in enumerate(outcomes):
            key = Key(f"{category}-{number}")
            reasons = {Outcome.FAILED: "value_error:string", Outcome.BROKEN: "rate_limit"}
            writer.append(Started(at=at + number, key=key, case=Case(key.case, category)))
            verdict = Verdict(outcome, reason=reasons.get(outcome))
            writer.append(
                Finished(
                    at=at + number + 0.5,
                    key=key,
                    verdict=verdict,
                    input_tokens=900,
                    output_tokens=40,
                    cost_usd=cost,
                    calls=1,
                )
            )
        if reason is not None:
            writer.append(Closed(at=at + total, reason=reason))
        writer.close()
        return run

    def usual_runs(self) -> None:
        """Make one run of every kind that a list must show."""
        self.run("2025-01-17T1320-a", passed=96, failed=21, planned=200, reason=None)
        self.run("2025-01-16T0900-b", model="sim/hasty", category="why", passed=9, failed=5, broken=1, simulated=True,
                 cost=0.0, age_days=1)  # fmt: skip
        self.run("2025-01-15T0900-c", passed=50, cost=None, age_days=2)
        damaged = self.root / "runs" / "2025-01-01T0000-z"
        damaged.mkdir()
        (damaged / "run.json").write_text("{", encoding="utf-8")
