"""Conversion of a suite's rows to cases, with column mapping, defaults and complete validation."""

import difflib
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec.structs import fields as fields_of
from msgspec.structs import replace

from console.benchmarks.dialogue.data.cells import read_cells
from console.benchmarks.dialogue.data.row_files import RawRow, cases_file, read_rows
from console.benchmarks.dialogue.data.template import fill, variables_in
from console.benchmarks.dialogue.rules.checks import read_check, texts, verify, verify_rubric
from console.benchmarks.dialogue.rules.code_tests import has_tests
from console.benchmarks.dialogue.rules.mistakes import FieldError, Mistakes, convert, did_you_mean, shown
from console.benchmarks.dialogue.rules.row import OPTIONS, SHORTHANDS, Row, ScriptedTurn
from console.benchmarks.dialogue.rules.script import VARIANT_MARK, Script, Turn, Variants, data_of
from console.benchmarks.dialogue.rules.tools import openai_tool, tool_names
from console.core.case import Case
from console.core.fault import os_errors_as
from console.store.atomic import read_regular
from console.suites.catalog import read_suite_toml
from console.suites.judging.rubric import Rubric

OPENINGS = ("prompt", "messages", "turns", "user")
"""Fields that start a conversation; each row has exactly one."""
ROW_FIELDS = tuple(field.name for field in fields_of(Row))
KNOWN = (*ROW_FIELDS, *SHORTHANDS)
"""All fields of a row."""
_TEXTS = ("id", "category", "cluster", "prompt", "system")
"""String fields, in which numbers are converted to strings."""
_MERGED = ("judge", "user")
"""Tables of a row that are merged with the defaults."""
_TOP = frozenset(
    {"format", "title", "origin", "comparable", "source", "demo", "defaults", "columns", "headline", "units"}
)
_SETTINGS = tuple(field.name for field in fields_of(Rubric) if field.name not in ("rubric", "criteria"))
"""Keys of `judge` besides the rubric."""
_ALIKE = 0.8
"""Minimum similarity at which a column name counts as a misspelled field."""
_TITLE, _TITLE_START = 200, 50
"""Maximum characters of a title, and of its first part if shortened; the end is kept, as it contains the question."""
_LONGEST_ID = 200
"""Maximum number of characters in an id."""


