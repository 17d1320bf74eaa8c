"""Makes every interpreter that starts with this folder on its path one of `support.mac_machine`."""

import importlib.util
from pathlib import Path

_spec = importlib.util.spec_from_file_location("mac_machine", Path(__file__).resolve().parents[1] / "mac_machine.py")
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
_module.become()
