"""One module per verb, imported only when the verb is used: `arguments(parser)` and `run(args) -> exit code`."""
