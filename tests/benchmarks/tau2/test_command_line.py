"""A dual conversation at the command line: both sides' calls in one talk, and the wrong call that decided it."""

import json
from pathlib import Path

import pytest
from support.tau2_edition import write_edition

from console.cli.exitcode import Exit
from console.core.record import Asked
from console.store.journal import JournalReader

PLANTED = '── call update_reservation_baggages ──\n{"reservation_id": "AB12CD", "total_baggages": 3, ' + (
    '"nonfree_baggages": 0, "payment_id": "credit_card_1"}\n'
)


def write_suite(home: Path) -> None:
    write_edition(home / "data" / "tau2" / "1.0.1")
    (home / "data" / "tau2" / "suite.toml").write_text('name = "tau2"\nformat = "tau2"\ntitle = "τ²"\n')


def test_calls_of_the_user_are_shown_with_their_results(console, home: Path) -> None:
    write_suite(home)
    run = console("run", "--data", "data", "-s", "tau2/telecom", "-m", "sim/careful", "--user", "sim/user", "--yes")
    assert run.code == Exit.OK, run.err
    shown = console("show", "latest#telecom_data", "--data", "data").out
    _, result = shown.split("call toggle_data (user)")
    assert "result toggle_data (user)\n  Mobile Data is now ON." in result


@pytest.mark.slow
def test_a_planted_wrong_call_is_found(console, home: Path) -> None:
    write_suite(home)
    options = ("--data", "data", "-s", "tau2/airline", "-m", "sim/careful", "--user", "sim/user")
    run = console("run", *options, "--yes", "--quiet", "--json").data
    case = "airline_0"
    records = JournalReader(Path(run["folder"]) / "journal.jsonl").iter_all()
    asked = [it for it in records if isinstance(it, Asked) and it.role == "model" and it.key.case == case]
    right = next(it for it in asked if [call.name for call in it.reply.tool_calls] == ["cancel_reservation"])
    at = f"{right.turn + 1}.{right.step + 1}"
    (home / "wrong.txt").write_text(PLANTED)
    spoilt = console("branch", f"{run['run']}#{case}", "--at", at, "--reply", "wrong.txt", "--data", "data", "--json")
    assert (spoilt.data["passed"], spoilt.data["graded"]) == (0, 1), "what is planted decides"
    found = console("branch", f"{spoilt.data['run']}#{case}", "--decide", "-r", "12", "--data", "data", "--json")
    assert found.code == Exit.OK, found.err
    decided = json.loads(found.out.splitlines()[-1])
    assert decided["step"] == at, decided
    assert "update_reservation_baggages" in decided["sentence"]
