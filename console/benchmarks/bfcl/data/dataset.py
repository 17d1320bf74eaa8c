"""Reader of BFCL datasets in the official layout.

Invalid lines, duplicate ids and missing ground truth raise a `UsageError` with file and line, as a silently dropped
entry would change a score. Categories without a file are absent.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from console.benchmarks.bfcl.data.wording import OWN
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry, FunctionDoc, SpokenLine
from console.benchmarks.bfcl.rules.variation import CONFIGS
from console.core.chat import Message
from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.json_text import read_json
from console.core.ready_type import ready_type
from console.core.suggestion import suggest
from console.store.atomic import open_regular, read_regular
from console.suites.catalog import read_suite_toml

_DOC_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
    "MemoryAPI_kv": "memory_kv",
    "MemoryAPI_vector": "memory_vector",
    "MemoryAPI_rec_sum": "memory_rec_sum",
}
"""Official name of the module and of the function document file, by simulator class."""


class _QuestionRow(msgspec.Struct, frozen=True):
    """Required fields of an entry line in every category."""

    id: str
    question: list[list[SpokenLine]]
    function: list[FunctionDoc] = []
    involved_classes: list[str] = []
    initial_config: dict[str, dict[str, Any]] = {}
    missed_function: dict[str, list[str]] = {}
    scenario: str = ""
    cluster: str = ""

    def __post_init__(self) -> None:
        if not self.question or not self.question[0]:
            raise ValueError("the first turn of `question` is empty")
        if not all(turn.isdecimal() and 0 < int(turn) < len(self.question) for turn in self.missed_function):
            raise ValueError("a key of `missed_function` is not the index of a later turn")


class _CallsTruth(msgspec.Struct, frozen=True):
    """Required fields of a ground-truth line of single-turn categories."""

    id: str
    ground_truth: list[dict[str, dict[str, list[Any]]]]

    def __post_init__(self) -> None:
        if any(len(call) != 1 for call in self.ground_truth):
            raise ValueError("every expected call must be an object with one key")


class _TurnsTruth(msgspec.Struct, frozen=True):
    """Required fields of a ground-truth line of multi-turn categories."""

    id: str
    ground_truth: list[list[Annotated[str, msgspec.Meta(pattern=r"^\w[\w.]*\((?s:.*)\)$")]]]


class _AnswersTruth(msgspec.Struct, frozen=True):
    """Required fields of a ground-truth line of agentic categories."""

    id: str
    ground_truth: list[str]


class Dataset:
    """The entries of one dataset folder, with lazily read categories."""

    def __init__(self, folder: Path, weights: Path | None = None) -> None:
        """Open a folder with a `suite.toml`; `weights` is searched first for pulled weights (default: its parent).

        Keys of `suite.toml` are relative paths of `data`, `wording` (the official package), `simulators` (modules) and
        `web` (recorded answers), the `embedding` of the vector memory (default `minilm`), and `classes`, a table of
        further simulator classes and their modules.

        Raises:
            UsageError: unreadable `suite.toml`.
        """
        table = read_suite_toml(folder)
        self.folder = folder
        self.weights = weights or folder.parent
        self.version = str(table.get("source", {}).get("version", "unknown"))
        self.data = folder / str(table.get("data", "."))
        self.wording_root = folder / str(table["wording"]) if "wording" in table else None
        self.simulators = folder / str(table["simulators"]) if "simulators" in table else None
        self.simulator_modules = _DOC_FILES | {str(name): str(file) for name, file in table.get("classes", {}).items()}
        self.embedding = str(table.get("embedding", "minilm"))
        self.recorded_web = str(table["web"]) if "web" in table else None
        self._loaded: dict[str, dict[str, Entry]] = {}
        self._lines: dict[str, dict[str, Any]] = {}
        self._docs: dict[str, list[dict[str, Any]]] = {}

    @cached_property
    def categories(self) -> list[str]:
        """Available categories in official order."""
        return [category for category in names.ALL if self._path(_file_of(category)).is_file()]

    def entries(self, category: str) -> dict[str, Entry]:
        """Return all entries of a category by id, in file order, including memory prerequisites.

        Raises:
            UsageError: missing or invalid file.
        """
        if category not in self._loaded:
            self._loaded[category] = self._read(category)
        return self._loaded[category]

    def in_official_order(self, categories: Sequence[str]) -> Iterator[Entry]:
        """Yield the entries of categories by kind, category and index, prerequisites first; reads categories lazily.

        Raises:
            UsageError: missing or invalid file.
        """
        parts = [(names.priority(part), part, name) for name in categories for part in names.parts_of(name)]
        for _, part, category in sorted(parts):
            entries = self.entries(category).values()
            of_part = [entry for entry in entries if names.is_prerequisite(entry.id) == names.is_prerequisite(part)]
            yield from sorted(of_part, key=lambda entry: names.running_index(entry.id))

    def count(self, category: str) -> int:
        """Count the scored entries of a category, without parsing its lines.

        Raises:
            UsageError: unreadable file.
        """
        path = self._path(_file_of(category))
        with os_errors_as("cannot be read", where=path):
            if category != names.FORMAT_SENSITIVITY:
                with open_regular(path) as file:
                    return sum(bool(line.strip()) for line in file)
            text = read_regular(path)
        chosen = _json(text, str(path))
        if not isinstance(chosen, dict):
            return 0
        return len(CONFIGS) * sum(len(ids) for ids in cast(dict[str, list[str]], chosen).values())

    @property
    def wording_name(self) -> str:
        """Name of the wording of this dataset's prompts."""
        return OWN.name if self.wording_root is None else f"official {self.version}"

    def entry(self, entry_id: str) -> Entry:
        """Return an entry by id.

        Raises:
            UsageError: unknown category or id; suggests one.
        """
        category = names.category_of(entry_id).removesuffix("_prereq")
        if category not in self.categories:
            hint = suggest(category, self.categories, f"Categories here: {', '.join(self.categories)}.")
            raise UsageError(f"no category here has the id {entry_id!r}", hint=hint)
        entry = self.entries(category).get(entry_id)
        if entry is None:
            raise UsageError(f"no entry has the id {entry_id!r}", hint=suggest(entry_id, self.entries(category)))
        return entry

    def line(self, entry: Entry) -> dict[str, Any]:
        """Return the original line of an entry, including unused fields; do not modify it."""
        return self._lines[entry.source_id or entry.id]

    def function_docs(self, class_name: str) -> list[dict[str, Any]]:
        """Return the function documents of a simulator class; do not modify them.

        Raises:
            UsageError: unknown class or invalid file.
        """
        if class_name not in self._docs:
            if class_name not in self.simulator_modules:
                raise UsageError(f"no function documents for the simulator class {class_name!r}", where=str(self.data))
            path = self.data / "multi_turn_func_doc" / f"{self.simulator_modules[class_name]}.json"
            self._docs[class_name] = [row for _, row in _rows(path, FunctionDoc)]
        return self._docs[class_name]

    def functions(self, entry: Entry) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
        """Return the documents available at the start, and those withheld, by turn number as a string."""
        if not entry.involved_classes:
            return entry.function, {}
        docs = [doc for name in entry.involved_classes for doc in self.function_docs(name)]
        withheld: dict[str, list[dict[str, Any]]] = {}
        for turn, missed in entry.missed_function.items():
            withheld[turn] = [doc for name in missed for doc in docs if doc["name"] == name]
        gone = {name for missed in entry.missed_function.values() for name in missed}
        return [doc for doc in docs if doc["name"] not in gone], withheld

    def _path(self, name: str) -> Path:
        return self.data / name

    def _read(self, category: str) -> dict[str, Entry]:
        if category == names.FORMAT_SENSITIVITY:
            return self._read_variations()
        path = self._path(_file_of(category))
        truths = self._truths(category)
        rename = _renamer(category)
        out: dict[str, Entry] = {}
        if names.is_memory(category):
            out = self._prerequisites(category)
        previous = {
            scenario: [entry.id for entry in out.values() if entry.scenario == scenario] for scenario in names.SCENARIOS
        }
        for number, row in _rows(path, _QuestionRow):
            where = f"{path}:{number}"
            truth_line, truth = truths.get(row["id"], (0, None))
            if truth is None and truths:
                raise UsageError(f"has no ground truth for {row['id']!r}", where=str(self._truth_path(category)))
            needs = previous.get(row.get("scenario", ""), [])
            if names.is_memory(category) and not needs:
                message = f"{row['id']!r} has a scenario without conversations: {row.get('scenario')!r}"
                raise UsageError(message, where=where)
            entry = _entry(row, category, rename, truth, needs)
            if entry.id == row["id"] and _file_of(category) != f"BFCL_v4_{category}.json":
                raise UsageError(f"the id {entry.id!r} must contain the name of its file's category", where=where)
            for name in entry.involved_classes:
                if name not in self.simulator_modules:
                    raise UsageError(f"no function documents for the simulator class {name!r}", where=where)
            if truth is not None:
                _check_truth(entry, f"{self._truth_path(category)}:{truth_line}")
            out[entry.id] = entry
            self._lines[entry.id] = row
        return out

    def _truth_path(self, category: str) -> Path:
        return self.data / "possible_answer" / _file_of(category)

    def _truths(self, category: str) -> dict[str, tuple[int, list[Any]]]:
        """Return the line number and the ground truth by id."""
        if names.is_relevance(category):
            return {}
        kind = _CallsTruth if names.is_single_turn(category) else _AnswersTruth
        kind = _TurnsTruth if names.is_multi_turn(category) else kind
        return {row["id"]: (number, row["ground_truth"]) for number, row in _rows(self._truth_path(category), kind)}

    def _prerequisites(self, category: str) -> dict[str, Entry]:
        out: dict[str, Entry] = {}
        rename = _renamer(category)
        for scenario in names.SCENARIOS:
            earlier: list[str] = []
            path = self._path(f"memory_prereq_conversation/memory_{scenario}.json")
            if not path.is_file():  # a dataset needs only the scenarios of its questions
                continue
            for number, row in _rows(path, _QuestionRow):
                entry = _entry(row, category, rename, None, earlier)
                where = f"{path}:{number}"
                if not names.is_prerequisite(entry.id) or entry.id == row["id"]:
                    raise UsageError(
                        f"the id {entry.id!r} of a conversation must begin with memory_prereq", where=where
                    )
                if entry.scenario != scenario:
                    raise UsageError(f"the scenario must be {scenario!r}, as in the file's name", where=where)
                if entry.id in out:
                    raise UsageError(f"another scenario has the id {row['id']!r}", where=where)
                earlier = [*earlier, entry.id]
                out[entry.id] = entry
        return out

    def _read_variations(self) -> dict[str, Entry]:
        path = self._path(_file_of(names.FORMAT_SENSITIVITY))
        chosen = _json(read_regular(path), str(path))
        try:
            ids_by_category = msgspec.convert(chosen, dict[str, list[str]])
        except msgspec.ValidationError as error:
            raise UsageError(f"must map categories to lists of ids: {error}", where=str(path)) from error
        out: dict[str, Entry] = {}
        for category, ids in ids_by_category.items():
            entries = self.entries(category)
            if missing := set(ids) - set(entries):
                raise UsageError(f"names an unknown id {sorted(missing)[0]!r}", where=str(path))
            chosen_ids = set(ids)
            for source in (entries[name] for name in entries if name in chosen_ids):
                for config in CONFIGS:
                    entry_id = f"{names.FORMAT_SENSITIVITY}_{len(out)}:{config}:{source.id}"
                    out[entry_id] = msgspec.structs.replace(
                        source, id=entry_id, category=names.FORMAT_SENSITIVITY, config=config, source_id=source.id
                    )
        return out


