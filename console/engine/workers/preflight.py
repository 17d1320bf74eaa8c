"""Checks before the first call that every worker has the same versions and data as the engine."""

import hashlib
from collections.abc import Iterable, Mapping

from console.config.model import ModelConfig
from console.config.secrets import resolve_key, secrets_of
from console.core.case import Case
from console.core.fault import UsageError
from console.engine.workers.messages import WorkerFacts
from console.store.journal_line import as_json


def digest_of(cases: Iterable[Case]) -> str:
    """Return a digest of the complete cases: data and dependencies, independent of the order of play."""
    digest = hashlib.sha256()
    for case in sorted(cases, key=lambda case: case.id):
        digest.update(as_json(case))
    return digest.hexdigest()[:24]


def check_models(models: Mapping[str, ModelConfig]) -> None:
    """Reject models whose secrets would have to be sent to the workers.

    Raises:
        UsageError: a key, header or parameter of models.toml is secret.
    """
    for model in models.values():
        of_environment = None if model.api_key else resolve_key(model)
        if any(secret != of_environment for secret in secrets_of(model)):
            raise UsageError(
                f"a secret of {model.name} is written in models.toml and would be sent through the cluster",
                where="models.toml",
                hint="Use api_key_env, and set the variable on every node.",
            )


def compare(ours: WorkerFacts, theirs: WorkerFacts) -> None:
    """Reject a worker that differs.

    Raises:
        UsageError: the worker differs; the message names the worker, the difference and a remedy.
    """
    if theirs.missing:
        message, _, hint = theirs.missing.partition("\n")
        raise UsageError(message, where=f"worker {theirs.name}", hint=hint.strip())
    for part, here, there, hint in (
        *_versions(ours.versions, theirs.versions),
        ("data", _text(ours.dataset), _text(theirs.dataset), "Pull the same data there, or use a shared folder "
         "(--data)."),
        ("data", ours.cases, theirs.cases, "The files of the suite differ: copy them from this machine."),
        ("weights", _text(ours.weights), _text(theirs.weights), "Run `eval-console pull minilm` there."),
        ("sandbox", ours.sandbox, theirs.sandbox or ours.sandbox, "Give all nodes the same kernel and rights, or "
         "exclude that node."),
    ):  # fmt: skip
        if here != there:
            raise UsageError(f"{part} differs from the engine's: {there}, not {here}", where=f"worker {theirs.name}",
                             hint=hint)  # fmt: skip


def needs_data(ours: WorkerFacts, theirs: WorkerFacts) -> bool:
    """Return whether a worker could play if it had the engine's data."""
    if any(here != there for _, here, there, _ in _versions(ours.versions, theirs.versions)):
        return False
    if theirs.missing:
        return theirs.lacks_data
    return (ours.dataset, ours.cases, ours.weights) != (theirs.dataset, theirs.cases, theirs.weights)


def _versions(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterable[tuple[str, str, str, str]]:
    for name in sorted(ours.keys() | theirs.keys()):
        here, there = ours.get(name, "none"), theirs.get(name, "none")
        yield f"version of {name}", here, there, f"Install {name} {here} on that node."


def _text(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(values.items()))
