"""Downloads the official AidanBench questions and wording: three pinned source files, parsed and never run.

The questions and most of the wording come from the original program, the follow-up of the growing chat from the
environment of verifiers. Everything is checked against pinned digests. Neither project states a license for these
texts, so they are written only to the user's data folder.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from console.benchmarks.aidanbench.conversation import wording
from console.benchmarks.aidanbench.conversation.prompts import (
    ENVIRONMENT,
    ORIGINAL,
    coherence_prompt,
    first_prompt,
    followup_prompt,
    similarity_prompt,
)
from console.benchmarks.aidanbench.conversation.wording import OURS, Wording
from console.benchmarks.aidanbench.data import dataset
from console.benchmarks.aidanbench.data.dataset import question_digest
from console.benchmarks.aidanbench.data.source import Source
from console.core.fault import UsageError
from console.suites.archive import tree_sha256
from console.suites.pull import Pin, Pull, fetch_file, write_suite_toml

NAME = "aidanbench"
REVISION = "a6bb3253ff630c82e7adbc81ce7bc7184c5bd881"
"""Commit of the original program, against which our rules are verified."""
ENVIRONMENT_REVISION = "65ab468d9e6bd705a0b63d28b996291a2fad4c61"
PROMPTS, QUESTIONS = "benchmark/prompts.py", "benchmark/question_list.py"
ENVIRONMENT_SOURCE = "environments/aidanbench/aidanbench.py"
QUESTION_DIGEST = "ab8966173af7b56a"
"""Digest of the 63 official questions in order."""

_HOST = "https://raw.githubusercontent.com"
_ORIGINAL_FILES = f"{_HOST}/aidanmclaughlin/AidanBench/{REVISION}"
_ENVIRONMENT_FILES = f"{_HOST}/PrimeIntellect-ai/verifiers/{ENVIRONMENT_REVISION}"
_HINT = (
    "Check the network, or get the AidanBench repository elsewhere and give its folder with --from PATH "
    "(if it also contains environments/aidanbench of verifiers, the environment's wording is read too)."
)
_SAMPLE = "What is a cause of World War 1?"
_DIGESTS = {
    "first": "e96b3727b97f02a2",
    "followup_original": "28e1a6cda895ac85",
    "coherence": "d7bbec31c2da544f",
    "similarity": "87766ae545601eb0",
    "followup_environment": "6877226b1a5025d6",
}
"""First 16 hex digits of the SHA-256 of each official prompt, filled with known texts."""


def pull(request: Pull) -> Path:
    """Get the official questions and wording, by download or from a checkout, and return their folder.

    A checkout of the original program may also contain the environment's source.

    Raises:
        UsageError: no network, a folder that is not a checkout, texts that differ from the pinned ones, unreadable
            sources, or an unwritable folder.
    """

    def fill(new_folder: Path, scratch: Path) -> None:
        _fill(new_folder, request.from_path or download(scratch / "sources", request.notify), request)

    return request.into(NAME, fill)


def download(into: Path, notify: Callable[[str], object]) -> Path:
    """Download the pinned source files; the environment's may be missing.

    Raises:
        UsageError: the original program's files are unavailable.
    """
    for name in (PROMPTS, QUESTIONS):
        notify(f"fetching {name} from AidanBench {REVISION[:7]}")
        _fetch(f"{_ORIGINAL_FILES}/{name}", into / name)
    try:
        _fetch(f"{_ENVIRONMENT_FILES}/{ENVIRONMENT_SOURCE}", into / ENVIRONMENT_SOURCE)
    except UsageError as error:
        notify(f"the environment's own wording could not be fetched ({error.message})")
    return into


def read_official_wording(folder: Path, notify: Callable[[str], object]) -> Wording:
    """Read the wording from a folder of sources, and name it after the matching digests.

    Raises:
        UsageError: a source is missing or unreadable.
    """
    prompts = Source(_find(folder, PROMPTS))
    first, original = prompts.prompt("gen_answer", "base_prompt")
    coherence, _ = prompts.prompt("judge_answer", "prompt")
    similarity, _ = prompts.prompt("judge_similarity", "prompt")
    environment, origin = _environment_followup(folder, notify)
    official_wording = Wording("official", first, environment, original, coherence, similarity, origin)
    changed = changed_texts(official_wording)
    if changed - {"followup_environment"}:
        return Wording("changed", first, environment, original, coherence, similarity, origin or "changed")
    if "followup_environment" in changed and not origin:
        return Wording("official", first, environment, original, coherence, similarity, "changed")
    return official_wording


def changed_texts(official_wording: Wording) -> set[str]:
    """Return the names of texts whose filled form differs from the official digest."""
    return {name for name, digest in _digests(official_wording).items() if digest != _DIGESTS[name]}


def _digests(official_wording: Wording) -> dict[str, str]:
    previous = ["one"]
    filled = {
        "first": first_prompt(official_wording, _SAMPLE),
        "followup_original": followup_prompt(official_wording, ORIGINAL, _SAMPLE, previous),
        "followup_environment": followup_prompt(official_wording, ENVIRONMENT, _SAMPLE, previous),
        "coherence": coherence_prompt(official_wording, _SAMPLE, "Alliances"),
        "similarity": similarity_prompt(official_wording, _SAMPLE, "Alliances", "Militarism"),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in filled.items()}


def _environment_followup(folder: Path, notify: Callable[[str], object]) -> tuple[str, str]:
    """Return the environment's follow-up and, if it is a substitute, its origin."""
    place = next((path for path in _possible_paths(folder, ENVIRONMENT_SOURCE) if path.is_file()), None)
    if place is None:
        notify("the environment's source is missing: its follow-up uses our own wording, and runs are not comparable")
        return OURS.followup_environment, OURS.name
    return Source(place).prompt("_build_prompt", "base_prompt")[1], ""


