"""The prompt to allow a suite's code to run, shown when such a suite is chosen."""

import asyncio

from textual.content import Content

from console.core.fault import UsageError
from console.suites.allowed import RUNS_WHERE, allow
from console.suites.catalog import Catalog
from console.suites.code_trial import try_code
from console.suites.folder_code import FolderCode
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.editor import edit_file
from console.tui.render.catalog_details import display_path
from console.tui.sanitize import one_line
from console.tui.services import Services
from console.tui.symbols import MUTED, muted

_MOST_FILES = 8


async def ask_to_allow(services: Services, catalog: Catalog, name: str) -> bool:
    """Ask the user, and allow the code if the user agrees and the code loads. Must be called in a worker.

    The code is reread before each question, so that what is allowed is what was shown.
    """
    try:
        entry = catalog.entry(name)
        while True:
            code = await asyncio.to_thread(FolderCode, entry)
            answer = await services.ask(Question(_question(code), _ANSWERS))
            if answer == "e":
                edit_file(services, code.folder / code.file)
            elif answer == "y":
                await asyncio.to_thread(try_code, entry)
                allow(code)
                break
            else:
                return False
    except UsageError as error:
        services.refuse(error)
        return False
    services.workspace.read_all()
    return True


_ANSWERS = (Answer("e", "read it in the editor first"), Answer("y", "allow this version to run"))


def _question(code: FolderCode) -> Content:
    listed = [
        Content.assemble("  ", one_line(name, 50), (f"  {len(source.splitlines())} lines", MUTED))
        for name, source in list(code.sources.items())[:_MOST_FILES]
    ]
    more = len(code.sources) - _MOST_FILES
    return Content("\n").join(
        [
            Content.assemble("May the code of ", one_line(code.name, 40, "bold"), " run?"),
            muted(RUNS_WHERE),
            one_line(display_path(code.folder), 66),
            *listed,
            *([muted(f"  and {more} more files")] if more > 0 else []),
        ]
    )
