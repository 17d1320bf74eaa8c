"""`models add`: choose a server and one of its models, try it, and append it to models.toml.

Without a server, the known ones are listed; without a model, those of the server, free of charge. On a terminal each
missing part is asked for, so that users need not know an address or a model's name.
"""

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from console.cli.add_model_arguments import AddModelArguments
from console.cli.exitcode import Exit
from console.cli.output import Output
from console.config.environment import origin
from console.config.known_servers import KNOWN_SERVERS, OTHER, KnownServer
from console.config.list_prices import with_list_price
from console.config.model import ModelConfig
from console.config.model_entry import entry_of
from console.config.models import KeyState, key_state, load_models
from console.config.paths import find_models_file, find_models_file_to_write
from console.core.fault import Fault, UsageError
from console.core.price import Price, dollars
from console.core.suggestion import suggest
from console.exchange.json_kind import JsonKind
from console.store.atomic import change_file

if TYPE_CHECKING:  # imported late: only some commands need the network
    from console.llm.servers.model_list import ServedModel
    from console.llm.servers.parameter_trial import Trial

SERVERS = JsonKind(
    "servers",
    "models add",
    "Servers whose models can be added.",
    {"servers": "name, title, base_url, key_variable, ready, key, needs, and found (true, false, or null: not tried)"},
)
SERVED_MODELS = JsonKind(
    "served_models",
    "models add SERVER",
    "The models that a server lists.",
    {
        "server": "its name",
        "models": "id, context, price_in and price_out of each",
        "file": "path of the models.toml to which one would be added",
    },
)
ADDED_MODEL = JsonKind(
    "added_model",
    "models add SERVER --id ID",
    "A model that was added to models.toml.",
    {
        "name": "its name",
        "file": "path of models.toml",
        "entry": "its table",
        "findings": "name, good and text of each call that tried it",
        "cost_usd": "cost of these calls; null if unknown",
    },
)
_HEAD = """\
# Models for eval-console, one table each; its name is used everywhere. `eval-console models add` appends to this file.
# Keys stay in the environment: api_key_env names the variable. The simulated models (sim/…) need no line here.
"""
_SHOWN = 20
_LOOK_S = 1.5
_TRIAL_TOKENS = 300
"""Approximate tokens of the two calls that try a model: a few words each, and a tool's description."""


def add(args: AddModelArguments) -> int:
    """Add a model, or list what can be added."""
    asks = not args.json and not args.yes and args.output.can_ask
    answering = asyncio.run(find_local_servers()) if args.look else {}
    name = args.words[1] if len(args.words) > 1 else ""
    if not name and args.address:
        name = OTHER
    if not name and asks:
        name = _choose_server(args.output, answering)
    if not name:
        if args.id:
            raise UsageError("--id needs a server", hint="`eval-console models add` lists them.")
        return _list_servers(args.output, answering)
    server = _server(name)
    address = args.address or (args.output.ask(f"{server.needs}: ") if asks and server.needs_address else "")
    draft = draft_of(server, address, args.key_env)
    state = key_state(draft)
    if not state.ready:
        raise UsageError(state.text, where=server.title, hint=f"Set it, or write {draft.api_key_env}=… into .env.")
    served = _served(draft, is_needed=not args.id)
    id = args.id or (_choose_model(args.output, served) if asks else "")
    if not id:
        return _list_models(args, server, draft, served)
    from console.llm.servers.model_list import ServedModel

    about = next((each for each in served if each.id == id), ServedModel(id))
    return _add(args, server, _with_id(draft, server, about), asks=asks)


def draft_of(server: KnownServer, address: str = "", key_variable: str | None = None) -> ModelConfig:
    """Return a model on a server; its id is not set yet."""
    if server.needs_address and not address:
        raise UsageError(f"{server.title} needs --address", hint=f"Give {server.needs}.")
    try:
        return ModelConfig(
            name="new",
            model_id=server.id_prefix or "?",
            provider=server.provider,
            base_url=address or server.address or None,
            api_key_env=key_variable or server.key_variable or None,
            price=Price(0.0, 0.0) if server.is_local else Price(),
            mode="prompt" if server.is_local or server.name == OTHER else "fc",
        )
    except ValueError as error:
        raise UsageError(str(error), where="--address") from None


def _with_id(draft: ModelConfig, server: KnownServer, served: "ServedModel") -> ModelConfig:
    """Return the model with an id, and with the price listed by its server or litellm."""
    id = server.id_prefix + served.id.removeprefix(server.id_prefix)
    model = with_list_price(msgspec.structs.replace(draft, model_id=id))
    if served.price.input is not None:
        model = msgspec.structs.replace(model, price=served.price, price_source="")
    return msgspec.structs.replace(model, context=served.context or model.context)


async def find_local_servers() -> dict[str, bool]:
    """Return, for each known local server, whether something answers at its usual port."""
    local = [server for server in KNOWN_SERVERS if server.is_local]
    return dict(zip((each.name for each in local), await asyncio.gather(*map(_answers, local)), strict=True))