def _fill(new_folder: Path, sources: Path, request: Pull) -> None:
    questions = Source(_find(sources, QUESTIONS)).texts("questions")
    official_wording = read_official_wording(sources, request.notify)
    digest = question_digest(questions)
    is_official = request.is_pinned([Pin("the questions", digest, QUESTION_DIGEST), *_pins(official_wording)])
    lines = [json.dumps({"question": question}, ensure_ascii=False) for question in questions]
    (new_folder / dataset.FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (new_folder / wording.FILE).write_text(
        json.dumps(asdict(official_wording), ensure_ascii=False, indent=1), encoding="utf-8"
    )
    comparable = is_official and official_wording.name == "official"
    source = {
        "name": "AidanBench",
        "version": REVISION if comparable else "unknown",
        "digest": tree_sha256(new_folder),
        "questions": digest,
        "wording": official_wording.name,
        "wording_digest": official_wording.digest,
        "licence": "none stated",
    }
    title = "AidanBench" if comparable else "AidanBench (changed files)"
    write_suite_toml(new_folder, NAME, title, source, comparable=comparable)
    dataset.read_folder(new_folder, NAME)
    wording.read_wording(new_folder)


def _pins(official_wording: Wording) -> list[Pin]:
    """Return the expected digests; our own substitute for a missing follow-up is not checked."""
    ours = {"followup_environment"} if official_wording.environment_origin == OURS.name else set[str]()
    digests = _digests(official_wording)
    return [Pin(f"prompt {name}", digests[name], _DIGESTS[name]) for name in _DIGESTS if name not in ours]


def _find(folder: Path, name: str) -> Path:
    for path in _possible_paths(folder, name):
        if path.is_file():
            return path
    raise UsageError(f"contains no {name}", where=str(folder), hint="Name the folder of an AidanBench checkout.")


def _possible_paths(folder: Path, name: str) -> list[Path]:
    """Return the possible paths of a source: in the folder, in a checkout below it, or by its bare name."""
    return [folder / name, *sorted(folder.glob(f"*/{name}")), folder / Path(name).name]


def _fetch(address: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(fetch_file(address, _HINT))
