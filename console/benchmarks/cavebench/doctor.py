"""The `doctor` check of cave-bench: whether model-written code can be confined and run here."""

import asyncio

from console.cli.doctor_checks import BAD, GOOD, WARNING, Finding
from console.config.extras import install_command
from console.core.fault import UsageError, reason_of

_SANDBOX_HINT = (
    "Suites that run code written by the model need Linux with Landlock or user namespaces, or macOS with sandbox-exec."
)


def check_sandbox() -> list[Finding]:
    """Check the confinement of model-written code on this machine by playing a real turn."""
    from console.benchmarks.cavebench.conversation.trial import play_trial
    from console.sandbox.level import UNSEEN
    from console.sandbox.probe import reached_level

    try:
        trial = asyncio.run(play_trial())
        level = trial.level or reached_level()
    except (UsageError, OSError) as error:
        text = f"no worker could be started: {reason_of(error)}"
        return [Finding("sandbox", "confinement", BAD, text, _SANDBOX_HINT)]
    missing = f"Missing: {', '.join(level.missing)}." if level.missing else UNSEEN if level.seatbelt else ""
    text = level.text.removeprefix("sandbox: ")
    confinement = Finding("sandbox", "confinement", GOOD if level.is_enough else WARNING, text, missing)
    name = f"{trial.mode} turn"
    if trial.failure:
        return [confinement, Finding("sandbox", name, BAD, trial.failure, trial.hint or _SANDBOX_HINT)]
    text = f"run and graded in {trial.seconds:.1f} s"
    hint = "" if trial.mode == "cave" else f"Cave mode needs the extra: {install_command('cave')}"
    return [confinement, Finding("sandbox", name, GOOD, text, hint)]
