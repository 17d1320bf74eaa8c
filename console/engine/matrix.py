"""Expands a preset into plans: one run for each model and suite, each with its own ids, categories and options."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from console.config.paths import WorkspacePaths, expanded, find_data_roots, find_runs_root
from console.config.preset import Preset
from console.core.case import Setting
from console.core.experiment import Experiment, shared_change
from console.core.fault import UsageError
from console.core.looks import Rule, Until, read_until
from console.core.outcome import Outcome
from console.core.run import Selection
from console.core.suggestion import suggest
from console.engine.plan import Plan
from console.engine.roles import role_flag, role_words, usable_roles
from console.store.run_list import find_run
from console.store.runs import RunFolder
from console.suites.catalog import Catalog
from console.suites.modes import find_mode
from console.suites.selection import select_cases

_LARGEST_LIST = 16 << 20


def plans_of(preset: Preset, paths: WorkspacePaths) -> list[Plan]:
    """Return one plan for each suite and model, grouped by suite.

    Raises:
        UsageError: a required option is missing, a file of ids cannot be read, or a run or id is unknown. `where` is
            the option of `run` to change.
    """
    previous = (
        find_run(find_runs_root(paths.runs, may_be_new=True), preset.only_failed_of) if preset.only_failed_of else None
    )
    preset = _filled_from(preset, previous) if previous else preset
    if not preset.models:
        raise UsageError("-m MODEL is required", hint="`eval-console models` lists them.")
    if not preset.suites:
        raise UsageError("-s SUITE is required", hint="`eval-console suites` lists them.")
    if previous and preset.ids:
        raise UsageError("--ids and --only-failed-of cannot be combined", hint="Give one of them.")
    ids = failed_ids(previous) if previous else read_ids(preset.ids)
    shares = _ids_by_suite(ids, preset, paths) if ids and len(preset.suites) > 1 else dict.fromkeys(preset.suites, ids)
    options, roles = _options(preset, paths), _roles(preset, paths)
    until, experiment = until_of(preset), _changes_of(preset)
    several = len(preset.models) * len(preset.suites) > 1
    return [
        Plan(
            model=model,
            suite=suite,
            selection=Selection(
                preset.suites[suite], shares[suite], preset.limit, preset.seed if preset.limit is not None else None
            ),
            options=options[suite],
            mode=preset.mode,
            roles=roles[suite],
            rollouts=preset.rollouts,
            concurrency=preset.concurrency,
            budget=preset.budget,
            until=until,
            experiment=experiment,
            is_batched=preset.batch,
            name=f"{preset.name} {model} {suite}" if preset.name and several else preset.name,
            parent=previous.name if previous else "",
            paths=paths,
        )
        for suite in preset.suites
        for model in preset.models
    ]


def _changes_of(preset: Preset) -> Experiment | None:
    """Return the change made in all requests, or None.

    Raises:
        UsageError: a name that cannot be changed in all conversations.
    """
    if not preset.changes:
        return None
    return Experiment((tuple(shared_change(what, text) for what, text in preset.changes.items()),))


def until_of(preset: Preset) -> Until | None:
    """Return the rule that ends the runs, or None if they are played to the end.

    Raises:
        UsageError: the rule is invalid, or lacks a required setting.
    """
    if not preset.until:
        if preset.by:
            raise UsageError("needs --until decided", where="--by", hint="Add --until decided --baseline RUN.")
        return None
    if preset.until == Rule.BEST:
        return _race_of(preset)
    return read_until(preset.until, margin=preset.margin, baseline=preset.baseline, by=preset.by)


def _race_of(preset: Preset) -> Until:
    where = "--until best"
    until = read_until(preset.until, margin=preset.margin, baseline=preset.baseline, by=preset.by)
    if len(preset.models) < 2:
        raise UsageError("needs at least two models", where=where, hint="Add -m MODEL for each.")
    if preset.queue:
        hint = "Omit --queue: the models of a race are played side by side."
        raise UsageError("cannot be combined with --queue", where=where, hint=hint)
    return msgspec.structs.replace(until, models=tuple(preset.models))


def read_ids(words: Iterable[str]) -> tuple[str, ...]:
    """Return case ids without duplicates; `@FILE` stands for a file with ids, separated by newlines or commas.

    Raises:
        UsageError: a file cannot be read or contains no id.
    """
    ids: dict[str, None] = {}
    for word in words:
        text = _file_of_ids(expanded(word[1:])) if word.startswith("@") else word
        ids |= dict.fromkeys(case_id for part in text.split(",") if (case_id := part.strip()))
    return tuple(ids)


def _file_of_ids(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_LIST + 1)  # a device may never end
        if len(raw) > _LARGEST_LIST:
            raise UsageError("the file is larger than 16 MiB, so it cannot be a list of ids", where=str(path))
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\n", ",")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"the list of ids in {path} cannot be read: {why}", where="--ids") from None
    if not text.strip(", \t\r"):
        raise UsageError(f"{path} contains no id", where="--ids", hint="Write one case id per line.")
    return text


def failed_ids(run: RunFolder) -> tuple[str, ...]:
    """Return the cases whose latest attempt failed, in the order they were played.

    Raises:
        UsageError: the run cannot be read, or has no failed case.
    """
    latest = run.fold()[0].latest
    wrong = [case for (case, _), finished in latest.items() if finished.verdict.outcome is Outcome.FAILED]
    if not wrong:
        raise UsageError(
            f"the run {run.name} has no failed case",
            where="--only-failed-of",
            hint=f"`eval-console resume {run.name}` runs broken and missing cases.",
        )
    return tuple(dict.fromkeys(wrong))


def _filled_from(preset: Preset, previous: RunFolder) -> Preset:
    """Take suite, model, mode and options from the previous run, except those that are given."""
    import dataclasses

    manifest = previous.manifest()
    others = [suite for suite in preset.suites if suite != manifest.suite]
    if others:
        raise UsageError(
            f"the failed cases of {previous.name} belong to the suite {manifest.suite}, not {others[0]}",
            where="--only-failed-of",
            hint=f"Choose the suite {manifest.suite} only.",
        )
    same = not preset.models or preset.models == (manifest.model.name,)
    return dataclasses.replace(
        preset,
        models=preset.models or (manifest.model.name,),
        suites={manifest.suite: preset.suites.get(manifest.suite, ())},
        mode=preset.mode or (manifest.setting.mode if same else None),
        options=manifest.setting.options | preset.options,
        roles={role: model.name for role, model in manifest.roles.items()} | preset.roles,
    )


def _ids_by_suite(ids: tuple[str, ...], preset: Preset, paths: WorkspacePaths) -> dict[str, tuple[str, ...]]:
    """Return the given ids by the suite that contains them."""
    catalog, left = Catalog(find_data_roots(paths.data)), dict.fromkeys(ids)
    shares: dict[str, tuple[str, ...]] = {}
    all_ids: list[str] = []
    for name, parts in preset.suites.items():
        suite = catalog.open(name)
        setting = Setting(mode=find_mode(suite, preset.mode or None))
        suite_ids = [case.id for case in select_cases(suite, Selection(parts), setting)]
        all_ids += suite_ids
        shares[name] = tuple(case_id for case_id in ids if case_id in set(suite_ids))
        left = dict.fromkeys(case_id for case_id in left if case_id not in set(suite_ids))
        if not shares[name]:
            raise UsageError(f"the suite {name} has none of these ids", where="--ids", hint="Omit the suite.")
    for case_id in left:
        raise UsageError(f"no chosen suite has a case {case_id!r}", where="--ids", hint=suggest(case_id, all_ids))
    return shares


def _options(preset: Preset, paths: WorkspacePaths) -> dict[str, dict[str, Any]]:
    """Return the options by suite: those named with the suite, and any others that the suite has."""
    by_suite: dict[str, dict[str, Any]] = {suite: {} for suite in preset.suites}
    if not preset.options:
        return by_suite
    catalog, only = Catalog(find_data_roots(paths.data)), len(by_suite) == 1
    names_of = (
        {suite: {option.name for option in catalog.open(suite).options} for suite in by_suite} if not only else {}
    )
    for word, value in preset.options.items():
        suite, slash, name = word.rpartition("/")
        if slash and suite not in by_suite:
            raise UsageError(f"{word!r} is for a suite that is not selected", where="--option", hint=f"Add -s {suite}.")
        takers = [suite] if slash else [other for other in by_suite if only or name in names_of[other]]
        if not takers:
            raise UsageError(f"no chosen suite has an option {name!r}", where="--option")
        for taker in takers:
            by_suite[taker][name] = value
    return by_suite


def _roles(preset: Preset, paths: WorkspacePaths) -> dict[str, dict[str, str]]:
    """Return the role models by suite; with several suites, each gets those it can use."""
    if len(preset.suites) == 1 or not preset.roles:
        return dict.fromkeys(preset.suites, preset.roles)
    catalog = Catalog(find_data_roots(paths.data))
    by_suite: dict[str, dict[str, str]] = {}
    for name in preset.suites:
        suite = catalog.open(name)
        usable = usable_roles(suite, {option.name: option.default for option in suite.options}, preset.roles)
        by_suite[name] = {role: model for role, model in preset.roles.items() if role in usable}
    for role in preset.roles:
        if not any(role in roles for roles in by_suite.values()):
            raise UsageError(f"no chosen suite uses the role {role_words(role)}", where=role_flag(role))
    return by_suite
