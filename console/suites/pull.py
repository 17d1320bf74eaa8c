"""Download of official data: digest checks and atomic installation for every source.

Only files with the pinned digest are accepted, unless the user passes `--accept-digest`; such data is reported and
never called comparable. A new folder replaces the old one only when complete.
"""

import json
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from console.core.fault import Fault, UsageError, reason_of
from console.llm.transport.network import proxy_of, tls_context

_TIMEOUT_S = 60
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Pin:
    """A downloaded item and its required digest."""

    name: str
    """Description, such as `the files of bfcl-eval==2026.3.23`."""
    digest: str
    """Actual digest in hex."""
    pinned: str
    """Digest in hex of the release that this project's rules are verified against."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A request to download data."""

    root: Path
    """Root folder of pulled data; the source's subfolder is replaced."""
    notify: Callable[[str], object]
    """Callback for progress messages."""
    from_path: Path | None = None
    """Local file or folder to use instead of a download."""
    accepts_digest: bool = False
    """Accept files whose digest differs from the pinned one."""

    def is_pinned(self, pins: Sequence[Pin]) -> bool:
        """Return whether all items match their pinned digests.

        Raises:
            UsageError: an item does not match, and other digests are not accepted; names both digests.
        """
        others = [pin for pin in pins if pin.digest != pin.pinned]
        texts = [f"{pin.name}: sha256 {pin.digest}, pinned is {pin.pinned}" for pin in others]
        if others and not self.accepts_digest:
            raise UsageError(
                "digest mismatch: " + "; ".join(texts),
                where=str(self.from_path or "the download"),
                hint="Nothing was installed. Get the pinned release (retry a corrupt download), or add --accept-digest "
                "to use these files; their results are never called comparable.",
            )
        for text in texts:
            self.notify(f"accepted despite a digest mismatch: {text}")
        return not others

    def into(self, name: str, fill: Callable[[Path, Path], None]) -> Path:
        """Fill a new folder, replace the old one with it, and return its path.

        Args:
            name: name of the folder in the root.
            fill: called with the new folder and a scratch folder.

        Raises:
            UsageError: raised by `fill`, or the root cannot be written; the old folder is kept.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".pull-", dir=self.root) as scratch:
                new_folder = Path(scratch) / name
                new_folder.mkdir()
                fill(new_folder, Path(scratch))
                return _replace(new_folder, self.root / name, Path(scratch))
        except OSError as error:
            where = str(error.filename or self.root)
            raise UsageError(
                f"cannot be written: {error.strerror}", where=where, hint="Choose another folder with --data."
            ) from error


def _replace(new_folder: Path, target: Path, scratch: Path) -> Path:
    old_folder = scratch / "old"
    if target.exists():
        target.rename(old_folder)
    try:
        return new_folder.rename(target)
    except OSError:
        if old_folder.exists():
            old_folder.rename(target)
        raise


def _opener(address: str) -> urllib.request.OpenerDirector:
    """Return an opener with the proxy and the certificates that the environment names."""
    parts = urlsplit(address)
    proxy = proxy_of(parts)
    proxies = {parts.scheme: proxy.address} if proxy is not None else {}
    return urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies), urllib.request.HTTPSHandler(context=tls_context())
    )


def fetch_file(address: str, hint: str) -> bytes:
    """Fetch one file from a constant https address.

    Raises:
        UsageError: no network, or a file that is too large.
    """
    try:
        with _opener(address).open(address, timeout=_TIMEOUT_S) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except Fault as fault:
        raise UsageError(fault.message, hint=fault.hint) from None
    except urllib.error.HTTPError as error:
        raise UsageError(f"{address} cannot be fetched (HTTP {error.code})", hint=hint) from error
    except OSError as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        why = f": {reason_of(cause)}" if isinstance(cause, OSError) else ""
        raise UsageError(f"{address} cannot be fetched{why}", hint=hint) from error
    if len(content) > _MOST_BYTES:
        raise UsageError(f"{address} is larger than {_MOST_BYTES >> 20} MB", hint=hint)
    return content


def copy_files(source: Path, target: Path, is_kept: Callable[[Path], bool]) -> list[Path]:
    """Copy the files below a folder whose relative path passes `kept`, skipping links; return these paths."""
    paths = (path for path in sorted(source.rglob("*")) if path.is_file() and not path.is_symlink())
    kept = [path.relative_to(source) for path in paths if is_kept(path.relative_to(source))]
    for path in kept:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path)
    return kept


def write_suite_toml(
    folder: Path,
    name: str,
    title: str,
    source: Mapping[str, str],
    *,
    comparable: bool,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Write the file that makes a pulled folder a suite; it is written last.

    Args:
        folder: the pulled data.
        name: format of the suite, the name of its benchmark.
        title: title in lists.
        source: name, version, digest and license.
        comparable: results can be compared with published ones.
        settings: additional keys of the benchmark.
    """
    values = {"format": name, "title": title, "origin": "pulled", "comparable": comparable, **(settings or {})}
    tables = ([*values.items()], [*source.items()])
    top, own = ("".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in part) for part in tables)
    (folder / "suite.toml").write_text(f"{top}\n[source]\n{own}", encoding="utf-8")
