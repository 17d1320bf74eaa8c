"""Manifests and summaries of earlier versions: the only place that fills in missing or renamed fields.

Earlier versions did not record the format of a run's suite. It is inferred from options and modes that every run of a
format has in its manifest, else from the suite's name, else from the first case in the journal.
"""

import re
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import msgspec

from console.core.experiment import OPENING, Change, Experiment
from console.core.json_text import decode_as, read_json
from console.core.record import Started
from console.core.run import Manifest, Summary
from console.store.journal import JournalReader
from console.store.journal_line import as_json

_FORMATS = ("bfcl", "aidanbench", "cavebench")
"""Formats that existed before manifests recorded them."""
_OPTIONS = {"thresholds": "aidanbench", "reward_mode": "aidanbench", "max_history": "cavebench", "web_search": "bfcl"}
"""Options that all runs of one format have, and only those."""
_MODES = {"cave": "cavebench", "json": "cavebench"}
_NAMES = {"bfcl": "bfcl", "aidan": "aidanbench", "cave": "cavebench"}
_CASE_FIELDS = {"question_set": "aidanbench", "scenario": "cavebench", "function": "bfcl"}
"""A field that the cases of each format have."""
_HEAD_BYTES = 1 << 14
"""Bytes of a journal searched for its first case."""


class _OldScale(msgspec.Struct):
    headline_scale: tuple[float, float] | None = None


def read_manifest(data: bytes, journal: Path) -> Manifest:
    """Convert a manifest of any version to this version.

    Raises:
        ValueError: not JSON, or not a manifest.
    """
    manifest = _with_scale(_with_experiment(decode_as(data, Manifest), data), data)
    if manifest.format:
        return manifest
    return msgspec.structs.replace(manifest, format=_format_of(manifest, journal), setting=_setting_of(manifest, data))


def read_summary(data: bytes) -> Summary:
    """Convert a summary of any version to this version, including its checksum.

    Raises:
        ValueError: not JSON, not a summary, or an old one whose checksum does not match.
    """
    summary = decode_as(data, Summary)
    if b'"prepared":' not in data or not summary.checksum:
        return summary
    written = data.rstrip().removesuffix(b',"checksum":%d}' % summary.checksum) + b"}"
    if crc32(written) != summary.checksum:
        raise ValueError("is not as it was written")
    fields = cast("dict[str, Any]", read_json(data))
    summary.tally.setup = fields["tally"].get("prepared", 0)
    for name, tally in summary.categories.items():
        tally.setup = fields["categories"][name].get("prepared", 0)
    summary.checksum = 0
    summary.checksum = crc32(as_json(summary))
    return summary


def _with_experiment(manifest: Manifest, data: bytes) -> Manifest:
    """Return a manifest in which an opening that a reader had edited is stored as the change of an experiment."""
    if manifest.experiment is not None or not manifest.parent or b'"edit":' not in data:
        return manifest
    edit = cast("dict[str, Any]", read_json(data)["setting"]).get("edit")
    if not isinstance(edit, dict) or not edit.keys() >= {"before", "after"}:
        return manifest
    change = Change(OPENING, after=edit["after"], before=edit["before"])
    return msgspec.structs.replace(manifest, experiment=Experiment(((change,),)))


def _with_scale(manifest: Manifest, data: bytes) -> Manifest:
    """Return the manifest with the scale of its headline, which was once the only scale in it, among its scales."""
    scale = None if manifest.scales else decode_as(data, _OldScale).headline_scale
    return manifest if scale is None else msgspec.structs.replace(manifest, scales={manifest.headline: scale})


def _setting_of(manifest: Manifest, data: bytes) -> Any:
    """Return the setting with a former field of one benchmark moved to the suite's extras."""
    old_setting = cast("dict[str, Any]", read_json(data).get("setting", {}))
    if "underscore_to_dot" not in old_setting:
        return manifest.setting
    extras = {"underscore_to_dot": old_setting["underscore_to_dot"], **manifest.setting.extras}
    return msgspec.structs.replace(manifest.setting, extras=extras)


def _format_of(manifest: Manifest, journal: Path) -> str:
    by_option = next((_OPTIONS[name] for name in manifest.setting.options if name in _OPTIONS), "")
    by_name = next((form for part, form in _NAMES.items() if re.match(rf"{part}\b|{part}_", manifest.suite)), "")
    exact = manifest.suite if manifest.suite in _FORMATS else ""
    return by_option or _MODES.get(manifest.setting.mode, "") or exact or by_name or _format_of_first_case(journal)


def _format_of_first_case(journal: Path) -> str:
    started = next((record for record in JournalReader(journal).read_new(_HEAD_BYTES) if type(record) is Started), None)
    data = started.case.data if started else {}
    return next((form for field, form in _CASE_FIELDS.items() if field in data), "")