async def _answers(server: KnownServer) -> bool:
    from console.llm.servers.model_list import list_models

    try:
        async with asyncio.timeout(_LOOK_S):
            await list_models(draft_of(server))
    except (Fault, TimeoutError):
        return False
    return True


def _server(name: str) -> KnownServer:
    server = next((each for each in KNOWN_SERVERS if name.lower() in (each.name, each.title.lower())), None)
    if server is None:
        names = [each.name for each in KNOWN_SERVERS]
        raise UsageError(f"no server is named {name!r}", hint=suggest(name, names, f"One of {', '.join(names)}."))
    return server


def _key(server: KnownServer) -> KeyState:
    """Return the state of a server's key as text."""
    if not server.key_variable:
        return KeyState(True, f"needs {server.needs}" if server.needs else "needs no key")
    where = origin(server.key_variable)
    if not where:
        return KeyState(False, f"{server.key_variable} is not set")
    return KeyState(True, f"{server.key_variable} is set" + (" in .env" if where == ".env" else ""))


def _list_servers(output: Output, answering: Mapping[str, bool]) -> int:
    if output.machine:
        output.data(SERVERS, {"servers": [_as_json(server, answering) for server in KNOWN_SERVERS]})
        return Exit.OK
    rows = [
        (server.name, server.title, _state(server, answering), server.address or "its own") for server in KNOWN_SERVERS
    ]
    output.rows(("server", "", "key", "address"), rows)
    output.text("`eval-console models add SERVER` lists its models; --look also tries servers on this machine.")
    return Exit.OK


def _as_json(server: KnownServer, answering: Mapping[str, bool]) -> dict[str, object]:
    state = _key(server)
    return {
        "name": server.name,
        "title": server.title,
        "base_url": server.address or None,
        "key_variable": server.key_variable or None,
        "ready": state.ready,
        "key": state.text,
        "needs": server.needs,
        "found": answering.get(server.name),
    }


def _state(server: KnownServer, answering: Mapping[str, bool]) -> str:
    if server.name in answering:
        return "answers" if answering[server.name] else "no answer"
    return _key(server).text


def _list_models(
    args: AddModelArguments, server: KnownServer, draft: ModelConfig, served: "Sequence[ServedModel]"
) -> int:
    output, path = args.output, find_models_file_to_write(args.models)
    models = [_with_id(draft, server, each) for each in served]
    if output.machine:
        rows = [
            {"id": each.model_id, "context": each.context, "price_in": each.price.input, "price_out": each.price.output}
            for each in models
        ]
        output.data(SERVED_MODELS, {"server": server.name, "models": rows, "file": str(path)})
        return Exit.OK
    output.rows(("id", "context", "price per M tokens"), [(each.model_id, *_about(each)) for each in models])
    given = [("--address", args.address), ("--key-env", args.key_env), ("--models", args.models)]
    options = [word for option, value in given if value for word in (option, str(value))]
    command = shlex.join(["eval-console", "models", "add", server.name, *options])
    output.text(f"`{command} --id ID` adds one to {path}.")
    return Exit.OK


def _about(model: ModelConfig) -> tuple[str, str]:
    """Return context length and price as text."""
    price = model.price
    words = "unknown" if price.input is None else f"${price.input:g} in, ${price.output or 0:g} out"
    return f"{model.context:,}" if model.context else "unknown", words


def _served(draft: ModelConfig, *, is_needed: bool) -> "list[ServedModel]":
    """Return the models that the server lists; empty if it has no list."""
    from console.core.provider import provider_of
    from console.llm.servers.model_list import list_models

    if not provider_of(draft.provider).model_list:
        return []
    try:
        return asyncio.run(list_models(draft))
    except Fault as fault:
        if not is_needed:
            return []
        hint = fault.hint or "Check the address, the key and the network."
        raise UsageError(f"{draft.base_url or draft.provider}: {fault.message}", hint=hint) from None


def _add(args: AddModelArguments, server: KnownServer, model: ModelConfig, *, asks: bool) -> int:
    path = find_models_file_to_write(args.models)
    taken = load_models(path if path.exists() else None).models
    model = msgspec.structs.replace(model, name=args.name or _free_name(model.model_id, taken))
    if model.name in taken:
        raise UsageError(f"there is already a model named {model.name!r}", where=path.name, hint="Give another --name.")
    trials: list[Trial] = []
    cost: float | None = 0.0
    question = f"Try it with two short calls, {_trial_price(model)}? [Y/n] "
    if not args.no_try and (not asks or args.output.ask(question) in ("", "y", "Y")):
        model, trials, cost = _try(model)
    if args.mode in ("fc", "prompt"):
        model = msgspec.structs.replace(model, mode=args.mode)
    hidden = None if path.exists() else find_models_file(args.models)
    entry = _append(path, model, "; ".join(filter(None, (server.title, _price_words(model)))))
    if args.output.machine:
        findings = [{"name": trial.name, "good": trial.fault is None, "text": trial.text} for trial in trials]
        fields = {"name": model.name, "file": str(path), "entry": entry, "findings": findings, "cost_usd": cost}
        args.output.data(ADDED_MODEL, fields)
        return Exit.OK
    for trial in trials:
        args.output.text(f"{'✓' if trial.fault is None else '✗'} {trial.name}: {trial.text}")
    if trials:
        args.output.text(
            f"The calls cost {dollars(cost)}." if cost is not None else "The cost of the calls is unknown."
        )
    args.output.text(f"Added to {path}:", "strong")
    if hidden is not None:
        args.output.text(f"In this folder, it is used in place of {hidden}.")
    args.output.text(entry)
    args.output.text(f"Play three cases of a suite: eval-console run -m {model.name} -s SUITE -n 3")
    return Exit.OK


