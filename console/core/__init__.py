"""The lowest package: the records that all others share. Pure: no I/O, no asyncio, nothing of ours above it."""
