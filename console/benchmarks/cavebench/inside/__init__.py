"""What runs in the worker: the scenario's own Python, its tools and validators, and in cave mode the agent."""
