"""Journals of which every line is sound, and whose free members hold whatever somebody put there."""

import json
import random
from zlib import crc32

from support.made_up_json import change

from console.store.runs import RunFolder

FREE = ("messages", "tools", "params", "output", "request", "result", "data")
"""Members of a record that hold whatever a suite or a model put there."""


def craft(run: RunFolder, rng: random.Random) -> None:
    """Change what records hold, and give every line the checksum it needs."""
    lines: list[bytes] = []
    for line in run.journal_path.read_bytes().splitlines():
        record = {name: value for name, value in json.loads(line).items() if name != "crc"}
        for name in FREE:
            if name in record and rng.random() < 0.5:
                record[name] = change(record[name], rng)
        for name, part in (("case", "data"), ("verdict", "detail"), ("verdict", "scores")):
            if name in record and rng.random() < 0.5:
                record[name][part] = change(record[name].get(part, {}), rng)
        body = json.dumps(record).replace("NaN", "null").replace("Infinity", "1").encode()[:-1]
        lines.append(body + b',"crc":"%08x"}\n' % crc32(body))
    run.journal_path.write_bytes(b"".join(lines))
    for path in (run.summary_path, run.index_path):
        path.unlink(missing_ok=True)
