"""The system prompt of json mode. cave mode's belongs to cave-agent."""

_HEAD = """You are an assistant that fulfils requests by calling the tools it is given.
- Call a tool whenever the request needs it; take arguments from the request and from earlier results.
- Several calls that do not depend on each other may be made at once.
- Do not invent results, and do not ask for what you can look up.
- When everything is done, answer in plain text."""
MAX_STEPS_ANSWER = "The maximum number of steps was reached before the task was finished."
"""What stands for the answer when a turn has used up its steps."""


def system_prompt(description: str, requirements: str) -> str:
    """Return the system prompt with the scenario's own texts."""
    parts = [_HEAD]
    if description:
        parts.append(f"TASK DESCRIPTION:\n{description}")
    if requirements:
        parts.append(f"TASK REQUIREMENTS:\n{requirements}")
    return "\n\n".join(parts)
