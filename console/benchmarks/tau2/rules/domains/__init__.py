"""The worlds of the domains: data, tools, and functions of the tasks. Pure."""