class Dataset:
    """Reader of a suite's folder."""

    def __init__(self, folder: Path) -> None:
        """Store the folder; files are read lazily."""
        self._folder = folder
        self._cases: dict[bytes, list[Case]] = {}

    @property
    def is_read(self) -> bool:
        return bool(self._cases)

    @cached_property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of suite.toml and the row file."""
        settings = read_regular(self._folder / "suite.toml")
        return hashlib.sha256(b"\0".join((settings, self._bytes))).hexdigest()[:16]

    @cached_property
    def _path(self) -> Path:
        return cases_file(self._folder)

    @cached_property
    def _bytes(self) -> bytes:
        with os_errors_as("cannot be read", where=self._path):
            return read_regular(self._path)

    @cached_property
    def defaults(self) -> "Defaults":
        """Defaults and column names in suite.toml.

        Raises:
            UsageError: invalid content.
        """
        return Defaults(read_suite_toml(self._folder), str(self._folder / "suite.toml"))

    def cases(self, variants: Variants | None = None) -> list[Case]:
        """Return all cases in row order; with variants, one case per row and variant.

        Raises:
            UsageError: lists up to 20 errors in the rows.
        """
        key = msgspec.json.encode(variants)
        if key not in self._cases:
            defaults, mistakes = self.defaults, Mistakes()
            rows = read_rows(self._path, self._bytes, mistakes)
            cases = CaseBuilder(defaults, rows, mistakes).build(variants)
            mistakes.raise_if_any(str(self._path))
            self._cases[key] = cases
        return self._cases[key]


class Defaults:
    """`[defaults]` and `[columns]` of a suite.toml."""

    def __init__(self, table: Mapping[str, Any], place: str) -> None:
        """Validate both tables.

        Raises:
            UsageError: lists the errors.
        """
        self.place = place
        mistakes = Mistakes()
        for name in table:
            if name not in _TOP:
                mistakes.add(place, name, "is not a key of suite.toml", did_you_mean(name, _TOP))
        self.fields = _table(table, "defaults", place, mistakes)
        self.columns: dict[str, str] = {}
        for name in self.fields:
            if name not in KNOWN or name == "id":
                mistakes.add(place, f"defaults.{name}", "is not a field of a row", did_you_mean(name, KNOWN))
        for name, target in _table(table, "columns", place, mistakes).items():
            if target in KNOWN or target == name:
                self.columns[name] = target
            else:
                hint = did_you_mean(str(target), KNOWN)
                mistakes.add(place, f"columns.{name}", f"{shown(target)} is not a field of a row", hint)
        self.headlines = texts(table.get("headline", ""))
        """Names of the scores reported in place of the pass rate; empty for the pass rate."""
        if not self.headlines or not all(isinstance(name, str) for name in cast(list[Any], self.headlines)):
            hint = 'Such as headline = "rubric", or ["rubric", "passed"].'
            mistakes.add(place, "headline", "must be the name of a score, or a list of them", hint)
        self.units: dict[str, str] = {}
        """Unit by score."""
        for name, unit in _table(table, "units", place, mistakes).items():
            if isinstance(unit, str) and unit.strip():
                self.units[name] = unit
            else:
                mistakes.add(place, f"units.{name}", "must be the name of a unit", 'Such as "%" or "points".')
        mistakes.raise_if_any(place)
        self.variables = {name: list(dict.fromkeys(variables_in(value))) for name, value in self.fields.items()}
        """Names of the variables in each default."""


def _table(table: Mapping[str, Any], name: str, place: str, mistakes: Mistakes) -> dict[str, Any]:
    value = table.get(name, {})
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    mistakes.add(place, name, f"must be a table, [{name}]")
    return {}


class CaseBuilder:
    """Builds cases from rows, one after another: together they would be as large as the cases."""

    def __init__(self, defaults: Defaults, rows: Iterable[RawRow], mistakes: Mistakes) -> None:
        """Initialize; `mistakes` collects the errors, including those of `rows` while they are read."""
        self._defaults, self._rows, self._mistakes = defaults, rows, mistakes
        self._places: dict[str, str] = {}
        """Location of the row with each id."""

    def build(self, variants: Variants | None) -> list[Case]:
        """Return the cases of valid rows, and record errors in the others."""
        cases: list[Case] = []
        mistakes, columns, wrong_defaults = Mistakes(), dict[str, None](), set[str]()
        for raw in self._rows:
            columns |= dict.fromkeys(raw.fields)
            try:
                cases += self._cases(raw, variants)
            except FieldError as error:
                is_default = self._is_default(raw, error)
                place = self._defaults.place if is_default else raw.place
                where = f"defaults.{error.where}" if is_default else error.where
                if not is_default or where not in wrong_defaults:
                    mistakes.add(place, where, error.problem, error.hint)
                wrong_defaults |= {where} if is_default else set()
        if not self._mistakes.count:  # an unreadable row may have the column
            self._check_columns(columns, variants)
            if self._mistakes.count:
                return []
        self._mistakes.include(mistakes)
        return cases

    def _is_default(self, raw: RawRow, error: FieldError) -> bool:
        """Return whether an invalid field comes from the defaults, and so is the same in all rows."""
        name, _, rest = error.where.partition("[")[0].partition(".")
        given = {self._defaults.columns.get(column, column): value for column, value in raw.fields.items()}
        if name not in self._defaults.fields or (name == "expect" and any(check in given for check in SHORTHANDS)):
            return False
        own, default = given.get(name), self._defaults.fields[name]
        if name in _MERGED and isinstance(default, dict) and (own is None or isinstance(own, dict)):
            part = rest.partition(".")[0] or error.unknown
            default = cast(dict[str, Any], default).get(part)
            return default is not None and part not in (own or {}) and not any(variables_in(default))
        return name not in given and not any(variables_in(default))

    def _check_columns(self, present: Collection[str], variants: Variants | None) -> None:
        """Record an error for each variable and mapped column that no row has."""
        place = self._defaults.place
        for name in self._defaults.columns:
            if name not in present:
                self._mistakes.add(place, f"columns.{name}", "no row has this column", did_you_mean(name, present))
        used = [(f"defaults.{field}", name) for field, names in self._defaults.variables.items() for name in names]
        if variants is not None:
            used += [(f"--vary {name}", item) for name, text in variants.texts.items() for item in variables_in(text)]
        for where, name in dict.fromkeys(used):
            if name not in present and not (where.startswith("--vary") and name in (*_TEXTS, "row")):
                hint = f"{did_you_mean(name, present)} For literal braces, write {{{{{name}}}}}."
                self._mistakes.add(place, where, f"no row has a value for {{{name}}}", hint)

    def _cases(self, raw: RawRow, variants: Variants | None) -> list[Case]:
        own = self._own_fields(raw)
        columns = {**raw.fields, **{name: own[name] for name in _TEXTS if name in own}}
        base = self._with_defaults(own, columns) if variants else {}
        if variants is None or not _can_vary(variants, base):
            return [self._case(raw, own, columns, "")]
        columns = {**columns, **{name: base[name] for name in _TEXTS if isinstance(base.get(name), str)}}
        return [
            self._case(raw, {**own, variants.field: fill(text, columns)}, columns, name)
            for name, text in variants.texts.items()
        ]

    def _own_fields(self, raw: RawRow) -> dict[str, Any]:
        """Return the fields of a row, without other columns, which are variables."""
        own: dict[str, Any] = {}
        for name, value in raw.fields.items():
            field = self._defaults.columns.get(name, name)
            if field in KNOWN and not (
                field == name and self._defaults.columns.get(name) == name and name not in KNOWN
            ):
                own[field] = value
            elif field not in self._defaults.columns and (meant := _meant(name)) and name not in self._used:
                hint = f'If the name is right, add to suite.toml: [columns] {name} = "{name}".'
                raise FieldError(name, f"is not a field of a row; {meant} is", hint)
        self._refuse_options(raw, own)
        if raw.is_text:
            own = read_cells(own)
        for name in _TEXTS:
            if name in own and isinstance(own[name], int | float) and not isinstance(own[name], bool):
                own[name] = json.dumps(own[name])
        return own

    def _refuse_options(self, raw: RawRow, own: Mapping[str, Any]) -> None:
        """Reject check options that belong in separate fields of the row, and would be columns without effect here."""
        for name, checks in OPTIONS.items():
            check = next((check for check in checks if check in own or check in self._defaults.fields), "")
            if check and name in raw.fields and name not in self._defaults.columns and name not in self._used:
                hint = f'Write {{"expect": [{{"{check}": …, "{name}": …}}]}}.'
                raise FieldError(name, f"is not a field of a row, but of its check {shown(check)}", hint)

    @cached_property
    def _used(self) -> frozenset[str]:
        return frozenset(name for names in self._defaults.variables.values() for name in names)

    def _with_defaults(self, own: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
        opened = any(name in own for name in OPENINGS)
        judges = "expect" in own or any(name in own for name in SHORTHANDS)
        merged: dict[str, Any] = {}
        for name, value in self._defaults.fields.items():
            if (opened and name in OPENINGS and name not in own) or (judges and name in ("expect", *SHORTHANDS)):
                continue
            if name in own and name not in _MERGED:
                continue
            variables = self._defaults.variables[name]
            if missing := next((item for item in variables if item not in columns), ""):
                raise FieldError(missing, f"has no value, but `defaults.{name}` uses it")
            filled = fill(value, columns) if variables else value
            merged[name] = filled if isinstance(filled, str) or name not in _TEXTS else json.dumps(filled)
        for name, value in own.items():
            merged[name] = _merged(merged[name], value) if name in merged and name in _MERGED else value
        return merged

    def _case(self, raw: RawRow, own: Mapping[str, Any], columns: Mapping[str, Any], variant: str) -> Case:
        merged = self._with_defaults(own, columns)
        checks: Any = merged.pop("expect", [])
        if not isinstance(checks, list):
            checks = [checks]
        expect = cast(list[Any], checks) + [{name: merged.pop(name)} for name in SHORTHANDS if name in merged]
        settings = _judge_settings(merged)
        row = convert({**merged, "expect": []}, Row, "")
        expect = _with_settings(expect, settings)
        script = _script(row, expect, settings, columns, variant)
        case_id = self._id(raw, row, variant)
        script = self._with_files(script, row)
        if has_tests([*script.expect, *(check for turn in script.turns for check in turn.expect)]):
            script = self._with_tests(script, self._row_name(raw, row))
        title = script.turns[0].user if script.turns else script.user.goal if script.user else ""
        return Case(
            id=case_id,
            category=row.category,
            data=data_of(script),
            title=title if len(title) <= _TITLE else f"{title[:_TITLE_START]} … {title[_TITLE_START - _TITLE :]}",
            cluster=row.cluster or (self._row_name(raw, row) if variant else ""),
        )

    def _with_files(self, script: Script, row: Row) -> Script:
        """Add the row's files to the turn with the question, and each turn's own files to it."""
        scripted = [turn for turn in row.turns if isinstance(turn, ScriptedTurn)]
        if not any(part.images or part.files for part in (row, *scripted)):
            return script
        from console.benchmarks.dialogue.data.attached_files import attached

        if not script.turns:
            raise FieldError("images" if row.images else "files", "need a question; a simulated user cannot send them")
        folder = Path(self._defaults.place).parent
        sources: list[list[Row | ScriptedTurn]] = [[row], *([] for _ in script.turns[1:])]
        for place, turn in enumerate(row.turns):
            sources[place] += [turn] if isinstance(turn, ScriptedTurn) else []
        turns = [
            replace(turn, files=[
                file
                for source in parts
                for paths, name in ((source.images, "images"), (source.files, "files"))
                for file in attached(folder, _listed(paths), name, images=name == "images")
            ])
            for turn, parts in zip(script.turns, sources, strict=True)
        ]  # fmt: skip
        return replace(script, turns=turns)

    def _with_tests(self, script: Script, name: str) -> Script:
        from console.benchmarks.dialogue.data.hidden_tests import with_digests

        folder = Path(self._defaults.place).parent
        turns = [replace(turn, expect=with_digests(turn.expect, folder, name)) for turn in script.turns]
        return replace(script, turns=turns, expect=with_digests(script.expect, folder, name))

    def _row_name(self, raw: RawRow, row: Row) -> str:
        return row.id or f"row-{raw.number}"

    def _id(self, raw: RawRow, row: Row, variant: str) -> str:
        name = self._row_name(raw, row)
        if len(name) > _LONGEST_ID:
            raise FieldError("id", f"is longer than {_LONGEST_ID} characters")
        case_id = f"{name}{VARIANT_MARK}{variant}" if variant else name
        if case_id in self._places:
            raise FieldError("id", f"{shown(name)} is already the id of {self._places[case_id]}", "Use unique ids.")
        self._places[case_id] = raw.place
        return case_id


def _listed(paths: str | list[str] | None) -> list[str]:
    return [paths] if isinstance(paths, str) else paths or []


def _can_vary(variants: Variants, row: Mapping[str, Any]) -> bool:
    """Return whether a row has the varied field; a row with another opening has no prompt."""
    return variants.field != "prompt" or not any(name in row for name in OPENINGS[1:])


def _merged(default: Any, value: Any) -> Any:
    """Merge a table of a row with its default; the row's rubric replaces the default one completely."""
    if not isinstance(default, dict):
        return value
    own = {"rubric": value} if isinstance(value, str) else value
    if not isinstance(own, dict):
        return cast(object, own)
    kept = cast(dict[str, Any], default)
    if "rubric" in own or "criteria" in own:
        kept = {name: part for name, part in kept.items() if name not in ("rubric", "criteria")}
    return {**kept, **cast(dict[str, Any], own)}


