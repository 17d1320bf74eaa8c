"""Update the table of registry rows in docs/bfcl.md: `python docs/make_bfcl_table.py`.

A test compares the page with this table, so that a change in support also changes the page.
"""

from itertools import groupby
from pathlib import Path

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decoding import profile_setting
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.benchmarks.bfcl.models.handlers.table import PROVIDERS_OF_API, handler_of
from console.benchmarks.bfcl.models.profile import Profile, profiles
from console.core.fault import UsageError
from console.core.provider import PROVIDERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "bfcl.md"
BEGIN, END = "<!-- rows: python docs/make_bfcl_table.py -->\n", "<!-- end of rows -->\n"
HEADING = "| rows of the leaderboard (`bfcl_name`) | further settings | support |\n|---|---|---|\n"


def table() -> str:
    """Return the table; rows of one official class with equal support share a line."""
    rows = sorted(profiles().values(), key=lambda row: (row.handler.lower(), how_it_is_asked(row), row.name))
    lines = [
        f"| {', '.join(f'`{row.name}`' for row in group)} | {settings(group[0])} | {words} |\n"
        for (_, words), some in groupby(rows, key=lambda row: (row.handler, how_it_is_asked(row)))
        if (group := list(some))
    ]
    return HEADING + "".join(lines)


def settings(row: Profile) -> str:
    """Return the settings required in addition to `bfcl_name` and `model_id`."""
    fitting = providers(row)
    if not is_asked(row):
        return "–"
    provider = "" if "openai" in fitting else f'`provider = "{fitting[0]}"`, '
    service = SERVICES.get(row.handler)
    if service is None or row.template:
        return f"{provider}`base_url` of your server"
    key = f', `api_key_env = "{service.key_env}"`' if service.key_env else ""
    return f'{provider}`base_url = "{service.base_url}"`{key}'


def providers(row: Profile) -> list[str]:
    """Return the providers of models.toml that speak a row's API."""
    return [name for name in PROVIDERS_OF_API.get(row.api, ()) if name in PROVIDERS]


def is_asked(row: Profile) -> bool:
    """Return whether a run can send the official requests of a row."""
    try:
        handler_of(profile_setting(row), Dataset(ROOT / "data" / "bfcl-starter"))
    except UsageError:
        return False
    return bool(providers(row))


def how_it_is_asked(row: Profile) -> str:
    """Describe the support for a row."""
    asked = "official requests" if is_asked(row) else "cannot be run; its results are scored"
    return f"{asked}. Known fault: {row.note}" if row.note else asked


def with_table(page: str) -> str:
    """Return the page with the current table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
