"""Writer of sites: pages are written to a temporary folder, which then replaces an earlier site."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from console.core.case import Slot
from console.core.fault import UsageError, os_errors_as
from console.core.run import simulated_note_of
from console.exchange.document import Item, RunDocument
from console.exchange.document_reader import document_of
from console.exchange.exports.html_parts import STYLE, safe
from console.exchange.run_reader import RunReader
from console.exchange.site.case_page import SharedTexts, case_page
from console.exchange.site.comparison_page import comparison_page
from console.exchange.site.frame import Link, anchor, scrolling, site_page
from console.exchange.site.run_pages import LIST, list_data, list_pages, overview_page
from console.exchange.site.site_run import SiteRun
from console.insight.comparison import RunComparison, compare
from console.insight.run_number import headline, headline_legend
from console.store.runs import RunFolder

CASE_BYTES = 40_000_000
"""Maximum number of bytes in all case pages of a site, so that ten thousand fit into 50 MB with everything else."""
_LEAST, _MOST = 3_000, 400_000
"""Minimum and maximum number of bytes in a case page, regardless of the number of pages."""
_MARKER = "eval-console-site.json"
"""File that marks a folder as an exported site, which may be replaced."""
_OURS = re.compile(
    rf"(run-\d+/)?(index\.html|list-\d+\.html|{LIST}|cases/\d+\.html)|texts/\d+\.html|compare-\d+\.html"
    rf"|site\.css|site\.js|{re.escape(_MARKER)}"
)
_OUR_FOLDERS = re.compile(r"(run-\d+/)?(cases|data)|run-\d+|texts")
_HERE = Path(__file__).parent
Partners = dict[tuple[str, Slot], list[tuple[str, SiteRun, Slot]]]
"""(name of another run, that run, slot in it), by folder of a run and slot."""


def export_site(
    folders: Sequence[RunFolder],
    out: Path,
    data_path: Path | None,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write runs as a site; return the reasons why suites could not be opened.

    Args:
        folders: the runs, each once; the first is compared with each of the others.
        out: the folder, which must be missing, empty, or contain only an earlier site.
        data_path: folder of suites, if one was named.
        progress: called with the number of case pages written and planned.

    Raises:
        UsageError: the folder contains anything else, a run cannot be read, or the disk cannot be written.
    """
    out = out.resolve()
    require_replaceable(out)
    several = len(folders) > 1
    runs = [SiteRun(RunReader(folder), f"run-{number}/" if several else "") for number, folder in enumerate(folders, 1)]
    with os_errors_as("cannot be written", where=out, hint="Choose another folder with -o."):
        staging = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
        try:
            with contextlib.suppress(OSError):  # where modes cannot be set, the site stays private to its owner
                staging.chmod(0o755)
            whys = _write(runs, staging, data_path, _PageCount(sum(len(run.order) for run in runs), progress))
            _publish(staging, out)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return whys


def export_run(
    run: RunFolder, root: Path, data: Path | None, progress: Callable[[int, int], None] | None
) -> list[Path]:
    """Write one run as a site and return its first page; arguments and errors as in `export_site`."""
    export_site([run], root, data, progress)
    return [root / "index.html"]


def require_replaceable(out: Path) -> None:
    """Reject a folder with content that this program did not write.

    Raises:
        UsageError: such content exists; names it.
    """
    hint = "Choose another folder with -o."
    if out.is_file():
        raise UsageError("is a file", where=str(out), hint=hint)
    if not out.exists():
        return
    entries = list(out.rglob("*"))
    if entries and not (out / _MARKER).is_file():
        raise UsageError("is not empty, and not an exported site", where=str(out), hint=hint)
    for entry in entries:
        pattern = _OUR_FOLDERS if entry.is_dir() else _OURS
        if entry.is_symlink() or not pattern.fullmatch(entry.relative_to(out).as_posix()):
            raise UsageError("is not part of the site in this folder and would be lost", where=str(entry), hint=hint)


def _publish(staging: Path, out: Path) -> None:
    """Move the new site into place; until then the old one stays intact."""
    if out.exists():
        old = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.old."))
        try:
            os.replace(out, old / "site")
            os.replace(staging, out)
        except OSError:
            if not out.exists() and (old / "site").exists():
                os.replace(old / "site", out)
            raise
        finally:
            if out.exists():
                shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(staging, out)


class _PageCount:
    """Counts the case pages written."""

    def __init__(self, planned: int, progress: Callable[[int, int], None] | None) -> None:
        self.planned = planned
        self._done, self._progress = 0, progress

    def add(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self.planned)


