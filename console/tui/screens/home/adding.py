"""Adding a model to models.toml: choose a server, then one of its models, and try it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.content import Content

from console.core.fault import UsageError
from console.insight import number_format
from console.tui.data.filter_in_force import match_rank
from console.tui.data.verb_output import verb_output
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.dialogs.small_dialogs import Answer, NameNote, NameScreen, Question, Waiting
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.services import Services
from console.tui.symbols import MUTED, SYMBOLS, muted

_LOOK = "look"
_SERVERS = (Column("", 1), Column("server", 32), Column("key", 30, 1))
_MODELS = (Column("id", 30, 1), Column("context", 9, right=True), Column("price", 18, right=True))


class JsonRows:
    """JSON objects as rows of a `FilterDialog`; all texts are untrusted."""

    def __init__(self, rows: Sequence[dict[str, Any]], id: str, draw: Callable[[dict[str, Any]], tuple[Content, ...]]):
        self._rows = {str(row[id]): row for row in rows}
        self._draw = draw

    def narrowed(self, text: str) -> list[str]:
        ranks = {key: match_rank(text, str(row.get("title", key)), key) for key, row in self._rows.items()}
        return sorted((key for key in ranks if ranks[key] is not None), key=lambda key: ranks[key] or 0)

    def draw_row(self, key: str) -> tuple[Content, ...]:
        return self._draw(self._rows[key])

    def answer(self, key: str) -> dict[str, Any] | None:
        return self._rows[key]


@dataclass
class ModelAdding:
    """The dialogs that add a model to models.toml."""

    services: Services

    async def ask_and_add(self) -> None:
        """Ask for a server and a model, add the model, and open the form for a run with it."""
        try:
            name = await self._add()
        except UsageError as error:
            self.services.refuse(error)
            return
        if name:
            self.services.workspace.read_models()
            self.services.navigator.open_form(model=name)

    async def _add(self) -> str:
        server = await self._choose_server()
        if server is None:
            return ""
        words = [str(server["name"])]
        if server["name"] in ("azure", "other"):
            title = f"Address of {server['title']}" if server["name"] == "azure" else "Address of the server"
            address = await self.services.ask(NameScreen(title, "", "https://…/v1", _note_of_address))
            if not address:
                return ""
            words += ["--address", address]
        listed = await self._run(f"Asking {server['title']} for its models …", *words)
        model = await self._choose_model(listed) if listed is not None else None
        if listed is None or model is None:
            return ""
        return await self._add_model([*words, f"--id={model['id']}"], model, str(listed["file"]))

    async def _choose_server(self) -> dict[str, Any] | None:
        """Return a server as `models add --json` describes it, or None if the user chose none."""
        options: tuple[str, ...] = ()
        while True:
            answer = await self._run("Looking for servers …" if options else "Reading the list of servers …", *options)
            if answer is None:
                return None
            servers = sorted(answer["servers"], key=lambda server: server["found"] is not True)
            look = {"name": _LOOK, "title": "look for servers on this machine", "key": "", "ready": True, "found": None}
            rows = JsonRows([*servers, *([] if options else [look])], "name", _server_cells)
            title = Content("Add a model of which server?")
            nothing = "No known server matches; `other` takes any address."
            chosen = await self.services.ask(_dialog(rows, _SERVERS, title, nothing))
            if chosen is None or chosen["name"] != _LOOK:
                return chosen
            options = ("--look",)

    async def _choose_model(self, answer: dict[str, Any]) -> dict[str, Any] | None:
        if not answer["models"]:
            title = "Id of the model, which this server does not list"
            id = await self.services.ask(NameScreen(title, "", "provider's name", lambda _: NameNote("")))
            return {"id": id, "price_in": None, "price_out": None} if id else None
        if len(answer["models"]) == 1:  # named in the next question
            return answer["models"][0]
        rows, title = JsonRows(answer["models"], "id", _model_cells), Content("Which of its models?")
        return await self.services.ask(_dialog(rows, _MODELS, title, "No model matches."))

    async def _add_model(self, words: Sequence[str], model: dict[str, Any], file: str) -> str:
        """Add a model and return its name; empty if it was not confirmed."""
        text = Content.assemble(
            "Add ", one_line(str(model["id"]), 60, "bold"), " to models.toml?\n", one_line(file, 200, MUTED),
            "\nTwo short calls try it, price: ", _price(model),
        )  # fmt: skip
        answers = [Answer("y", "try and add it"), Answer("a", "add it without a call")]
        answer = await self.services.ask(Question(text, answers))
        if not answer:
            return ""
        options = ["--no-try"] if answer == "a" else []
        added = await self._run(f"{'Adding' if options else 'Trying'} {model['id']} …", *words, *options)
        if added is None:
            return ""
        words_of_trial = [f"{finding['name']}: {finding['text']}" for finding in added["findings"]]
        cost = added["cost_usd"]
        paid = [] if not words_of_trial else [number_format.money(cost) if cost is not None else "cost unknown"]
        about = "; ".join([*words_of_trial, *paid])
        named, written = one_line(added["name"], 60, "bold"), one_line(str(added["file"]), 200)
        self.services.notify(Content.assemble("Added ", named, " to ", written, ". ", one_line(about, 200, MUTED)))
        return str(added["name"])

    async def _run(self, waiting: str, *words: str) -> dict[str, Any] | None:
        """Return the output of `models add`; None if the user did not wait for it.

        Raises:
            UsageError: it refused.
        """
        command = partial(verb_output, self.services.paths.models, "models", "add", *words)
        answer = await self.services.ask(Waiting(one_line(waiting, 60), command))
        if isinstance(answer, UsageError):
            raise answer
        return answer


def _dialog(rows: JsonRows, columns: Sequence[Column], title: Content, nothing: str) -> FilterDialog[dict[str, Any]]:
    return FilterDialog(rows, columns, hint="type to filter", nothing=nothing, grows=True, title=title, names=True)


def _note_of_address(text: str) -> NameNote:
    good = text.startswith(("http://", "https://"))
    return NameNote("up to and including /v1" if good else "begins with http:// or https://", refuses=not good)


def _server_cells(server: dict[str, Any]) -> tuple[Content, ...]:
    if server["found"] is not None:
        mark = Content.styled(SYMBOLS.passed, "$pass") if server["found"] else muted(SYMBOLS.not_ready)
        words = "answers on this machine" if server["found"] else "no answer"
    else:
        mark = Content.styled(SYMBOLS.passed, "$pass") if server["ready"] else muted(SYMBOLS.not_ready)
        words = str(server["key"])
    return mark, one_line(str(server["title"]), 60), one_line(words, 100, MUTED)


def _model_cells(model: dict[str, Any]) -> tuple[Content, ...]:
    context = model["context"]
    length = f"{context // 1000} k" if context else "–"
    return one_line(str(model["id"]), 200), muted(length), _price(model)


def _price(model: dict[str, Any]) -> Content:
    if model["price_in"] is None:
        return muted("unknown")
    if not model["price_in"] and not model["price_out"]:
        return muted("free")
    return muted(f"${model['price_in']:g} / ${model['price_out'] or 0:g}")
