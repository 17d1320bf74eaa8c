"""Write the table of registry rows in docs/bfcl.md anew: `python docs/make_bfcl_table.py`.

A test holds the page against what is made here, so that a row that can be asked otherwise changes the page, too.
"""

from itertools import groupby
from pathlib import Path

from console.core.fault import UsageError
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.decoding import profile_setting
from console.suites.bfcl.handlers.generic import NativeHandler, PromptHandler
from console.suites.bfcl.handlers.services import SERVICES
from console.suites.bfcl.handlers.table import handler_of
from console.suites.bfcl.profile import Profile, profiles

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "bfcl.md"
BEGIN, END = "<!-- rows: python docs/make_bfcl_table.py -->\n", "<!-- end of rows -->\n"
HEADING = (
    "| rows of the leaderboard (`bfcl_name`) | besides `bfcl_name` and `model_id` | what differs |\n|---|---|---|\n"
)


def table() -> str:
    """Return the table: rows of one official class that are asked alike stand in one line."""
    rows = sorted(profiles().values(), key=lambda row: (row.handler.lower(), how_it_is_asked(row), row.name))
    lines = [
        f"| {', '.join(f'`{row.name}`' for row in group)} | {settings(group[0])} | {words} |\n"
        for (_, words), some in groupby(rows, key=lambda row: (row.handler, how_it_is_asked(row)))
        if (group := list(some))
    ]
    return HEADING + "".join(lines)


def settings(row: Profile) -> str:
    """Return what else a model of models.toml needs."""
    service = SERVICES.get(row.handler)
    if row.template:
        return "`base_url` of your server"
    if service is None or row.wire != "chat":
        return "an OpenAI-compatible `base_url`"
    key = f', `api_key_env = "{service.key_env}"`' if service.key_env else ""
    return f'`base_url = "{service.base_url}"`{key}'


def how_it_is_asked(row: Profile) -> str:
    """Return how runs of ours ask a row, compared with the official command."""
    try:
        handler = handler_of(profile_setting(row), Dataset(ROOT / "data" / "bfcl-starter"))
    except UsageError:
        asked = "runs do not ask it; its results are scored"
    else:
        generic = isinstance(handler, NativeHandler | PromptHandler)
        official = "its template over /v1/completions" if row.template else f"the {row.wire} protocol"
        asked = f"asked by chat completions in place of {official}" if generic else "asked as officially"
    return f"{asked}. Known fault: {row.note}" if row.note else asked


def with_table(page: str) -> str:
    """Return the page with the table of today."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
