"""Code that runs in the worker: the scenario's Python, its tools and validators, and in cave mode the agent."""
