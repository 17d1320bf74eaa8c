"""`Models`: the usable models, and the errors in models.toml, read in a thread.

Errors in the file never raise; they are listed with their hints, and the valid models stay usable.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from console.config.paths import WorkspacePaths, find_models_file
from console.core.fault import UsageError

if TYPE_CHECKING:
    from console.config.model import ModelConfig
    from console.config.models import ModelBook


class ModelLine(msgspec.Struct, frozen=True):
    """One model in a list. Names are untrusted text."""

    name: str
    model_id: str
    ready: bool
    state: str
    simulated: bool
    provider: str
    addresses: tuple[str, ...]
    mode: str
    concurrency: int
    price_in: float | None
    price_out: float | None
    line: int
    price_source: str = ""
    """Source of a price that is not in models.toml."""
    context: int | None = None
    """Context length in tokens."""

    @property
    def is_priced(self) -> bool:
        """True if its use costs money, or may do so because its price is unknown."""
        return not self.simulated and (self.price_in is None or self.price_in > 0 or bool(self.price_out))


class Models(msgspec.Struct):
    """All models, with errors and warnings about the file."""

    lines: list[ModelLine] = msgspec.field(default_factory=list[ModelLine])
    mistakes: list[str] = msgspec.field(default_factory=list[str])
    warnings: list[str] = msgspec.field(default_factory=list[str])
    path: Path | None = None
    book: "ModelBook | None" = None

    def find(self, name: str) -> ModelLine | None:
        return next((line for line in self.lines if line.name == name), None)


def read_models(paths: WorkspacePaths) -> Models:
    """Read the models file."""
    from console.config.models import load_models

    try:
        book = load_models(find_models_file(paths.models), paths.data)
    except UsageError as error:
        book = load_models(None, paths.data)
        return Models(_lines_of(book), [str(error)], book=book)
    return Models(_lines_of(book), [str(mistake) for mistake in book.mistakes], list(book.warnings), book.path, book)


def _lines_of(book: "ModelBook") -> list[ModelLine]:
    return [_model_line(model) for model in book.models.values() if _can_be_evaluated(model)]


def _can_be_evaluated(model: "ModelConfig") -> bool:
    """Return whether a model can be evaluated, unlike the built-in judges, simulated users and embeddings."""
    return model.provider != "local" and not (model.simulated and model.model_id in ("judge", "user", "embedding"))


def _model_line(model: "ModelConfig") -> ModelLine:
    from console.config.model import USUAL_CONCURRENCY
    from console.config.models import key_state, public_address

    state = key_state(model)
    return ModelLine(
        name=model.name,
        model_id=model.model_id,
        ready=state.ready,
        state=state.text,
        simulated=model.simulated,
        provider=model.provider,
        addresses=tuple(map(public_address, model.addresses)),
        mode=model.mode,
        concurrency=model.limits.concurrency or USUAL_CONCURRENCY,
        price_in=model.price.input,
        price_out=model.price.output,
        line=model.line,
        price_source=model.price_source,
        context=model.context,
    )
