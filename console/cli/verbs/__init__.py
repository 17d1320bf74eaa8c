"""One module a verb, imported only when that verb is used: `arguments(parser)` and `run(args) -> exit code`."""
