"""Shared records, the lowest package: pure, without I/O or asyncio, and importing nothing else of the console."""
