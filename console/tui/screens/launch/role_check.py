"""`RoleCheck`: whether the servers of judge and embedding serve their models, asked once each until forgotten."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.config.model import ModelConfig
from console.engine.role_warnings import RoleModelId, askable


@dataclass(frozen=True, slots=True)
class RoleQuestion:
    """Models whose servers are to be asked."""

    round: int
    """How often everything had been forgotten when it was asked."""
    models: Mapping[RoleModelId, ModelConfig]


class RoleCheck:
    """Remembers what servers have answered; asks nobody itself."""

    def __init__(self) -> None:
        self._round = 0
        self._warnings: dict[RoleModelId, str] = {}
        """Why a model may not answer; nothing while its server has not been heard, or serves it."""

    def next_question(self, runs: Iterable[Mapping[str, ModelConfig]]) -> RoleQuestion | None:
        """Return the models of runs whose servers have not been asked yet; None when there are none."""
        unasked = {who: model for who, model in askable(runs).items() if who not in self._warnings}
        self._warnings |= dict.fromkeys(unasked, "")
        return RoleQuestion(self._round, unasked) if unasked else None

    def take(self, question: RoleQuestion, warnings: Mapping[RoleModelId, str]) -> None:
        """Take what servers have answered, unless everything was forgotten meanwhile."""
        if question.round == self._round:
            self._warnings |= warnings

    def warnings(self, runs: Iterable[Mapping[str, ModelConfig]]) -> list[str]:
        """Return why models of runs may not answer, as far as that is known. Foreign text."""
        return [warning for who in askable(runs) if (warning := self._warnings.get(who))]

    def forget(self) -> None:
        """Ask every server again the next time."""
        self._round += 1
        self._warnings = {}