def _try(model: ModelConfig) -> "tuple[ModelConfig, list[Trial], float | None]":
    """Return the model with settings its server accepts, the outcomes, and their cost; native calls decide the mode."""
    from console.config.models import facts
    from console.engine.budget import cost_of
    from console.llm.servers.parameter_trial import try_model

    adapted, trials = asyncio.run(try_model(model))
    if (fault := trials[0].fault) is not None:
        hint = f"{fault.hint} --no-try adds the model without trying it.".strip()
        raise UsageError(f"{model.model_id}: {fault.kind.value}: {fault.message}", hint=hint)
    reply = trials[1].reply
    adapted = msgspec.structs.replace(adapted, mode="fc" if reply is not None and reply.tool_calls else "prompt")
    costs = [cost_of(trial.reply, facts(adapted)) for trial in trials if trial.reply is not None]
    return adapted, trials, None if None in costs else sum(cost for cost in costs if cost is not None)


_TAKEN = "Another process has just added it. Give another --name."


def _append(path: Path, model: ModelConfig, remark: str) -> str:
    """Append a model's table to a models file, which is created if missing; return the table as text."""
    entry = f"# {remark}\n{entry_of(model)}"

    def appended(before: bytes | None) -> bytes:
        if model.name in load_models(path if before is not None else None).models:
            raise UsageError(f"there is already a model named {model.name!r}", where=path.name, hint=_TAKEN)
        text = _HEAD.encode() if before is None else before
        gap = b"\n" if text.endswith(b"\n") or not text else b"\n\n"
        return b"%b%b%b\n" % (text, gap, entry.encode())

    change_file(path, appended, hint="Choose another file with --models.")
    return entry


def _free_name(id: str, taken: Mapping[str, object]) -> str:
    """Return the last part of an id as a name, with a number appended if the name is taken."""
    base = re.sub(r"[^\w.:-]+", "-", id.rsplit("/", 1)[-1]).strip("-") or "model"
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _price_words(model: ModelConfig) -> str:
    if model.price.input is None:
        return "price unknown: add price = { in = …, out = … } in USD per million tokens"
    source = model.price_source or "the server's list"
    return "" if not model.price.input else f"price {'as in' if model.price_source else 'from'} {source}"


def _trial_price(model: ModelConfig) -> str:
    if model.price.input is None:
        return "price unknown"
    return f"about {dollars(_TRIAL_TOKENS * (model.price.input + (model.price.output or 0.0)) / 1e6)}"


# Asking on a terminal ------------------------------------------------------------------------------------------------


def _choose_server(output: Output, answering: dict[str, bool]) -> str:
    while True:
        for number, server in enumerate(KNOWN_SERVERS, 1):
            output.text(f"{number:>3}  {server.title:<20} {_state(server, answering)}")
        answer = output.ask("number or part of a name, or `look` for servers on this machine: ").lower()
        if answer == "look":
            answering |= asyncio.run(find_local_servers())
        elif answer.isdecimal() and 0 < int(answer) <= len(KNOWN_SERVERS):
            return KNOWN_SERVERS[int(answer) - 1].name
        elif answer:
            named = [each.name for each in KNOWN_SERVERS if answer in (each.name, each.title.lower())]
            named = named or [each.name for each in KNOWN_SERVERS if answer in f"{each.name} {each.title}".lower()]
            if len(named) == 1:
                return named[0]
            output.text(f"{', '.join(named) or 'no server'} matches {answer!r}")


def _choose_model(output: Output, served: "Sequence[ServedModel]") -> str:
    if not served:
        return output.ask("the server lists no models; id of the model: ")
    return _narrow(output, [each.id for each in served], lambda: output.ask("part of a name, or a number: "))


def _narrow(output: Output, ids: Sequence[str], ask: Callable[[], str]) -> str:
    """Ask for parts of a name until one id remains or is chosen by its number."""
    shown = list(ids)
    while True:
        for number, id in enumerate(shown[:_SHOWN], 1):
            output.text(f"{number:>3}  {id}")
        if len(shown) > _SHOWN:
            output.text(f"     and {len(shown) - _SHOWN} more")
        answer = ask()
        if answer.isdecimal() and 0 < int(answer) <= len(shown):
            return shown[int(answer) - 1]
        matching = [id for id in ids if all(word in id.lower() for word in answer.lower().split())]
        if answer in ids or len(matching) == 1:
            return answer if answer in ids else matching[0]
        shown = matching or list(ids)
        if not matching:
            output.text(f"no model matches {answer!r}")
