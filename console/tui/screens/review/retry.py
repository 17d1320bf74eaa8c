"""Asking again: one case, or all that are listed, as new attempts beside the old ones. The price comes first."""

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.core.live import Command
from console.insight import number_format
from console.insight.rollout import Rollout
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.case_base import CaseScreen

ASK_ABOVE_USD = 0.05
"""A single case that costs less, or nothing, is asked again without a question."""


class Again(CaseScreen):
    """Further attempts."""

    @work(exclusive=True, group="again")
    async def action_run_again(self) -> None:
        """Ask the current case again."""
        rollout = self.rollout
        if rollout is not None and await self._agreed([rollout]):
            self._ask([rollout])

    @work(exclusive=True, group="again")
    async def action_run_again_shown(self) -> None:
        """Ask everything that is listed again."""
        rollouts = list(self.triage.order)
        if rollouts and await self._agreed(rollouts):
            self._ask(rollouts)

    async def _agreed(self, rollouts: list[Rollout]) -> bool:
        known = [it.cost_usd for it in rollouts]
        cost = sum(it or 0.0 for it in known)
        simulated = self.feed is not None and self.feed.manifest.simulated and not cost
        if len(rollouts) == 1 and (simulated or (known[0] is not None and cost < ASK_ABOVE_USD)):
            return True
        price = "free, simulated" if simulated else f"about {number_format.money(cost, at_least=None in known)}"
        name = one_line(str(rollouts[0].key), 40, "bold") if len(rollouts) == 1 else Content(f"{len(rollouts)} cases")
        text = Content.assemble("Ask ", name, " again? ", (price, "bold"), "\nThe old attempts are kept.")
        return bool(await self.services.ask(Question(text, [Answer("y", "ask again")])))

    def _ask(self, rollouts: list[Rollout]) -> None:
        if self.feed is not None and self.feed.is_attached:
            for rollout in rollouts:
                self.feed.send(Command("retry_case", key=rollout.key))
            self.services.notify(
                Content(f"Asking {number_format.plural(len(rollouts), 'case')} again in the live run.")
            )
            return
        from console.engine.process import spawn_engine
        from console.engine.queue import Again as Which

        places = self.services.paths
        only = tuple(dict.fromkeys(it.key.case for it in rollouts))
        try:
            spawn_engine(
                self.run_folder, again=Which.FAILED, only=only, models_path=places.models, data_path=places.data
            )
        except UsageError as error:
            self.services.notify(literal(str(error)), severity="error")
            return
        self.services.notify(Content(f"Asking {number_format.plural(len(only), 'case')} again; 2 watches it."))
