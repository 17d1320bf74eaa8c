"""Memory snapshots in the official layout, computed from the result files of prerequisites.

<root>/<model>/agentic/memory/<backend>/memory_snapshot/<scenario>_final.json
<root>/<model>/agentic/memory/<backend>/memory_snapshot/prereq_checkpoints/<entry id>.json
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from console.benchmarks.bfcl.conversation.memory.backend import memory_after
from console.benchmarks.bfcl.files.layout import read_lines, result_path, write_text
from console.benchmarks.bfcl.files.results import is_error
from console.benchmarks.bfcl.rules.categories import MEMORY, sort_key


def write_snapshots(root: Path, model: str, family: str) -> list[Path]:
    """Write all snapshots from a model's result files, and return the files.

    Failed prerequisites change nothing, as in the official code.

    Args:
        root: the result folder.
        model: the model's name.
        family: the decode family of the results.

    Raises:
        UsageError: invalid result file, or unwritable snapshot.
    """
    return [
        path for category in MEMORY for path in _write_backend(result_path(root, model, f"{category}_prereq"), family)
    ]


def _write_backend(results: Path, family: str) -> list[Path]:
    if not results.exists():
        return []
    outputs = {str(line.get("id")): line.get("result") for line in read_lines(results) if not is_error(line)}
    chains: dict[str, list[str]] = defaultdict(list)
    for entry_id in sorted(outputs, key=sort_key):
        chains[_scenario(entry_id)].append(entry_id)
    folder = results.parent / "memory_snapshot"
    paths: list[Path] = []
    for scenario, chain in chains.items():
        for count, entry_id in enumerate(chain, 1):
            snapshot = memory_after(chain[:count], outputs.get, family)
            paths.append(_write(folder / "prereq_checkpoints" / f"{entry_id}.json", snapshot))
            if count == len(chain):
                paths.append(_write(folder / f"{scenario}_final.json", snapshot))
    return paths


def _write(path: Path, snapshot: dict[str, Any]) -> Path:
    write_text(path, json.dumps(snapshot, indent=4))
    return path


def _scenario(entry_id: str) -> str:
    """Return the scenario in an id such as `memory_kv_prereq_3-student-3`, or `unknown` if it is not alphabetic."""
    name = entry_id.split("-")[1] if entry_id.count("-") == 2 else ""
    return name if name.isalpha() else "unknown"
