"""A suite of look-ups in the BFCL form, as many as a test wants, and a server that knows the right answers."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server.openai_server import OpenAIServer, Scripted, last_text

from console.core.outcome import Verdict
from console.core.record import AnyRecord, Finished
from console.store.journal import JournalReader

NUMBER = re.compile(r"number (\d+)")


def write_suite(folder: Path, count: int = 12, text: str = "") -> Path:
    """Write the suite `lookups` below `folder` and return the folder for `--data`."""
    suite = folder / "lookups"
    (suite / "possible_answer").mkdir(parents=True)
    (suite / "suite.toml").write_text(
        'format = "bfcl"\ntitle = "Look-ups"\ncomparable = false\ndata = "."\n'
        '[source]\nname = "lookups"\nversion = "1"\nlicence = "Apache-2.0"\n'
    )
    write_rows(suite, [(f"simple_python_{n}", f"Look up number {n}.{text}", n) for n in range(count)])
    return folder


def write_rows(suite: Path, rows: list[tuple[str, str, int]]) -> None:
    """Write entries (id, question, number) and what is right."""
    function = {
        "name": "look_up",
        "description": "Looks a number up.",
        "parameters": {
            "type": "dict",
            "properties": {"number": {"type": "integer", "description": "The number."}},
            "required": ["number"],
        },
    }
    asked = [
        {"id": name, "question": [[{"role": "user", "content": text}]], "function": [function]}
        for name, text, _ in rows
    ]
    right = [{"id": name, "ground_truth": [{"look_up": {"number": [number]}}]} for name, _, number in rows]
    for path, lines in ((suite, asked), (suite / "possible_answer", right)):
        (path / "BFCL_v4_simple_python.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def write_models(folder: Path, server: OpenAIServer | str, limits: str = "", more: str = "") -> Path:
    """Write a models.toml with the model `m` on a server and return its path."""
    url = server if isinstance(server, str) else server.base_url
    path = folder / "models.toml"
    path.write_text(
        f'[m]\nmodel_id = "test-model"\nbase_url = "{url}"\nprice = {{ in = 10.0, out = 10.0 }}\n'
        f"limits = {{ backoff_s = 0.01, timeout_s = 30, {limits} }}\n{more}\n"
    )
    return path


def right(request: dict[str, Any], **more: Any) -> Scripted:
    """The right call for a question, as text."""
    return Scripted(f"[look_up(number={number_of(request)})]", **more)


def number_of(request: dict[str, Any]) -> int:
    """Which number a question is about; -1: none."""
    found = NUMBER.search(last_text(request))
    return int(found[1]) if found else -1


def results(run: Path) -> dict[str, tuple[Verdict, Any, int]]:
    """Verdict, output and calls of every case; a case that was finished twice is an error."""
    ended = [record for record in records(run) if isinstance(record, Finished)]
    assert len({record.key for record in ended}) == len(ended), "a case was finished twice"
    return {record.key.case: (record.verdict, record.output, record.calls) for record in ended}


def records(run: Path) -> list[AnyRecord]:
    """The journal of a run folder, without any damage."""
    reader = JournalReader(run / "journal.jsonl")
    found = reader.read_new()
    assert reader.damages == []
    assert reader.offset == reader.path.stat().st_size, "the last line is torn"
    return found


def only_run(runs: Path) -> Path:
    """The one run of a runs folder."""
    [run] = [path.parent for path in runs.glob("*/run.json")]
    return run


def until(condition: Callable[[], Any], seconds: float = 100.0) -> Any:
    """Wait for what another process does, which has no event here, and return it."""
    ends = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.01)
    return found
