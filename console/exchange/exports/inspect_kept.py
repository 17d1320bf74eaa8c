"""Export of an imported Inspect log: the original log, with the annotations of readers if there are any.

Annotations are in the samples' metadata, as `eval_console`, because Inspect has no place for them.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from console.core.case import Slot
from console.exchange.document import AnnotationFields
from console.exchange.imports.inspect_log import EvalLog
from console.exchange.imports.kept_log import add_member, keep_eval
from console.exchange.imports.log import table, text
from console.exchange.imports.zip_members import BadMember, ZipMembers

_ANNOTATIONS = "eval_console"
_METADATA = "metadata.json"
"""Member with the metadata of a sample that is stored in parts."""


def kept_log(path: Path, annotations: Mapping[Slot, AnnotationFields]) -> bytes:
    """Return the log as the bytes of a zip file.

    Args:
        path: the `.eval` that was imported.
        annotations: annotations of the run's rollouts.

    Raises:
        UsageError: it cannot be read.
    """
    out = io.BytesIO()
    if not annotations:
        keep_eval(path, out)
        return out.getvalue()
    annotated = _members(EvalLog(path), annotations)
    members = ZipMembers(path)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members.by_name:
            try:
                data = members.read(name)
            except BadMember:
                continue
            add_member(archive, name, _with(name, data, annotated.pop(name)) if name in annotated else data)
        for name, fields in annotated.items():  # parts that the log does not have
            add_member(archive, name, _with(name, b"{}", fields))
    return out.getvalue()


def _members(log: EvalLog, annotations: Mapping[Slot, AnnotationFields]) -> dict[str, AnnotationFields]:
    """Return the annotations by the member that contains the sample; duplicate ids were numbered by the import."""
    annotated: dict[str, AnnotationFields] = {}
    counts: dict[Slot, int] = {}
    for summary in log.summaries():
        slot = (text(summary.id), summary.rollout)
        number = counts[slot] = counts.get(slot, 0) + 1
        fields = annotations.get(slot if number == 1 else (f"{slot[0]}~{number}", slot[1]))
        if fields and summary.member:
            folder, _, shell = summary.member.rpartition("/")
            annotated[f"{folder}/{_METADATA}" if summary.is_in_parts else f"{folder}/{shell}"] = fields
    return annotated


def _with(name: str, data: bytes, fields: AnnotationFields) -> bytes:
    """Return a sample, or the part with its metadata, with annotations added; other values are unchanged."""
    try:
        record: dict[str, Any] = table(json.loads(data))
    except (ValueError, RecursionError):
        return data
    if name.endswith(f"/{_METADATA}"):
        return json.dumps(record | {_ANNOTATIONS: dict(fields)}).encode()
    metadata = {**table(record.get("metadata")), _ANNOTATIONS: dict(fields)}
    return json.dumps(record | {"metadata": metadata}).encode()
