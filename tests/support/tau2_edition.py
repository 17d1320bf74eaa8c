"""A small edition of τ²-bench of our own: an airline and a telephone company."""

import json
from pathlib import Path
from typing import Any

CANCEL = {"name": "cancel_reservation", "arguments": {"reservation_id": "AB12CD"}}
BAGS = {"reservation_id": "AB12CD", "total_baggages": 2, "nonfree_baggages": 0, "payment_id": "credit_card_1"}


def task(name: str, actions: list[dict[str, Any]], **criteria: Any) -> dict[str, Any]:
    wants = {
        "domain": "airline",
        "reason_for_call": "A change.",
        "task_instructions": ".",
        "known_info": "You are Ann.",
    }
    return {
        "id": name,
        "user_scenario": {"instructions": wants},
        "evaluation_criteria": {"actions": actions, "communicate_info": [], **criteria},
    }


def write_edition(root: Path) -> None:
    airline, telecom = root / "domains" / "airline", root / "domains" / "telecom"
    for folder in (airline, telecom, root / "user_simulator"):
        folder.mkdir(parents=True)
    name, address = {"first_name": "Ann", "last_name": "Lee"}, {"address1": "1", "city": "X", "country": "US"}
    user = {
        "user_id": "ann_lee_1234",
        "name": name,
        "address": {**address, "state": "TX", "zip": "1"},
        "email": "ann@example.com",
        "dob": "1990-01-01",
        "payment_methods": {
            "credit_card_1": {"source": "credit_card", "id": "credit_card_1", "brand": "visa", "last_four": "1111"}
        },
        "saved_passengers": [],
        "membership": "gold",
        "reservations": ["AB12CD"],
    }
    reservation = {
        "reservation_id": "AB12CD",
        "user_id": "ann_lee_1234",
        "origin": "JFK",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [],
        "passengers": [],
        "payment_history": [{"payment_id": "credit_card_1", "amount": 120}],
        "created_at": "2024-05-01T00:00:00",
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
    }
    rows = {"flights": {}, "users": {"ann_lee_1234": user}, "reservations": {"AB12CD": reservation}}
    (airline / "db.json").write_text(json.dumps(rows))
    look = {"name": "get_reservation_details", "arguments": {"reservation_id": "AB12CD"}}
    tasks = [
        task("0", [look, CANCEL]),
        task("1", [{"name": "update_reservation_baggages", "arguments": BAGS}]),
        task("2", [], communicate_info=["1234.5"]),
    ]
    (airline / "tasks.json").write_text(json.dumps(tasks))
    (airline / "split_tasks.json").write_text(json.dumps({"base": ["0", "1", "2"]}))
    (airline / "policy.md").write_text("Help.")
    (telecom / "db.toml").write_text(
        'devices = []\nbills = []\n[[plans]]\nplan_id = "P1"\nname = "Basic"\ndata_limit_gb = 5.0\n'
        "price_per_month = 40.0\ndata_refueling_price_per_gb = 5.0\n"
        '[[customers]]\ncustomer_id = "C1"\nfull_name = "Ann Lee"\ndate_of_birth = "1990-01-01"\n'
        'email = "a@example.com"\nphone_number = "555"\n'
        'address = {street = "1", city = "X", state = "Y", zip_code = ""}\n'
        'line_ids = ["L1"]\ncreated_at = "2025-01-01T00:00:00"\n'
        '[[lines]]\nline_id = "L1"\nphone_number = "555"\nstatus = "Active"\nplan_id = "P1"\n'
    )
    (telecom / "user_db.toml").write_text("[device]\n")
    steps = [
        {"name": "toggle_data", "arguments": {}, "requestor": "user"},
        {"name": "enable_roaming", "arguments": {"customer_id": "C1", "line_id": "L1"}, "requestor": "assistant"},
    ]
    works = {"env_type": "user", "func_name": "assert_mobile_data_status", "arguments": {"expected_status": True}}
    phone = task("data", steps, env_assertions=[works], reward_basis=["ENV_ASSERTION", "ACTION"])
    begins = [("set_user_info", {"name": "Ann", "phone_number": "555"}), ("turn_data_off", {})]
    actions = [{"env_type": "user", "func_name": name, "arguments": given} for name, given in begins]
    phone["initial_state"] = {"initialization_actions": actions}
    (telecom / "tasks.json").write_text(json.dumps([phone]))
    (telecom / "split_tasks.json").write_text(json.dumps({"base": ["data"]}))
    for text in ("main_policy", "tech_support_manual"):
        (telecom / f"{text}.md").write_text("Help.")
    for text in ("", "_tools"):
        (root / "user_simulator" / f"simulation_guidelines{text}.md").write_text("You are a user.\n")
    (root / "sources").mkdir()
    (root / "sources" / "llm_agent.py").write_text('AGENT_INSTRUCTION = "Serve."\n')
