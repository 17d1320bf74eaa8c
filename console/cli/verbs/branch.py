"""Replay one case as a run of its own: with the same model or another, the same prompt or an edited one.

The new run is linked to the old one and never enters its score; `eval-console compare` shows both side by side.
"""

import argparse
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.foreground import play
from console.cli.history import read_history, report_of
from console.cli.parser import Arguments, read_input
from console.cli.run_report import show_report
from console.cli.verbs.tag import add_rollout, find_rollout
from console.core.case import PromptEdit
from console.engine.branch import branch_plan
from console.engine.launch import start
from console.exchange.json_kind import JsonKind
from console.insight.prompt_edit import as_text, from_text, opening_of

PROMPT = JsonKind(
    "prompt",
    "branch --show-prompt",
    "The opening of a case, for editing.",
    {"text": "the opening, in the format of --prompt"},
)


class BranchArguments(Arguments):
    """Options of `branch`."""

    which: str
    model: str
    prompt: Path | None
    show_prompt: bool
    rollout: int


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("which", metavar="RUN#CASE", help="a case of a run; `latest#CASE` for the newest run")
    parser.add_argument("-m", "--model", metavar="NAME", default="", help="another model of models.toml")
    parser.add_argument("--prompt", type=Path, metavar="FILE", help="file with the edited opening; `-` for stdin")
    parser.add_argument("--show-prompt", action="store_true", help="write the opening for editing; make no calls")
    add_rollout(parser)


def run(args: BranchArguments) -> int:
    """Play the branch and show both outcomes.

    Raises:
        UsageError: no such run, case or model, or an unreadable prompt.
    """
    reader, rollout = find_rollout(args, args.which, args.rollout)
    conversation = reader.conversation(rollout.key)
    if args.show_prompt:
        text = as_text(opening_of(conversation))
        if args.json:
            args.output.data(PROMPT, {"text": text})
        else:
            args.output.file(text)
        return Exit.OK
    edit = None
    if args.prompt is not None:
        before = opening_of(conversation)
        edit = PromptEdit(tuple(before), tuple(from_text(read_input(args.prompt), before)))
    plan = branch_plan(
        reader.folder.name,
        reader.manifest,
        (rollout.key.case,),
        model=args.model,
        edit=edit,
        models_path=args.models,
        data_path=args.data,
        runs_path=reader.folder.path.parent,
    )
    folder, prepared = start(plan)
    folder = play(folder, prepared, args.output).folder
    history = read_history(folder)
    show_report(args.output, history, report_of(history, args.data))
    args.output.info(f"compare: eval-console compare {reader.folder.name} {folder.name}")
    return Exit.OK
