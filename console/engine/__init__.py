"""The engine: plan, schedule, stage, journal, publish. One process per run; it survives the terminal."""
