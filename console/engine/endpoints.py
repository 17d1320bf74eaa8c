"""Open endpoints of a run, one per model, opened when a role first needs them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.core.run import Manifest, ModelFacts
from console.llm.endpoint import Endpoint
from console.llm.limits.limiter import FAULTS_UNTIL_SUSPECT
from console.llm.providers import open_endpoint

if TYPE_CHECKING:
    from console.engine.batches import BatchHost


class Endpoints:
    """Endpoints by role; roles with the same model share one."""

    def __init__(
        self, models: Mapping[str, ModelConfig], manifest: Manifest, batches: "BatchHost | None" = None
    ) -> None:
        """Store the model of every role, and the interface that batched models need; nothing is opened yet."""
        self._models, self._manifest, self._batches = models, manifest, batches
        self._open: dict[str, Endpoint] = {}

    def of(self, role: str) -> Endpoint:
        """Return the open endpoint of a role.

        Raises:
            Fault: the run has no model for the role (kind `suite`).
        """
        config = self._models.get(role)
        if config is None:
            hint = "Name it in `needs_roles` of the suite."
            raise Fault(FaultKind.SUITE, f"the run has no model for the role {role}", hint=hint)
        if config.name not in self._open:
            self._open[config.name] = self._opened(config, is_batched=bool(self.facts(role).batched))
        return self._open[config.name]

    def _opened(self, config: ModelConfig, *, is_batched: bool) -> Endpoint:
        if self._batches is None or not is_batched:
            return open_endpoint(config)
        from console.engine.batches import BatchedEndpoint  # imports the HTTP client, which other runs may not need

        return BatchedEndpoint(config, self._batches)

    def facts(self, role: str) -> ModelFacts:
        """Return the manifest's facts about a role's model."""
        return self._manifest.roles.get(role, self._manifest.model)

    def states(self) -> list[EndpointState]:
        """Return the states of all limiters, for watchers."""
        return [state for endpoint in self._open.values() for state in endpoint.states()]

    @property
    def are_suspect(self) -> bool:
        """True if currently every address of one of the endpoints fails."""
        return any(
            all(state.faults_in_a_row >= FAULTS_UNTIL_SUSPECT for state in endpoint.states())
            for endpoint in self._open.values()
        )

    def retry_now(self) -> None:
        """End every wait that a provider asked for."""
        for endpoint in self._open.values():
            endpoint.retry_now()

    async def aclose(self) -> None:
        for endpoint in self._open.values():
            await endpoint.aclose()
