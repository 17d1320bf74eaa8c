"""The first models.toml of somebody who has none: every line explained, nothing in it asked until it is filled in."""

from pathlib import Path

EXAMPLE = """\
# The models that eval-console can ask, one table each; the name in brackets is what you see everywhere.
# Keys stay in the environment: api_key_env names the variable. Prices are USD per million tokens.
# The simulated models (sim/careful, sim/hasty, …) are always there and need no line here.

# [gpt]
# model_id = "gpt-4o-mini"
# api_key_env = "OPENAI_API_KEY"
# price = { in = 0.15, out = 0.60 }

# [local]
# model_id = "the-name-your-server-uses"
# base_url = "http://localhost:8000/v1"
"""


def write_example(path: Path) -> None:
    """Write the example unless there is a file of that name.

    Raises:
        OSError: the folder cannot be written.
    """
    if not path.exists():
        path.write_text(EXAMPLE, encoding="utf-8")
