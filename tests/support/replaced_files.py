"""What may lie where a file of a run should: in a folder that was copied, unpacked or mounted."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

KINDS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "gone": lambda path: None,
    "cut": lambda path: path.write_bytes(b'{"v":1,"t":"asked"'),
}


def replace(path: Path, kind: str) -> None:
    """Put something else into the place of a file or folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    KINDS[kind](path)