def _write(runs: Sequence[SiteRun], root: Path, data_path: Path | None, pages: _PageCount) -> list[str]:
    room = min(_MOST, max(_LEAST, CASE_BYTES // max(pages.planned, 1)))
    comparisons = _comparisons(runs)
    partners = _partners(runs, comparisons)
    shared, whys = SharedTexts(), list[str]()
    documents: list[RunDocument] = []
    for run in runs:
        document, why = _write_run(run, root, data_path, partners, shared, room, pages)
        documents.append(document)
        whys += [why] if why else []
    for number, comparison in comparisons.items():
        _write_page(root, f"compare-{number}.html", comparison_page(comparison, runs[0], runs[number - 1]))
    for place, text in shared.pages.items():
        _write_page(root, place, text)
    if len(runs) > 1:
        _write_page(root, "index.html", _start_page(runs, documents, comparisons))
    _write_page(root, "site.css", STYLE + (_HERE / "site.css").read_text(encoding="utf-8"))
    _write_page(root, "site.js", (_HERE / "site.js").read_text(encoding="utf-8"))
    simulated = any(document.simulated for document in documents)
    marker = {"schema": 1, "simulated": simulated, "runs": [run.reader.manifest.id for run in runs]}
    _write_page(root, _MARKER, msgspec.json.encode(marker).decode())
    return whys


def _comparisons(runs: Sequence[SiteRun]) -> dict[int, RunComparison]:
    """Return comparisons of the first run with each of the others, by its number from 1, if they share a case."""
    sides = [run.reader.side for run in runs]
    compared = {number: compare(sides[0], side) for number, side in enumerate(sides[1:], 2)}
    return {number: comparison for number, comparison in compared.items() if comparison.pairs}


def _partners(runs: Sequence[SiteRun], comparisons: dict[int, RunComparison]) -> Partners:
    partners: Partners = {}
    for number, comparison in comparisons.items():
        a, b = runs[0], runs[number - 1]
        for pair in comparison.pairs:
            partners.setdefault((a.folder, pair.a.slot), []).append((f"run {number}", b, pair.b.slot))
            partners.setdefault((b.folder, pair.b.slot), []).append(("run 1", a, pair.a.slot))
    return partners


def _write_run(
    run: SiteRun,
    root: Path,
    data_path: Path | None,
    partners: Partners,
    shared: SharedTexts,
    room: int,
    pages: _PageCount,
) -> tuple[RunDocument, str]:
    for name in ("cases", "data"):
        (root / run.folder / name).mkdir(parents=True)

    def write_case(item: Item) -> None:
        slot = item.rollout.slot
        links = [
            Link(
                f"{name}: {other.reader.side.rollouts[there].ending or 'not finished'}",
                f"../../{other.folder}{other.case_page(there)}",
            )
            for name, other, there in partners.get((run.folder, slot), ())
        ]
        _write_page(root / run.folder, run.case_page(slot), case_page(run, item, links, shared, room))
        pages.add()

    document, why = document_of(run.reader, data_path, visit=write_case)
    for name, text in list_pages(run, document).items():
        _write_page(root / run.folder, name, text)
    _write_page(root / run.folder, LIST, list_data(run, document))
    _write_page(root / run.folder, "index.html", overview_page(run, document))
    return document, why


def _start_page(
    runs: Sequence[SiteRun], documents: Sequence[RunDocument], comparisons: dict[int, RunComparison]
) -> str:
    rows = "".join(
        f'<tr><td>{number}</td><td>{anchor(Link(run.title, run.overview))}</td><td class="n">'
        f"{safe(headline(document.summary))}</td><td>{safe(document.manifest.simulated_note)}</td>"
        f"<td>{safe(run.reader.manifest.id)}</td></tr>"
        for number, (run, document) in enumerate(zip(runs, documents, strict=True), 1)
    )
    head = '<tr><th>run</th><th>model and suite</th><th class="n">result with its 95 % interval</th>'
    table = f"<table>{head}<td></td><th>name</th></tr>{rows}</table>"
    body = [scrolling("Runs", table)]
    body += [f"<p>{safe(words)}</p>" for words in headline_legend([headline(each.summary) for each in documents])]
    if comparisons:
        links = [Link(f"Run 1 (A) and run {number} (B) compared", f"compare-{number}.html") for number in comparisons]
        body.append(f"<h2>Comparisons</h2><ul>{''.join(f'<li>{anchor(link)}</li>' for link in links)}</ul>")
    missing = len(runs) - 1 - len(comparisons)
    if missing:
        body.append(f"<p>{missing} without a case in common with run 1.</p>")
    return site_page(
        "Runs", body, simulated_note=simulated_note_of(document.manifest.simulated_note for document in documents)
    )


def _write_page(root: Path, place: str, text: str) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