def _judge_settings(merged: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in a row's `judge`, and remove it if it has no rubric."""
    judge = merged.get("judge")
    if not isinstance(judge, dict):
        return {}
    table = cast(dict[str, Any], judge)
    if not table.get("rubric") and not table.get("criteria") and set(table) <= set(_SETTINGS):
        del merged["judge"]
    return {name: table[name] for name in _SETTINGS if name in table}


def _with_settings(expect: Sequence[Any], settings: Mapping[str, Any]) -> list[Any]:
    """Apply the row's scale, threshold and wording as defaults to the rubrics of individual checks."""
    return [_check_with_settings(check, settings) for check in expect] if settings else list(expect)


def _check_with_settings(check: Any, settings: Mapping[str, Any]) -> Any:
    if not isinstance(check, dict):
        return check
    fields = cast(dict[str, Any], check)
    judge, parts = fields.get("judge"), fields.get("any")
    if isinstance(parts, list):
        return {**fields, "any": _with_settings(cast(list[Any], parts), settings)}
    if isinstance(judge, str):
        return {**fields, "judge": {**settings, "rubric": judge}}
    return {**fields, "judge": {**settings, **cast(dict[str, Any], judge)}} if isinstance(judge, dict) else fields


def _script(
    row: Row, expect: list[Any], settings: Mapping[str, Any], columns: Mapping[str, Any], variant: str
) -> Script:
    """Validate a row and convert it to a script."""
    tools = [openai_tool(tool, f"tools[{number}]") for number, tool in enumerate(row.tools)]
    names = tool_names(tools)
    if len(set(names)) < len(names):
        raise FieldError("tools", "has two tools with the same name")
    for number, canned in enumerate(row.tool_results):
        if canned.tool not in names:
            raise FieldError(
                f"tool_results[{number}].tool", f"there is no tool {shown(canned.tool)}", _tool_hint(canned.tool, names)
            )
    rubric = Rubric(rubric=row.judge) if isinstance(row.judge, str) else row.judge
    if rubric is not None:
        verify_rubric(rubric, "judge")
    messages, turns = _opening(row, settings)
    kinds = [_check(value, f"expect[{number}]", names, rubric) for number, value in enumerate(expect)]
    for place, turn in enumerate(turns):
        kinds += [
            _check(value, f"turns[{place}].expect[{number}]", names, rubric) for number, value in enumerate(turn.expect)
        ]
    if rubric is not None and not any("judge" in kind for kind in kinds):
        expect, kinds = [*expect, {"judge": True}], ["judge"]
    if not kinds:
        hint = 'Add one, such as expect = [{"contains": "…"}], a column named like a check, or a judge with a `rubric`.'
        raise FieldError("expect", "has no check", hint)
    if row.choices:
        _verify_choices(row.choices, turns, expect)
    return Script(
        turns=turns,
        system=row.system,
        messages=messages,
        tools=tools,
        tool_results=row.tool_results,
        user=row.user,
        expect=expect,
        rubric=rubric,
        choices=row.choices or [],
        shuffle=row.shuffle and bool(row.choices),
        simulated=row.simulated,
        columns={name: value for name, value in columns.items() if name not in KNOWN},
        variant=variant,
        kept=row.kept,
    )


def _verify_choices(choices: Sequence[str], turns: Sequence[Turn], expect: Sequence[Any]) -> None:
    letters = [
        str(check["choice"]).upper() for check in [*expect, *(turns[-1].expect if turns else [])] if "choice" in check
    ]
    if not turns or not letters:
        hint = "Write the right letter as `choice`; a simulated user cannot ask with choices."
        raise FieldError("choices", "need a question and a check `choice`", hint)
    last = chr(ord("A") + len(choices) - 1)
    if wrong := next((letter for letter in letters if letter > last), ""):
        raise FieldError("choice", f"{shown(wrong)} is not one of the choices, A to {last}")


def _tool_hint(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names) if names else "Describe it under `tools`."


def _opening(row: Row, settings: Mapping[str, Any]) -> tuple[list[Any], list[Turn]]:
    """Return the messages before the first turn, and the scripted turns."""
    openings = [name for name in OPENINGS if getattr(row, name)]
    if len(openings) != 1:
        problem = f"{' and '.join(openings)} are mutually exclusive" if openings else "has no question"
        raise FieldError(
            "" if not openings else openings[-1], problem, "Use exactly one of prompt, messages, turns and user."
        )
    if row.user is not None:
        return [], []
    if row.prompt:
        return [], [Turn(row.prompt)]
    if row.turns:
        scripted = [ScriptedTurn(turn) if isinstance(turn, str) else turn for turn in row.turns]
        return [], [Turn(turn.user, expect=_with_settings(turn.expect, settings)) for turn in scripted]
    *before, last = row.messages
    if last.role != "user" or not last.content:
        raise FieldError("messages", "must end with a user message", "The model answers the last message.")
    return [msgspec.to_builtins(message) for message in before], [Turn(last.content)]


def _check(value: Any, where: str, tools: Sequence[str], rubric: Rubric | None) -> str:
    """Validate a check and return its keys."""
    check = read_check(value, where)
    verify(check, where, tools, rubric)
    return " ".join(cast(dict[str, Any], value)) + (" judge" if "any" in value and _has_judge(value["any"]) else "")


def _has_judge(parts: Sequence[dict[str, Any]]) -> bool:
    return any("judge" in part for part in parts)


@lru_cache(maxsize=1024)
def _meant(name: str) -> str:
    """Return the field that a column name may misspell, or an empty string."""
    close = difflib.get_close_matches(name.lower(), KNOWN, n=1, cutoff=_ALIKE)
    return close[0] if close and close[0] != name else ""