def _file_of(category: str) -> str:
    """Return the official file name of a category; memory backends share one file, and so do search variants."""
    if names.is_memory(category):
        category = "memory"
    elif "web_search" in category:
        category = "web_search"
    return f"BFCL_v4_{category}.json"


def _renamer(category: str) -> Callable[[str], str]:
    """Return a function that converts ids of the file to ids of the category (`memory_3` to `memory_kv_3`)."""
    for shared in ("memory", "web_search"):
        if shared in category:
            return lambda entry_id: entry_id.replace(shared, category)
    return lambda entry_id: entry_id


def _entry(
    row: dict[str, Any], category: str, rename: Callable[[str], str], truth: list[Any] | None, depends_on: list[str]
) -> Entry:
    classes = cast(list[str], row.get("involved_classes", []))
    config = cast(dict[str, Any], row.get("initial_config", {}))
    if names.is_memory(category):
        classes = [f"MemoryAPI_{names.backend_of(category)}"]
    elif "web_search" in category:
        config = {name: {"show_snippet": category != "web_search_no_snippet"} for name in classes}
    return Entry(
        id=rename(row["id"]),
        category=category,
        question=cast(list[list[Message]], row["question"]),
        function=row.get("function", []),
        ground_truth=truth,
        involved_classes=classes,
        initial_config=config,
        missed_function=row.get("missed_function", {}),
        scenario=row.get("scenario", ""),
        group=row.get("cluster", ""),
        depends_on=list(depends_on),
    )


