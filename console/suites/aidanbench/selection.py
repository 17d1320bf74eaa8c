"""Which cases of a list a run takes. Pure."""

import random
from collections.abc import Sequence

from console.core.case import Case
from console.core.run import Selection


def pick(cases: Sequence[Case], selection: Selection) -> list[Case]:
    """Return the selected cases in their order: by category and id, then the first so many or a drawn sample."""
    found = [
        case
        for case in cases
        if (not selection.categories or case.category in selection.categories)
        and (not selection.ids or case.id in selection.ids)
    ]
    if selection.limit is None or selection.limit >= len(found):
        return found
    if selection.seed is None:
        return found[: selection.limit]
    drawn = set(random.Random(selection.seed).sample(range(len(found)), selection.limit))  # noqa: S311 - not a secret
    return [case for number, case in enumerate(found) if number in drawn]
