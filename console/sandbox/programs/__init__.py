"""Programs a worker can host that belong to no suite."""
