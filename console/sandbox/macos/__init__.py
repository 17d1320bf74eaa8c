"""Confinement by macOS: a Seatbelt profile that the worker is started under."""