def _check_truth(entry: Entry, where: str) -> None:
    """Check that each expected call is one available function, and that each turn has its calls."""
    truth = entry.ground_truth or []
    if names.is_multi_turn(entry.category) and len(truth) != len(entry.question):
        raise UsageError(
            f"{entry.id!r} has {len(entry.question)} turns, but ground truth for {len(truth)}", where=where
        )
    offered = {doc["name"] for doc in entry.function}
    for call in truth if names.is_single_turn(entry.category) else ():
        if not call.keys() <= offered:
            raise UsageError(f"{entry.id!r}: {next(iter(call))!r} is not one of the available functions", where=where)


def _rows(path: Path, row_type: type[msgspec.Struct]) -> list[tuple[int, dict[str, Any]]]:
    """Return the number and object of every line, after checking that its type is right and its id unique."""
    with os_errors_as("cannot be read", where=path):
        data = read_regular(path)
    out: list[tuple[int, dict[str, Any]]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        row = _json(line, where)
        try:
            msgspec.convert(row, ready_type(row_type))
            if b"\\ud" in line.lower():
                msgspec.json.encode(row)  # fails for half of a surrogate pair, which no file could contain
            if b"NaN" in line or b"Infinity" in line:
                json.dumps(row, allow_nan=False)
        except ValueError as error:
            raise UsageError(f"damaged line: {error}", where=where) from error
        if (first := seen.setdefault(str(row.get("id", number)), number)) != number:
            raise UsageError(f"the id {row['id']!r} already occurs in line {first}", where=where)
        out.append((number, row))
    return out


def _json(text: bytes, where: str) -> Any:
    try:
        return read_json(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8: {reason_of(error)}", where=where) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"damaged line, not JSON: {reason_of(error)}", where=where) from error
