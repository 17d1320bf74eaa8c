"""What Library says of the entry under the cursor."""

from collections.abc import Sequence

from console.tui.data.catalog_items import RunLine
from console.tui.render import catalog_details
from console.tui.screens.library.controller import Entry, LibraryController
from console.tui.widgets.block import Block


def entry_blocks(entry: Entry, controller: LibraryController, runs: Sequence[RunLine]) -> list[Block]:
    """Describe an entry; `runs` are all runs, among which a model's own are found."""
    suite = controller.suite(entry.name)
    match entry.kind:
        case "suite" if suite is not None:
            return catalog_details.suite_blocks(suite, controller.checksums.get(entry.name))
        case "category" if suite is not None:
            return catalog_details.category_blocks(suite, entry.category)
        case "model" if (model := controller.model(entry.name)) is not None:
            ping, is_pinging = controller.pings.get(model.name), model.name in controller.pinging
            return catalog_details.model_blocks(model, ping, runs, pinging=is_pinging)
        case "pull" if (official := controller.official_suite(entry.name)) is not None:
            return catalog_details.pull_blocks(official)
        case "note":
            return catalog_details.note_blocks(entry.name)
        case _:
            return []
